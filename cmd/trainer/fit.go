package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/encoder"
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
	var asJSON, paper bool
	var settings cli.SettingFlags
	var file fitFileFlags
	var threshold cli.ThresholdFlags
	c := &cobra.Command{
		Use:   "fit",
		Short: "Train one model: on the features topic, or on a file",
		Long: `fit is one training run, for a CronJob: it reads the features of the current feature set from the start of
the topic to its present end, fits a model, writes it to the models topic and ends. The model replaces the current one
if it beats it on the same held-out rows (train.promote). If it does not, fit reports that and still succeeds.

With --data it needs no broker: it explores the rows of a file for a feature set, or takes the one of --feature-set,
fits the model, and writes it to --out for trainer predict. First it holds rows out (--split, --held-out): the
exploration does not read them; lambda is chosen and errors are measured on them, with weights that were fitted
without them. Only then are the weights fitted to all rows. With --feature-set, no error is reported if the held-out
rows taught the set. The flags of the exploration and of the file format only work with --data.

For two classes it prints the precision, recall and cost of thresholds on the held-out rows. --threshold or --cost add
one; the model stays the same.`,
		Example: `  trainer fit -c eerf.yaml --json
  trainer fit --data rows.csv --label churned --features 200 --out model.arrow
  trainer fit --data rows.csv --label churned --cost 1:5 --out model.arrow
  trainer fit --data rows.csv --feature-set set.arrow --out model.arrow`,
		Args: cobra.NoArgs,
	}
	flags.Add(c)
	cli.TimeoutFlag(c, &timeout, 10*time.Minute,
		"give up after this time, even while waiting for a feature set; with --data the default is no timeout")
	cli.JSONFlag(c, &asJSON)
	cli.PaperFlag(c, &paper)
	settings.AddTrain(c)
	threshold.Add(c)
	file.add(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := file.check(c); err != nil {
			return err
		}
		overrides := settings.Overrides()
		maps.Copy(overrides, file.exploration.Overrides())
		decision, err := threshold.Decision(c)
		if err != nil {
			return err
		}
		loaded, err := flags.Load(nil, overrides)
		if err != nil {
			return err
		}
		if decision.Threshold == 0 {
			decision.Threshold = loaded.Stages.Predict.Threshold
		}
		if file.data != "" {
			if !c.Flags().Changed("timeout") {
				timeout = 0 // the default is for waiting
			}
			return cli.WithTimeout(c.Context(), timeout, func(ctx context.Context) error {
				return file.run(ctx, c, loaded, output{asJSON, paper, decision, threshold.Args(c)})
			})
		}
		if err := loaded.Stages.CheckStages([]meter.Stage{meter.StageTrain}); err != nil {
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
		model.Metrics.AddDecision(decision.Threshold)
		err = cli.Print(c, asJSON, summarize(model, runtime.Env.Meter.Totals()), func(w io.Writer, s modelSummary) {
			printModel(w, model.Model, paper)
			cli.WriteDecisions(w, &model.Metrics.Measures, decision)
			printUnused(w, model, &s)
		})
		return errors.Join(err, decision.Check(model.Label, model.Model.Model.Loss))
	}
	return c
}

// output is how fit describes a model.
type output struct {
	asJSON, paper bool
	decision      cli.Decision
	flags         string // that set the decision
}

// fitOnce follows the control topics just long enough to fit one model.
func fitOnce(ctx context.Context, r *stages.Process) (model *train.Fitted, err error) {
	if err := cli.LookUp(ctx, r, r.Settings.Topics.Features, r.Settings.Topics.Models); err != nil {
		return nil, err
	}
	err = cli.ReadState(ctx, r, func(ctx context.Context, r *stages.Process, _ state.Snapshot) (err error) {
		model, err = r.Trainer().Fit(ctx)
		return err
	}, state.TopicExplorations, state.TopicFeatureSets)
	return model, err
}

// modelSummary describes a model for machines.
type modelSummary struct {
	Model     modelFacts        `json:"model"`
	Judgement *wire.Judgement   `json:"judgement,omitempty"`
	Current   bool              `json:"current"`   // the model is current
	Unchanged bool              `json:"unchanged"` // it already was current
	Rows      meter.TrainCounts `json:"rows"`
	// UnseenClasses are the most frequent classes that the feature set does not know.
	UnseenClasses []encoder.ClassRows     `json:"unseen_classes,omitempty"`
	Seconds       map[meter.Stage]float64 `json:"seconds"`
}

// modelFacts describes the model alone.
type modelFacts struct {
	ID         string       `json:"id"`
	FeatureSet string       `json:"feature_set"`
	Loss       string       `json:"loss"`
	Lambda     float64      `json:"lambda"`
	Metrics    wire.Metrics `json:"metrics"`
	TrainRows  int64        `json:"train_rows"`
	HeldOut    int64        `json:"held_out_rows"`
	Split      *wire.Split  `json:"split,omitempty"`  // of a file
	Window     string       `json:"window,omitempty"` // absent = all of the topic
	Ranges     []wire.Range `json:"ranges"`
}

