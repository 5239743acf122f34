// Command benchtable reads the output of Go benchmarks, several rounds of each, and writes tables
// for a Markdown page with the gain of a second core and the ratio to other programs, round by
// round. benchstat shows measurements on a terminal, but has no such tables.
//
//	benchtable [-only SECTION] [-into PAGE] [FILE...]
//
// With -into, the tables replace the text between "<!-- benchtable: SECTION -->" or "<!--
// benchtable: SECTION REGEXP -->" and "<!-- benchtable: end -->" in a Markdown page. The expression
// selects lines by their full names, package.Name/key=value/procs=1. Sections: benchmarks are our
// own lines, peers are the lines of other programs next to ours.
//
// It reads the files, or its standard input, in the format of
// golang.org/design/14313-benchmark-format. The names of sub-benchmarks are keys and values, such
// as Score/rows=9380/dim=77/procs=1. These keys have a meaning:
//   - procs: the number of processors that the benchmark used.
//   - by: the other program that measured this line; it is shown next to our line with the same other keys.
//
// Repeated lines of one name are rounds, in order; ratios are taken round by round.
//
// internal/tools is a module of its own, so that the programs do not depend on its dependencies.
package main
