// Package demo runs the whole flow once, in one process, on the embedded broker: rows become events, an exploration over
// them a feature set, the events features, the features a model; the model is then measured on test rows beside one on as
// many plain random features. The stages are those of production; what is special here is that the log is finite, so the
// exploration is bounded by its end and one model is made.
package demo
