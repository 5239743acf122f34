// Package compare trains models on the features of several methods, side by side on the same rows.
// It reports the difference of each from plain random features, its certainty, and the time.
//
//	source ─Split per repeat─▶ rows ─▶ Trial per method and M ─Select─▶ feature set ─train─▶ model ─▶ test error
//	                            └────▶ pool of candidates, shared by the methods of a repeat
//
// # A repeat
//
// Repeat r = 0, 1, ... uses the seed Seed + r. It splits the rows (unless the source has its own
// test rows), draws the candidates, and chooses the rows for scoring and for choosing λ. Every
// method of a repeat sees the same rows. Methods that choose among candidates see the same pool,
// described by one [scoring.Candidates]; plain features are its first M. So methods are compared in
// pairs: the difference of two errors of the same repeat has far less noise than the errors
// themselves.
//
// A [Method] makes a feature set of M features. To add one, write a file with an adapter and add a
// line to the registry; a method may use only its [Trial]. Package training trains the model on the
// features, chooses λ on held-out training rows, and refits the model on all training rows. Only
// then are the test rows predicted, once.
// # Times
//
//	preprocess  until the features are known: drawing, scoring, selecting, and for a method that tunes something by
//	            training models, those models. What methods share (the scores of the pool) is computed once and counted
//	            in full for each that uses it.
//	train       featurizing the training rows, the sums of products or the iterations, the λ path, the last fit
//	test        featurizing the test rows and predicting
//
// Reading, encoding and the bandwidth rule are the same for all methods and not included; [Result]
// has them separately. Seconds are wall-clock time: methods run one after another and use all
// processors.
//
// Everything but the seconds depends only on the rows, the options and the seed.
package compare
