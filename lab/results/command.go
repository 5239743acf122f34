// Package results generates the tables of lab/results.md and the figure of the README from the
// output of `lab compare --out`.
package results

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Command returns the command that writes the tables.
func Command() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "results [RESULTS.json ...]",
		Short: "Generate tables of errors from the results of comparisons, or a figure of the tables",
		Long: `results writes the errors at the largest M of each file, with a column for each data set. With --into, they
replace the text between "<!-- results: SECTION -->" and "<!-- results: end -->" in a Markdown page. --overview draws
the tables of such a page instead. --frontier writes the errors against the time per row, from results of one M and N0
each. --trees adds results of scripts/trees.py on the same splits.`,
		RunE: func(c *cobra.Command, args []string) error { return o.run(args, c.OutOrStdout()) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&o.trees, "trees", nil, "files of scripts/trees.py")
	flags.StringVar(&o.into, "into", "", "write the tables into this Markdown page")
	flags.StringVar(&o.only, "only", "results", "the section of the page")
	flags.StringVar(&o.measure, "measure", "", "measure of the errors, such as misclassification or log_loss (default: unexplained variance, or the one by which methods were compared)")
	flags.StringVar(&o.overview, "overview", "", "draw the tables of a page into this SVG file instead")
	flags.BoolVar(&o.frontier, "frontier", false, "write errors and times of a row as the tables")
	return c
}

// options are the flags.
type options struct {
	trees                []string
	into, only, overview string
	measure              string
	frontier             bool
}

func (o options) run(args []string, w io.Writer) error {
	if o.overview != "" {
		if len(args) != 1 {
			return errors.New("--overview needs exactly one page")
		}
		return drawOverview(o.overview, args[0])
	}
	if o.frontier {
		return o.writeFrontier(args, w)
	}
	results, err := readResults(args, o.measure)
	if err != nil {
		return err
	}
	trees, err := readTrees(o.trees, o.measure)
	if err != nil {
		return err
	}
	return o.write(w, tables(results, trees))
}

// write writes the tables to the page, or to w.
func (o options) write(w io.Writer, tables string) error {
	if o.into == "" {
		_, err := io.WriteString(w, tables)
		return err
	}
	return replace(o.into, o.only, tables)
}

// writeFrontier writes the tables of the frontier.
func (o options) writeFrontier(args []string, w io.Writer) error {
	all, err := readFrontier(args, o.trees)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("--frontier needs results of learned features")
	}
	var b strings.Builder
	writeFrontier(&b, all)
	return o.write(w, b.String())
}
