package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/train"
)

func newFit() *cobra.Command {
	var flags cli.ConfigFlags
	var timeout time.Duration
	var asJSON bool
	var settings cli.SettingFlags
	c := &cobra.Command{
		Use:   "fit",
		Short: "Read the features topic to its present end, make one model, and put it in use if it is better",
		Long: `fit is one retraining run, for a CronJob: it reads the features of the current feature set from the start of
the topic to its present end, fits a model, writes it to the models topic and ends. The model takes the place of
the one in use if it beats that on the same held-out rows (train.promote); if not, fit says so, and succeeds all
the same.`,
		Example: `  trainer fit -c eerf.yaml --json`,
		Args:    cobra.NoArgs,
	}
	flags.Add(c)
	cli.TimeoutFlag(c, &timeout, 10*time.Minute, "give up after this long, also when waiting for a feature set")
	cli.JSONFlag(c, &asJSON)
	settings.AddTrain(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		loaded, err := flags.Load(nil, settings.Overrides())
		if err != nil {
			return err
		}
		if err := loaded.Stages.CheckStages([]string{meter.StageTrain}); err != nil {
			return cli.Usagef("%w", err)
		}
		runtime, closeAll, err := cli.ConnectOnce(c, loaded)
		if err != nil {
			return err
		}
		defer closeAll()
		bar := cli.NewProgress(c, asJSON)
		defer bar.Done()
		bar.Show("training", 0, 0)
		var model *train.Fitted
		err = cli.WithTimeout(c.Context(), timeout, func(ctx context.Context) error {
			model, err = fitOnce(ctx, runtime)
			return err
		})
		bar.Done()
		if err != nil {
			return err
		}
		if asJSON {
			return cli.WriteJSON(c.OutOrStdout(), summarize(model, runtime.Meter.Totals()))
		}
		printModel(c.OutOrStdout(), model.Model)
		if model.Unchanged {
			fmt.Fprintln(c.OutOrStdout(), "the model in use is the same: no other rows came")
		}
		return nil
	}
	return c
}

// fitOnce follows the control topics just long enough to fit one model.
func fitOnce(ctx context.Context, r *stages.Process) (*train.Fitted, error) {
	topics := r.Settings.Topics
	if err := cli.LookUp(ctx, r, topics.Explorations, topics.FeatureSets, topics.Features, topics.Models); err != nil {
		return nil, err
	}
	var model *train.Fitted
	err := r.State.During(ctx, func(ctx context.Context, _ state.Snapshot) (err error) {
		model, err = r.Trainer().Fit(ctx)
		return err
	})
	return model, err
}

// modelSummary describes a model for machines.
type modelSummary struct {
	Model struct {
		ID         string       `json:"id"`
		FeatureSet string       `json:"feature_set"`
		Loss       string       `json:"loss"`
		Lambda     float64      `json:"lambda"`
		Metrics    wire.Metrics `json:"metrics"`
		TrainRows  int64        `json:"train_rows"`
		HeldOut    int64        `json:"held_out_rows"`
		Ranges     []wire.Range `json:"ranges"`
	} `json:"model"`
	Judgement *wire.Judgement    `json:"judgement,omitempty"`
	Current   bool               `json:"current"`   // the model is in use
	Unchanged bool               `json:"unchanged"` // it was before
	Rows      meter.TrainCounts  `json:"rows"`
	Seconds   map[string]float64 `json:"seconds"`
}

func summarize(f *train.Fitted, totals meter.Totals) modelSummary {
	var s modelSummary
	m := f.Model
	s.Judgement, s.Current, s.Unchanged = m.Judgement, f.Current, f.Unchanged
	s.Model.ID, s.Model.FeatureSet, s.Model.Loss, s.Model.Lambda = m.ID, m.FeatureSetID, m.Model.Loss, m.Model.Lambda
	s.Model.Metrics, s.Model.TrainRows, s.Model.HeldOut, s.Model.Ranges = m.Metrics, m.TrainRows, m.HeldOutRows, m.Ranges
	s.Rows, s.Seconds = totals.Train, totals.Seconds
	return s
}

func printModel(w io.Writer, m *wire.Model) {
	t := cli.NewFacts(w)
	t.Add("model", "%s", m.ID)
	t.Add("feature set", "%s", m.FeatureSetID)
	t.Add("rows", "%d, of them %d held out", m.TrainRows, m.HeldOutRows)
	switch seen := m.Metrics.Seen; {
	case seen != nil:
		t.Add("  seen by the exploration", "about %.3g %% of the held-out rows taught it frequencies: errors may be too low", 100*seen.Share)
	case len(m.NotHeldOut) > 0:
		t.Add("  held-out rows", "from events that the feature set was not learned from")
	}
	t.Add("λ", "%.4g (%s)", m.Model.Lambda, m.Metrics.LambdaRule)
	percent := func(name string, v *float64) {
		if v != nil {
			t.Add(name, "%.2f %%", *v)
		}
	}
	percent("misclassification", m.Metrics.Misclassification)
	percent("unexplained variance", m.Metrics.UnexplainedVariance)
	percent("relative squared error", m.Metrics.RelativeSquaredError)
	percent("constant predictor", m.Metrics.ConstantError)
	if v := m.Metrics.LogLoss; v != nil {
		t.Add("log loss", "%.4f", *v)
	}
	if d := m.Metrics.Descent; d != nil && !d.Converged {
		t.Add("not converged", "after %d iterations the gradient was %.2g of that of the constant model", d.Iterations, d.RelativeGradient)
	}
	addJudgement(t, m.Judgement)
	t.Render()
}
