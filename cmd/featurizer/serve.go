package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages/featurize"
)

// serveFlags are the flags of `featurizer serve`.
type serveFlags struct {
	config     cli.ConfigFlags
	threshold  cli.ThresholdFlags
	set, model string
	json       bool
}

func newServe() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Answer requests over HTTP with the current feature set and model",
		Long: `serve answers requests for features and predictions at serve.listen: rows of JSON or Arrow at /v1/predict and
/v1/features, tensors of the Open Inference Protocol at /v2/models/<pipeline>/infer. It follows the feature
sets and models of a pipeline and switches between requests; a new feature set waits for its first model. It
reads two topics and writes none. With --feature-set or --model it serves files and needs no broker.

A JSON row with a missing or unknown column, or a value of the wrong kind, is refused with a list of all its
faults. With ?missing=allow or serve.missing, missing values are imputed. Answers name imputed columns and
unseen categories.

With --json it prints its address once it accepts requests.

On the first SIGTERM or interrupt it reports that it is not ready, accepts requests for another
serve.drain_delay, and finishes those in progress.`,
		Example: `  featurizer serve -c eerf.yaml
  featurizer serve --model model.arrow --set serve.listen=:8000
  curl -H 'Content-Type: application/json' -d '{"age": 39, "workclass": "State-gov"}' 'localhost:8000/v1/predict?missing=allow'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			overrides, err := f.threshold.Overrides(c)
			if err != nil {
				return err
			}
			loaded, err := f.config.Load(nil, overrides)
			if err != nil {
				return err
			}
			pair, err := readPair(f.model, f.set, loaded.Stages.Predict.Threshold)
			if err != nil {
				return fmt.Errorf("serve files: %w", err)
			}
			return cli.ServeRows(c, loaded, pair, f.json)
		},
	}
	f.config.Add(c)
	f.threshold.Add(c)
	cli.JSONFlag(c, &f.json)
	c.Flags().StringVar(&f.set, "feature-set", "", "file of a feature set, to serve alone or with --model")
	c.Flags().StringVar(&f.model, "model", "", "file of a model; its feature set is in the same file or in --feature-set")
	return c
}

// readPair returns the feature set and model in the files, with a threshold, or nil without files.
func readPair(modelFile, setFile string, threshold float64) (*featurize.Pair, error) {
	var model *wire.Model
	var set *wire.FeatureSet
	var err error
	switch {
	case modelFile != "":
		model, set, err = cli.ReadPair(modelFile, setFile)
	case setFile != "":
		set, err = cli.ReadFeatureSet(setFile)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	pair, err := featurize.NewPair(set, model)
	if err != nil {
		return nil, err
	}
	return pair.At(threshold)
}