func factsOf(m *wire.Model) modelFacts {
	return modelFacts{
		ID:         m.ID,
		FeatureSet: m.FeatureSetID,
		Loss:       m.Model.Loss,
		Lambda:     m.Model.Lambda,
		Metrics:    m.Metrics,
		TrainRows:  m.TrainRows,
		HeldOut:    m.HeldOutRows,
		Split:      m.Split,
		Window:     m.Window,
		Ranges:     m.Ranges,
	}
}

func summarize(f *train.Fitted, totals meter.Totals) modelSummary {
	return modelSummary{
		Model:         factsOf(f.Model),
		Judgement:     f.Judgement,
		Current:       f.Current,
		Unchanged:     f.Unchanged,
		UnseenClasses: f.UnseenClasses,
		Rows:          totals.Train,
		Seconds:       totals.Seconds,
	}
}

// printUnused prints how many rows training did not use, and why.
func printUnused(w io.Writer, model *train.Fitted, s *modelSummary) {
	if n := s.Rows.Unlabelled; n > 0 {
		fmt.Fprintf(w, "not used: %d rows without a label\n", n)
	}
	for _, note := range unseenNotes(s.Rows.UnseenClass, s.UnseenClasses, model.Label.Classes, heldOutWrong) {
		fmt.Fprintln(w, "note:", note)
	}
	if n := s.Rows.Rejected; n > 0 {
		fmt.Fprintf(w, "not used: %d rows with a label or features too large for sums\n", n)
	}
	if n := s.Rows.Rows - model.TrainRows; n > 0 {
		fmt.Fprintf(w, "not used: %d labelled rows, held out but older than the rows that judge, "+
			"or beyond train.window or train.row_memory\n", n)
	}
	if s.Unchanged {
		fmt.Fprintln(w, "this model is already the current one: no labelled rows have arrived since")
	}
}

func printModel(w io.Writer, m *wire.Model, paper bool) {
	t := cli.NewFacts(w)
	t.Add("model", "%s", m.ID)
	t.Add("feature set", "%s", m.FeatureSetID)
	t.Add("rows", "%d, including %d held out", m.TrainRows, m.HeldOutRows)
	if m.Window != "" {
		t.Add("  window", "the newest %s rows of the topic", m.Window)
	}
	if h := m.Metrics.HalfLife; h > 0 {
		t.Add("  forgetting", "a row counts half after %.0f newer rows", h)
	}
	if share := m.Metrics.RowShare; share > 0 {
		bound := "fits into train.row_memory"
		if slices.Contains(m.Metrics.Economies, wire.FewerRows) {
			bound = "train.learning_time allows"
		}
		t.Add("  chosen by hash", "%.3g %% of all, the share that %s", 100*share, bound)
	}
	if m.Label != nil && m.Label.Transform != "" {
		t.Add("label", "the model learns its %s; predictions are medians in units of the label", m.Label.Transform)
	}
	t.Add("loss", "%s", m.Model.Loss)
	switch seen := m.Metrics.Seen; {
	case seen != nil && m.Split != nil: // reported in the notes
	case seen != nil && m.Metrics.MeasuredRows == 0:
		t.Add("errors", "unknown until more rows arrive: about %.3g %% of the held-out rows taught the features",
			100*seen.Share)
	case seen != nil:
		t.Add("  seen by the exploration",
			"about %.3g %% of the held-out rows taught the features: errors may be too low", 100*seen.Share)
	case len(m.NotHeldOut) > 0:
		t.Add("  held-out rows", "from events that did not teach the feature set")
	}
	t.Add("λ", "%.4g (%s)", m.Model.Lambda, m.Metrics.LambdaRule)
	addErrors(t, m, paper)
	if d := m.Metrics.Descent; d != nil && !d.Converged {
		t.Add("not converged", "after %d iterations the gradient was %.2g of the constant model's",
			d.Iterations, d.RelativeGradient)
	}
	if cut := m.Metrics.Economies; len(cut) > 0 {
		t.Add("shortened", "to train.learning_time: fewer %s", strings.ReplaceAll(strings.Join(cut, ", "), "_", "-"))
	}
	addJudgement(t, m.Judgement)
	t.Render()
}

// addErrors adds the errors of a model and the rows on which they were measured.
func addErrors(t cli.Facts, m *wire.Model, paper bool) {
	switch n := m.Metrics.MeasuredRows; {
	case n > 0 && m.Split != nil:
		t.Add("errors on", "%d held-out rows that taught nothing: %v", n, m.Split)
	case n > 0:
		t.Add("errors on", "%d held-out rows", n)
	}
	cli.AddMeasures(t, &m.Metrics.Measures, paper)
}
