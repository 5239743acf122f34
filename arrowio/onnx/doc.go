// Package onnx writes a feature set, with or without a model on it, as one ONNX graph: columns of
// events go in, features and predictions come out, in any program that runs ONNX.
//
// The graph computes the same as the featurizer: the encoder, the feature map, and the model with
// the inverse of the label's transform, or with its classes and their probabilities. It uses the
// standard operator set and, for categories, LabelEncoder of ai.onnx.ml.
//
// # Inputs and outputs
//
// Every input and output has rank 2, [N, width], for any number of rows N.
//
//	column               input                                             missing
//	numeric, bool        double [N, 1]                                     NaN
//	vector               double [N, width]                                 NaN
//	time, clock          int64 [N, 1], microseconds since 1970 or midnight the least int64, numpy's NaT
//	category             string [N, 1]                                     [Options.MissingText]
//
//	output               when
//	features             always: float [N, M]
//	prediction           of a model of a regression: float [N, K]
//	class                of a model of classes: string [N, 1]
//	probabilities        of one with the logistic loss: float [N, classes]
//
// An input has the name of its column, followed by an underscore if an output has that name. A row
// that the featurizer would reject, for an infinity or a number that is too large, has NaN in all
// numeric outputs and an empty class.
//
// # Numbers
//
// x is computed in float64 by the formulas of the encoder and rounded to float32, with the same
// bits, except the sines of cycles. From there to the features the graph computes in float64, and
// rounds the features: they differ from the featurizer's only by the rounding of its float32 sums.
// Predictions are computed from the rounded features in float64, as the featurizer does.
package onnx
