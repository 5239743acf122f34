package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
)

// exploreFlags are the flags of `featurizer explore`.
type exploreFlags struct {
	config    cli.ConfigFlags
	files     cli.FileFlags
	settings  cli.SettingFlags
	data, out string
	json      bool
}

func newExplore() *cobra.Command {
	var f exploreFlags
	c := &cobra.Command{
		Use:   "explore",
		Short: "Find a feature set for a file, without a broker",
		Long: `explore runs one exploration over the rows of a file and writes the feature set. With the same settings the
result equals, bit for bit, the result of the stages on a partition with these rows. If the file has more
labelled rows than exploration.sample_rows, about that many are scored; --sample 1 scores all.`,
		Example: `  featurizer explore --data rows.csv --label churned --features 200 --out set.arrow
  featurizer explore --data rows.parquet --label churned --task classification --sample 0.05 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	c.Flags().StringVar(&f.data, "data", "", "file of labelled rows (required)")
	c.Flags().StringVar(&f.out, "out", "",
		"file to write the feature set to (an Arrow IPC stream); empty = only print it")
	f.config.Add(c)
	f.files.Add(c)
	f.settings.AddExploration(c)
	cli.JSONFlag(c, &f.json)
	return c
}

func (f *exploreFlags) run(c *cobra.Command) error {
	if f.data == "" {
		return cli.Usagef("--data is required: the file to explore")
	}
	loaded, err := f.config.Load(nil, f.settings.Overrides())
	if err != nil {
		return err
	}
	if err := cli.CheckOut(f.out, f.data); err != nil {
		return err
	}
	bar := cli.NewProgress(c, f.json)
	defer bar.Done()
	file, err := f.files.Open(f.data, 0, bar)
	if err != nil {
		return err
	}
	defer file.Close()
	found, err := file.Explore(c.Context(), loaded, nil)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := cli.WriteFeatureSet(f.out, found.Set); err != nil {
			return err
		}
	}
	summary := describeSet(found.Set)
	summary.FeatureSet.File = f.out
	many, few := encoder.Notes(found.Tallies)
	cli.Warn(c, many)
	warnings := slices.Concat(many, found.Report.Warnings, few)
	if found.Warning != "" {
		warnings = append(warnings, found.Warning)
	}
	summary.explored(found.Seconds, warnings)
	summary.Telltales = found.Report.Telltales
	return cli.Print(c, f.json, summary, func(w io.Writer, s setSummary) { f.print(w, found.Set, s) })
}

func (f *exploreFlags) print(w io.Writer, set *wire.FeatureSet, summary setSummary) {
	more := "add --out set.arrow, then featurizer inspect --file set.arrow"
	if f.out != "" {
		more = "featurizer inspect --file " + f.out
	}
	cli.WriteTelltales(w, summary.Telltales)
	cli.WriteColumns(w, set.Lineage.Columns, more)
	printSet(w, set, summary)
	printLearning(w, set.Lineage.Learning, summary.Importance)
	cli.WriteNotes(w, summary.Warnings)
	if f.out != "" {
		fmt.Fprintf(w, "written to %s; apply it with: featurizer transform --set %s --data FILE --out features.arrow\n",
			f.out, f.out)
	} else {
		fmt.Fprintln(w, "not written; add --out set.arrow to keep it")
	}
}
