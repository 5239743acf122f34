// Command results makes the tables of docs/results.md, and its figures, from what `trainer compare --out` wrote.
//
//	results [-trees FILE,...] [-into PAGE] [-only SECTION] RESULTS.json...
//	results -figure FILE.svg [-trees FILE,...] [-methods LIST] RESULTS.json
//
// The tables are those of the largest M of each file, a column for each data set: errors, differences in pairs, and seconds.
// With -into they replace what stands in a Markdown page between "<!-- results: SECTION -->" and "<!-- results: end -->".
// -trees adds what scripts/trees.py measured on the same splits.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "results:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	trees, methods     string
	into, only, figure string
}

func run(args []string, w io.Writer) error {
	var o options
	flags := flag.NewFlagSet("results", flag.ContinueOnError)
	flags.StringVar(&o.trees, "trees", "", "`files` of scripts/trees.py, with commas")
	flags.StringVar(&o.methods, "methods", "", "the methods of a figure, with commas; empty = all")
	flags.StringVar(&o.into, "into", "", "write the tables into this Markdown `page`")
	flags.StringVar(&o.only, "only", "results", "the `section` of the page")
	flags.StringVar(&o.figure, "figure", "", "draw errors against the time of a row into this SVG `file` instead")
	if err := flags.Parse(args); err != nil {
		return err
	}
	results, err := readResults(flags.Args())
	if err != nil {
		return err
	}
	trees, err := readTrees(split(o.trees))
	if err != nil {
		return err
	}
	if o.figure != "" {
		return draw(o.figure, results, trees, split(o.methods))
	}
	var b strings.Builder
	writeTables(&b, results, trees)
	if o.into == "" {
		_, err := io.WriteString(w, b.String())
		return err
	}
	return replace(o.into, o.only, b.String())
}

// split cuts a list at its commas; that of nothing is empty.
func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
