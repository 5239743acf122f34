// Package datasets provides the rows of public data sets, and of a user's own files, as dense encoded rows split into a
// training and a test part, for comparing methods.
//
// [Lookup] finds a set by name: its files, where they are published, their checksums, how its rows are split, and the
// settings that the paper (Shahrampour, Beirami, Tarokh, "On Data-Dependent Random Features for Improved Generalization
// in Supervised Learning", AAAI 2018) used on it, or ours. [Set.Load] reads the files from a folder, each under its own
// name or gzipped with .gz appended. [Fetch] downloads them there.
//
//	set, err := datasets.Lookup("adult")
//	table, err := set.Load(ctx, dir, nil)     // the rows in memory, as they are in the files
//	split, err := table.Split(datasets.SplitOptions{Seed: 1, Clip: 5})
//	split.Train.X, split.Train.Class, split.Test.X, ...
//
// A [Table] of a user's own rows comes from [ReadTable]. A table may be split many times, with many seeds.
//
// # The encoding
//
// Rows are encoded by arrowio/encoder, like those of events: which columns are features, how numbers are standardized
// and clipped, what a missing value becomes. The encoder is learned from all training rows and only from them, so the
// test rows tell it nothing. Rows that cannot be used (a NaN, no label, a class that no training row has) are left out
// and counted. Rows keep the order of the file within each part.
//
// # The split
//
// If a set is published with test rows, those are its test part ([Defaults].Fixed), and seeds change nothing. If it is
// published with several splits, the seed is the number of one ([Defaults].Splits). Otherwise the rows are shuffled by
// the seed, and the first round(fraction·N) of them are the test part.
//
// A Table belongs to one goroutine; a Split is only read.
package datasets
