// Package encoder turns the columns of an event into the dense row x that feature maps read.
//
// A [Calibrator] sees the calibration records in order and learns an [Encoder]: which columns are
// features, the kind, moments and categories of each, and the meaning of the label. The Encoder is
// plain data, immutable once made, safe to share, and written to the wire as JSON. Encode fills a
// [Rows], the reusable dense form of some rows of one record, which belongs to one goroutine.
//
// # Columns
//
// Columns match by name, extra ones are ignored, and the kind of a column never changes:
//
//	kind      Arrow types                                dimensions
//	numeric   every integer and floating width, decimal  1
//	          and duration (in seconds)
//	bool      bool                                       1
//	category  string, large_string, dictionaries of both one per category, perhaps one for other values,
//	                                                     and the effects on the label
//	vector    fixed_size_list of any numeric width       the list's length
//	time      date, timestamp, strings of ISO 8601       1, and two per cycle
//	clock     time of day, strings of ISO 8601           1, and two for the cycle of the day
//
// Any column but a vector may have one more dimension, for missing values. Widths within a kind may
// change (int32 today, float64 tomorrow), and a column of Arrow's null type stands for nulls of any
// kind. Numbers, booleans and strings may stand for each other if their field is marked as read
// from a text format ([TextField]). Anything else is [ErrSchema].
//
// # Values
//
// A number v becomes (v - mean)/scale in float64, a logarithm beyond ±Clip (times, and all numbers
// of encoders without Tail, are cut there), and is stored as float32. If it is clipped, a value
// farther from the mean than 1.5 times the farthest calibration value on its side counts as that
// bound, so that features are hardly extrapolated. A category is one-hot, a boolean 0 or 1. A time
// is its seconds since 1970 in UTC or since midnight, and for each cycle the elapsed part of its
// period, with sine and cosine. One of three settings says which columns are standardized:
//
//	numeric  numbers, vectors and the seconds of times; all else stays as it is (the default)
//	all      every dimension, the indicator of each category, cycles and missing values included
//	none     nothing, and nothing is clipped
//
// Only standardized dimensions are clipped. A missing number, boolean or time takes its calibration
// mean, and a missing time is in the middle of its cycles. A missing category sets no indicator. An
// unseen category sets the indicator of other values, if the column has one. All are counted. NaN
// counts as missing unless the options say that it rejects its row. Mean and scale are the mean and
// the population standard deviation of the calibration rows, added one by one in row order in
// float64 (Welford), so that the encoder does not depend on how those rows were cut into records. A
// few values that are far from all others are left out if they would make the others equal in
// float32. A constant column has scale 1.
//
// The implementation differs: most numbers are multiplied by a reciprocal, several at a time, with
// the same bits as the division would give (see internal/standardize).
//
// # Outcomes of a row
//
// Every requested row ends in one of two places. It is rejected, and listed in Rows.Rejected, if a
// feature is infinite, NaN without counting as missing, or too large for the maps ([MaxMagnitude]),
// or if its label is NaN, infinite or outside the configured bounds. This holds whether the row is
// to be scored or only featurized, so a bad label keeps a row out of both. Otherwise it is one of
// the N rows of X.
//
// A row is labelled if every label column has a value and, for classes, a known one. A null in a
// label column, an unknown class and a record without the label columns all make a row unlabelled,
// and the label of an unlabelled row is not judged further. Being unlabelled does not reject a row:
// it is in X with Labelled false and zero targets. A row that is both unlabelled and faulty in a
// feature is in Rejected with Labelled false.
//
// For scoring, a row's outcome is the first that applies of unlabelled, rejected, scored. So among
// the requested rows
//
//	unlabelled = Counts.Unlabelled
//	rejected   = the entries of Rejected with Labelled true
//	scored     = the entries of Labelled that are true
//
// and for featurizing rejected = len(Rejected), featurized = N.
package encoder
