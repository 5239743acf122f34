// Command results makes the tables and figures of lab/results.md from what `trainer compare --out` wrote.
//
//	results [-trees FILE,...] [-into PAGE] [-only SECTION] RESULTS.json...
//	results -figure FILE.svg [-trees FILE,...] [-methods LIST] RESULTS.json
//	results -overview FILE.svg PAGE
//
// The tables show the largest M of each file, with a column for each data set: errors, differences in pairs, and
// seconds. With -into they replace what is between "<!-- results: SECTION -->" and "<!-- results: end -->" in a
// Markdown page. -trees adds what scripts/trees.py measured on the same splits. -overview draws the
// tables of the page as one figure.
package main

import (
	"errors"
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
	trees, methods   string
	into, only       string
	figure, overview string
}

func run(args []string, w io.Writer) error {
	var o options
	flags := flag.NewFlagSet("results", flag.ContinueOnError)
	flags.StringVar(&o.trees, "trees", "", "`files` of scripts/trees.py, with commas")
	flags.StringVar(&o.methods, "methods", "", "the methods of a figure, with commas; empty = all")
	flags.StringVar(&o.into, "into", "", "write the tables into this Markdown `page`")
	flags.StringVar(&o.only, "only", "results", "the `section` of the page")
	flags.StringVar(&o.figure, "figure", "", "draw errors against the time of a row into this SVG `file` instead")
	flags.StringVar(&o.overview, "overview", "", "draw the tables of a page into this SVG `file` instead")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.overview != "" {
		if flags.NArg() != 1 {
			return errors.New("-overview is of one page")
		}
		return drawOverview(o.overview, flags.Arg(0))
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

// split splits a list at its commas; an empty text gives an empty list.
func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
