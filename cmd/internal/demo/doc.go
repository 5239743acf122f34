// Package demo runs the whole flow once, in one process, on the embedded broker: rows become
// events, an exploration turns them into a feature set, the events become features, and the
// features a model. The model is then measured on test rows next to a model on the same number of
// plain random features. The stages are those of production. The only difference is that the log is
// finite, so the exploration ends with it and one model is trained.
package demo
