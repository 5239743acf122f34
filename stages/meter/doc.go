// Package meter holds the counts and positions of a process.
//
// A process has one [Meter]. The stages report to it: counts of messages and rows ([Totals]),
// bytes, times, dead letters and the use of budgets ([Activity]), their position in each partition
// ([Position]), and unfinished work. A [Snapshot] holds all of that at one moment, as plain
// numbers. Metrics, the status page and summaries are derived from it alone. The package also
// starts the spans of messages.
//
// To count something new, add an int64 field to the counts of its stage: [Add] and [Sub] handle
// every field.
//
// Memory: snapshots are copies. Concurrency: a Meter and its Positions are safe for concurrent use.
// The package starts no goroutines, but [Meter.FollowEnds] runs until its context ends.
package meter
