// Package calibrate plans explorations: it decides when one starts, chooses the ranges of the log to read, and learns
// encoder and bandwidth from them.
//
// Nouns:
//
//   - a range is the piece of a partition that an exploration reads; it ends at the last stable offset, so that all of
//     it can be read at once ([wire.Partition]);
//   - a scan reads one range once: it counts its labelled rows, collects the classes and keeps a sample of its rows;
//   - a calibration learns encoder and bandwidth from the rows that scans kept, merged in partition order;
//   - a plan is the spec that follows from ranges, scans and calibration ([Plan]); [PlanRows] makes one for the rows of
//     a file;
//   - the [Planner] is the stage: it publishes a plan when one is asked for, due, or needed.
//
// Nothing here waits for rows that have not been written. A log with too few of them gives a [TooFewRowsError], and the
// planner looks again when it has grown.
//
// Up to [Scanners] partitions are scanned at a time, each in its own goroutine. One goroutine then merges what they
// learned, so that a plan is a function of the ranges. A scan copies what it keeps, within a budget that the partitions
// share; a plan owns nothing of the log. The Planner runs in one goroutine.
package calibrate
