// Package compare trains models on the features of several methods, side by side on the same rows, and says by how much
// each is better or worse than plain random features, with what certainty, and in what time.
//
//	source ─Split per repeat─▶ rows ─▶ Trial per method and M ─Select─▶ feature set ─train─▶ model ─▶ test error
//	                            └────▶ pool of candidates, shared by the methods of a repeat
//
// # A repeat
//
// Repeat r = 0, 1, ... works with the seed Seed + r: it splits the rows (unless they come with test rows), draws the
// candidates, chooses the rows that are scored and those that λ is chosen on. Every method of a repeat sees the same
// rows; those that choose among candidates see one pool of them, described by one [scoring.Candidates], and plain
// features are its first M. So methods are compared in pairs: the difference of two errors of the same repeat has far
// less noise than the errors themselves.
//
// A [Method] makes a feature set of M features. Adding one is a file with an adapter and a line in the registry; what it
// may look at is its [Trial]. The model on the features is trained by package training, with λ from held-out training
// rows, and fitted again on all of them; then it meets the test rows, once.
//
// # What is measured as time
//
//	preprocess  until the features are known: drawing, scoring, selecting, and for a method that tunes something by
//	            training models, those models. What methods share (the scores of the pool) is computed once and counted
//	            in full for each that uses it.
//	train       featurizing the training rows, the sums of products or the iterations, the λ path, the last fit
//	test        featurizing the test rows and predicting
//
// Reading, encoding and the bandwidth rule are the same for all and in none of these; [Result] has them beside. Seconds
// are of the wall clock: methods run one after the other and use all processors.
//
// Everything but the seconds is a function of the rows, the options and the seed.
package compare
