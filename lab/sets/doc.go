// Package sets provides public data sets: [Lookup] finds one by name, with its files, where they are published, their
// checksums, how its rows are split, and the settings that the paper (Shahrampour, Beirami, Tarokh, "On Data-Dependent
// Random Features for Improved Generalization in Supervised Learning", AAAI 2018) used on it, or ours. [Set.Load] reads
// the files from a folder, each under its own name or gzipped with .gz appended; [Fetcher] downloads them there.
//
// If a set is published with test rows, those are its test part, and seeds change nothing. If it is published with several
// splits, the seed is the number of one. Otherwise package datasets splits the rows by the seed.
package sets
