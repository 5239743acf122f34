package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
)

// predictFlags are the flags of `trainer predict`.
type predictFlags struct {
	cli.MappingFlags
	model, set  string
	threshold   cli.ThresholdFlags
	passthrough []string
	spread      bool
}

func newPredict() *cobra.Command {
	var f predictFlags
	c := &cobra.Command{
		Use:   "predict",
		Short: "Predict from the rows of a file, without a broker",
		Long: `predict applies a model, as trainer fit --data writes it, to the rows of a file with the same columns. The
label may be missing. The output has the passthrough and label columns, if the rows have them, the number of the row
in the file, the prediction (a number in the units of the label, or the name of a class) and, for models with the
logistic loss, the probabilities of the classes. Rows with infinite values are skipped and counted.

A model from a topic, as featurizer topics export writes it, works too. Its feature set is then given by
--feature-set.`,
		Example: `  trainer predict --model model.arrow --data new.csv --out predictions.csv
  trainer predict --model model.arrow --data new.csv --cost 1:5 --out predictions.csv
  trainer predict --model model.arrow --data new.parquet --passthrough customer --out predictions.parquet --json
  trainer predict --model models/0-4.arrow --feature-set feature-sets/0-2.arrow --data new.csv --out predictions.arrow`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "file of the model (required)")
	flags.StringVar(&f.set, "feature-set", "", "file of the feature set, if the file of the model does not contain it")
	flags.StringSliceVar(&f.passthrough, "passthrough", nil,
		"comma-separated columns to copy in addition to those of the feature set")
	flags.BoolVar(&f.spread, "spread", false, "add the column spread, about how much another exploration would change the "+
		"prediction: the standard deviation of the predictions of the set's members, for classes of the probability of "+
		"the predicted one")
	f.threshold.Add(c)
	f.Add(c)
	return c
}

func (f *predictFlags) run(c *cobra.Command) error {
	if err := f.Check("model", f.model, f.set); err != nil {
		return err
	}
	decision, err := f.threshold.Decision(c)
	if err != nil {
		return err
	}
	model, set, err := cli.ReadPair(f.model, f.set)
	if err != nil {
		return err
	}
	pair, err := featurize.NewPair(set, model)
	if err != nil {
		return err
	}
	if pair, err = pair.At(decision.Threshold); err != nil {
		return err
	}
	predictor, err := featurize.NewFilePredictor(pair, f.passthrough)
	if err != nil {
		return err
	}
	if f.spread {
		if err := predictor.AddSpread(); err != nil {
			return fmt.Errorf("--spread: %w", err)
		}
	}
	counts, err := f.Map(c, predictor, "predicting from", "model", f.passthrough...)
	if err != nil {
		return err
	}
	done := predictSummary{model.ID, model.FeatureSetID, f.Out, decision.Threshold, counts, f.Notes}
	return cli.Print(c, f.JSON, done, func(w io.Writer, s predictSummary) {
		cli.WriteNotes(w, s.Notes)
		fmt.Fprintf(w, "%d predictions by model %s written to %s (%d rows rejected)\n",
			s.Rows.Predicted, s.Model, s.Out, s.Rows.Rejected)
		if s.Threshold != 0 {
			fmt.Fprintf(w, "predicted is %s where its probability is above %.4g\n", pair.Classes()[1], s.Threshold)
		}
	})
}

// predictSummary is what `trainer predict` prints.
type predictSummary struct {
	Model      string                `json:"model"`
	FeatureSet string                `json:"feature_set"`
	Out        string                `json:"out"`
	Threshold  float64               `json:"threshold,omitempty"` // 0 = the more probable class
	Rows       meter.FeaturizeCounts `json:"rows"`
	Notes      []string              `json:"notes,omitempty"`
}
