// Package meter holds what a process did and where it stands.
//
// A process has one [Meter]. The stages report to it: counts of messages and rows ([Totals]),
// bytes, times, dead letters and the use of budgets ([Activity]), their position in each partition
// ([Position]), and work that they left undone. A [Snapshot] is all of that at one moment, in plain
// numbers. Metrics, the status page and summaries are made from it alone. Spans of messages are
// made here too.
//
// To count something new, add an int64 field to the counts of its stage: [Add] and [Sub] handle
// every field.
//
// Memory: snapshots are copies. Concurrency: a Meter and its Positions are safe for concurrent use.
// Nothing here starts a goroutine, but [Meter.FollowEnds] runs until its context ends.
package meter
