// Package meter holds what a process did and where it stands.
//
// A [Meter] is the one of a process. The stages report to it: counts of messages and rows ([Totals]), bytes, times, dead
// letters and the use of budgets ([Activity]), where they are in each partition ([Position]), and the work that they left
// undone. A [Snapshot] is all of that at a time, in plain numbers: metrics, the status page and summaries are made of it
// alone. Spans of messages are made here, too.
//
// To count something new, add an int64 field to the counts of its stage: [Add] and [Less] know every field.
//
// Memory: snapshots are copies. Concurrency: a Meter and its Positions are safe from several goroutines; nothing here
// starts one, but [Meter.FollowEnds] runs until its context ends.
package meter
