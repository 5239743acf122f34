package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
)

// transformFlags are the flags of `featurizer transform`.
type transformFlags struct {
	files                     cli.FileFlags
	set, data, out, outFormat string
	json                      bool
}

func newTransform() *cobra.Command {
	var f transformFlags
	c := &cobra.Command{
		Use:   "transform",
		Short: "Map the rows of a file to features, without a broker",
		Long: `transform applies a feature set, as featurizer explore writes it, to the rows of a file. The output has the passthrough and
label columns, the row's number in the file, and the feature vector. Rows with NaN or infinite values are left out and
counted.`,
		Example: `  featurizer transform --set set.arrow --data rows.csv --out features.arrow`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	c.Flags().StringVar(&f.set, "set", "", "file of the feature set (required)")
	c.Flags().StringVar(&f.data, "data", "", "file of rows (required)")
	c.Flags().StringVar(&f.out, "out", "", "file to write (required)")
	c.Flags().StringVar(&f.outFormat, "out-format", "", "arrow, parquet or csv; empty = by the file's extension")
	f.files.Add(c)
	cli.JSONFlag(c, &f.json)
	return c
}

func (f *transformFlags) run(c *cobra.Command) error {
	if f.set == "" || f.data == "" || f.out == "" {
		return cli.Usagef("--set, --data and --out are needed")
	}
	if err := cli.CheckOut(f.out, f.set, f.data); err != nil {
		return err
	}
	set, err := cli.ReadFeatureSet(f.set)
	if err != nil {
		return err
	}
	bar := cli.NewProgress(c, f.json)
	defer bar.Done()
	file, err := f.files.OpenFor(f.data, set.Encoder, bar)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := set.Encoder.Check(file.Schema()); err != nil {
		return fmt.Errorf("%s does not go with the feature set: %w", f.data, err)
	}
	counts, notes, err := f.write(c, set, file)
	bar.Done()
	if err != nil {
		return err
	}
	if f.json {
		return cli.WriteJSON(c.OutOrStdout(), struct {
			FeatureSet string                `json:"feature_set"`
			Out        string                `json:"out"`
			Features   int                   `json:"features"`
			Rows       meter.FeaturizeCounts `json:"rows"`
			Notes      []string              `json:"notes,omitempty"`
		}{set.ID(), f.out, set.Set.Features.Len(), counts, notes})
	}
	for _, note := range notes {
		fmt.Fprintln(c.OutOrStdout(), note)
	}
	fmt.Fprintf(c.OutOrStdout(), "%d rows of %d features written to %s (%d rows rejected)\n",
		counts.Featurized, set.Set.Features.Len(), f.out, counts.Rejected)
	return nil
}

// write transforms the rows of a file into the output, which appears only when it is complete.
func (f *transformFlags) write(c *cobra.Command, set *wire.FeatureSet, file *cli.RowFile) (counts meter.FeaturizeCounts, notes []string, err error) {
	mapper, err := featurize.NewFileTransformer(set)
	if err != nil {
		return counts, nil, err
	}
	schema := mapper.Schema(file.Schema())
	err = cli.WriteRows(f.out, f.outFormat, schema, func(out events.RowWriter) (err error) {
		if counts, err = mapper.Map(c.Context(), file.Rows("transforming "+f.data), schema, out); err != nil {
			return fmt.Errorf("transform %s: %w", f.data, err)
		}
		return nil
	})
	return counts, append(file.Notes(), mapper.Notes...), err
}
