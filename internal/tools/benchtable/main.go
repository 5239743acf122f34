package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	err := run(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

// sections are the names of the kinds of tables.
var sections = []string{"benchmarks", "peers"}

// options are the flags.
type options struct {
	only, into string
	files      []string
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("benchtable", flag.ContinueOnError)
	flags.StringVar(&o.only, "only", "", "print only these tables: "+strings.Join(sections, ", "))
	flags.StringVar(&o.into, "into", "", "write the tables into this Markdown `page` instead")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.only != "" && !slices.Contains(sections, o.only) {
		return o, fmt.Errorf("-only %s: want one of %s", o.only, strings.Join(sections, ", "))
	}
	o.files = flags.Args()
	return o, nil
}

// run prints the tables of the files in args.
func run(args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	lines, err := readFiles(o.files)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return errors.New("no benchmark results in the input")
	}
	if o.into != "" {
		return o.fillPage(lines)
	}
	for _, section := range sections {
		if o.asked(section) {
			write(printer{out}, section, lines)
		}
	}
	return nil
}

// asked reports whether a section is requested.
func (o options) asked(section string) bool { return o.only == "" || o.only == section }

// write writes the tables of one section, if the input has lines for it.
func write(p printer, section string, lines []*line) {
	own, peers := divide(lines)
	if section == "peers" {
		p.peers(own, peers)
		return
	}
	p.benchmarks(own)
}
