package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/state"
)

// exportFlags are the flags of `trainer export`.
type exportFlags struct {
	topics         cli.TopicFlags
	onnx           cli.ONNXFlags
	threshold      cli.ThresholdFlags
	model, set, id string
}

func newExport() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export",
		Short: "Write a model with its feature set as an ONNX graph: columns in, predictions out",
		Long: `export writes a model and its feature set as one ONNX graph for any ONNX runtime. Its inputs are the columns
of the events, by name. Its outputs are the features and the predictions: a number in the units of the label, or the
name of a class and, for models with the logistic loss, the probabilities. It prints the inputs, their types, and the
value that stands for a missing one in each. The model comes from a file, as trainer fit --data writes it, or from the
topic.`,
		Example: `  trainer export --model model.arrow --onnx model.onnx
  trainer export --model models/0-4.arrow --feature-set feature-sets/0-2.arrow --onnx model.onnx
  trainer export -c eerf.yaml --onnx model.onnx
  trainer export -c eerf.yaml --id m-0123456789ab --onnx model.onnx --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.topics.Add(c, 30*time.Second)
	f.onnx.Add(c)
	f.threshold.Add(c)
	flags := c.Flags()
	flags.StringVar(&f.model, "model", "", "file of the model; empty = read the topic")
	flags.StringVar(&f.set, "feature-set", "", "file of the feature set, if the file of the model does not contain it")
	flags.StringVar(&f.id, "id", "", "id of the model on the topic, or a unique prefix; empty = the current one")
	return c
}

func (f *exportFlags) run(c *cobra.Command) error {
	switch {
	case f.model != "" && f.id != "":
		return cli.Usagef("--id names a model on the topic, --model one in a file: give only one of the two")
	case f.model == "" && f.set != "":
		return cli.Usagef("--feature-set needs --model, the file of the model")
	}
	if err := f.onnx.Check(); err != nil {
		return err
	}
	decision, err := f.threshold.Decision(c)
	if err != nil {
		return err
	}
	model, set, err := f.find(c)
	if err != nil {
		return err
	}
	return f.onnx.Write(c, set, model, decision.Threshold, f.topics.JSON)
}

// find reads the model and its feature set.
func (f *exportFlags) find(c *cobra.Command) (model *wire.Model, set *wire.FeatureSet, err error) {
	if f.model != "" {
		return cli.ReadPair(f.model, f.set)
	}
	var args []string
	if f.id != "" {
		args = []string{f.id}
	}
	err = f.topics.WithState(c, func(ctx context.Context, r *stages.Process, now state.Snapshot) (err error) {
		model, err = findModel(ctx, r, now.Models, args)
		if err != nil {
			return err
		}
		published, ok := now.Sets[model.FeatureSetID]
		if !ok {
			return fmt.Errorf("feature set %s of model %s is no longer on topic %s",
				model.FeatureSetID, model.ID, r.Settings.Topics.FeatureSets)
		}
		set, err = r.Env.State.LoadSet(ctx, published)
		return err
	}, state.TopicFeatureSets, state.TopicModels)
	return model, set, err
}
