// Command benchtable reads the output of Go benchmarks, several rounds of each, and writes what benchstat does not:
// tables for a Markdown page with the gain of a second core and the ratio to other programs, round by round. On a
// terminal, benchstat shows the measurements.
//
//	benchtable [-only SECTION] [-into PAGE] [FILE...]
//
// With -into the tables replace what is between "<!-- benchtable: SECTION -->" or "<!-- benchtable: SECTION REGEXP -->"
// and "<!-- benchtable: end -->" in a Markdown page. The expression selects lines by their whole names,
// package.Name/key=value/procs=1. Sections: benchmarks are our own lines, peers those of other programs beside ours.
//
// It reads the files, or its standard input, in the format of golang.org/design/14313-benchmark-format. The names of
// sub-benchmarks are keys and values, such as Score/rows=9380/dim=77/procs=1. These keys have a meaning:
//
//   - procs: how many processors the benchmark used.
//   - by: another program measured this line; it is shown beside our line whose other keys are the same.
//
// Repeated lines of one name are rounds, in order; ratios are taken round by round.
//
// internal/tools is a module of its own, so that the programs do not depend on what it needs.
package main
