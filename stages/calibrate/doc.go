// Package calibrate plans explorations: it decides when one starts, chooses the ranges of the log
// to read, and learns encoder and bandwidth from them.
//
// Nouns:
//
//   - a range is the part of a partition that an exploration reads; it ends at the last stable
//     offset, so that all of it is readable immediately ([wire.Partition]);
//   - a scan reads one range once: it counts the labelled rows, collects the classes and keeps a
//     sample of the rows;
//   - a calibration learns encoder and bandwidth from the rows that scans kept, merged in partition
//     order;
//   - a plan is the spec that follows from ranges, scans and calibration ([Plan]); [PlanRows] makes
//     one for the rows of a file;
//   - the [Planner] is the stage: it publishes a plan when one is requested, due, or needed.
//
// Nothing here waits for unwritten rows. A log with too few rows gives a [TooFewRowsError], and the
// planner tries again when the log has grown.
//
// Up to [Scanners] partitions are scanned at a time, each in its own goroutine. One goroutine then
// merges the scans, so that a plan is a function of the ranges. A scan copies the rows it keeps,
// within a budget that the partitions share; a plan holds no memory of the log. The Planner runs in
// one goroutine.
package calibrate
