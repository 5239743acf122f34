// Package datasets holds the rows of a user's own files in memory, splits them into a training and
// a test part by a seed, and encodes both as dense rows, for comparing methods.
//
//	table, err := datasets.ReadTable(ctx, name, options, train, test)
//	split, err := table.Split(datasets.SplitOptions{Seed: 1, Clip: 5})
//	split.Train.X, split.Train.Class, split.Test.X, ...
//
// A table may be split many times, with many seeds.
//
// # The encoding
// Rows are encoded by arrowio/encoder, like those of events: the choice of feature columns, the
// standardization and clip of numbers, the encoding of missing values. The encoder is learned from
// training rows alone, a sample by the rule of an exploration of a file. Unusable rows (a NaN, no
// label, a class that no training row has) are omitted and counted. Rows keep the order of the file
// within each part.
//
// # The split
// A table with test rows of its own has those as its test part for every seed. Otherwise the rows
// are shuffled by the seed, and the first round(fraction·N) of them are the test part. A Table
// belongs to one goroutine; a Split is immutable.
package datasets
