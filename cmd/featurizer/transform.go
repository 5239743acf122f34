package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
)

// transformFlags are the flags of `featurizer transform`.
type transformFlags struct {
	cli.MappingFlags
	set string
}

func newTransform() *cobra.Command {
	var f transformFlags
	c := &cobra.Command{
		Use:   "transform",
		Short: "Map the rows of a file to features, without a broker",
		Long: `transform applies a feature set that featurizer explore wrote to the rows of a file. The output has the
passthrough and label columns, the row's number in the file, and the feature vector. Rows with NaN or infinite
values are left out and counted.`,
		Example: `  featurizer transform --set set.arrow --data rows.csv --out features.arrow`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	c.Flags().StringVar(&f.set, "set", "", "file of the feature set (required)")
	f.Add(c)
	return c
}

// transformSummary is the output of `featurizer transform`.
type transformSummary struct {
	FeatureSet string                `json:"feature_set"`
	Out        string                `json:"out"`
	Features   int                   `json:"features"`
	Rows       meter.FeaturizeCounts `json:"rows"`
	Notes      []string              `json:"notes,omitempty"`
}

func (f *transformFlags) run(c *cobra.Command) error {
	if err := f.Check("set", f.set); err != nil {
		return err
	}
	set, err := cli.ReadFeatureSet(f.set)
	if err != nil {
		return err
	}
	mapper, err := featurize.NewFileTransformer(set)
	if err != nil {
		return err
	}
	counts, err := f.Map(c, mapper, "transforming", "feature set")
	if err != nil {
		return err
	}
	done := transformSummary{set.ID(), f.Out, set.Set.Features.Len(), counts, f.Notes}
	return cli.Print(c, f.JSON, done, func(w io.Writer, s transformSummary) {
		cli.WriteNotes(w, s.Notes)
		fmt.Fprintf(w, "%d rows of %d features written to %s (%d rows rejected)\n",
			s.Rows.Featurized, s.Features, s.Out, s.Rows.Rejected)
	})
}
