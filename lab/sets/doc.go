// Package sets provides public data sets: [Lookup] finds one by name, with its files, their
// locations and checksums, the split of its rows, and the settings that the paper (Shahrampour,
// Beirami, Tarokh, "On Data-Dependent Random Features for Improved Generalization in Supervised
// Learning", AAAI 2018) used for it, or ours. [Set.Load] reads the files from a folder, each under
// its own name or gzipped with .gz appended; [Fetcher] downloads them there. A set that is
// published with test rows uses them as its test part for every seed. For a set that is published
// with several splits, the seed selects one. Otherwise package datasets splits the rows by the
// seed.
package sets
