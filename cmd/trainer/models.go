package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/state"
)

func newModels() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "models",
		Short: "List and show the models of a pipeline, roll back to one, and unpin",
		Long: `models reads the models topic and changes the current model. The topic holds every trained model and how it
compared with the model that was current then, as far as topics.keep_models and topics.features_retention keep it.
Each command takes --json.`,
		Example: `  trainer models list -c eerf.yaml
  trainer models rollback -c eerf.yaml --reason "too many false alarms"`,
	}, newModelsList(), newModelsShow(), newModelsRollback(), newModelsUnpin())
}

// modelList is the result of `models list`.
type modelList struct {
	Pipeline string        `json:"pipeline"`
	Current  *wire.Current `json:"current,omitempty"`
	Live     live.Report   `json:"live"` // errors of live predictions
	Models   []modelEntry  `json:"models"`
}

// modelEntry is a model in a list, for machines.
type modelEntry struct {
	ID         string          `json:"id"`
	FeatureSet string          `json:"feature_set"`
	TrainedAt  time.Time       `json:"trained_at"`
	Rows       int64           `json:"rows"`
	Loss       string          `json:"loss"`
	Metrics    wire.Metrics    `json:"metrics"`
	Judgement  *wire.Judgement `json:"judgement,omitempty"`
	Current    bool            `json:"current"`
}

func newModelsList() *cobra.Command {
	var f cli.TopicFlags
	var promoted bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the models on the topic, newest first, and how each compared with the one before",
		Example: `  trainer models list -c eerf.yaml
  trainer models list -c eerf.yaml --promoted --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.WithState(c, func(ctx context.Context, r *stages.Process, now state.Snapshot) error {
				list := listModels(r.Settings.SetsOf(), now.Models, promoted)
				if err := r.Env.Live.Look(ctx); err != nil && ctx.Err() == nil {
					r.Env.Logger.Warn("reading live errors failed; the list shows none", zap.Error(err))
				}
				list.Live = r.Env.Live.Report()
				return cli.Print(c, f.JSON, list, printModels)
			}, state.TopicModels)
		},
	}
	f.Add(c, 30*time.Second)
	c.Flags().BoolVar(&promoted, "promoted", false, "only models that became current, the usual targets of a rollback")
	return c
}

func listModels(pipeline string, models state.Models, promoted bool) modelList {
	list := modelList{Pipeline: pipeline, Current: models.Current, Models: []modelEntry{}}
	for _, e := range models.Entries() {
		m := e.Model
		if m == nil || promoted && !e.Promoted() {
			continue
		}
		list.Models = append(list.Models, modelEntry{
			ID:         m.ID,
			FeatureSet: m.FeatureSetID,
			TrainedAt:  m.TrainedAt,
			Rows:       m.TrainRows,
			Loss:       m.Model.Loss,
			Metrics:    m.Metrics,
			Judgement:  m.Judgement,
			Current:    list.Current != nil && list.Current.ID == m.ID,
		})
	}
	return list
}

// modelDetails is the result of `models show`.
type modelDetails struct {
	modelFacts
	Current    *wire.Current   `json:"current,omitempty"` // only of the current model
	Sequence   int64           `json:"sequence"`
	Features   int             `json:"features"`
	Outputs    int             `json:"outputs"`
	ConfigHash string          `json:"config_hash"`
	TrainedAt  time.Time       `json:"trained_at"`
	Judgement  *wire.Judgement `json:"judgement,omitempty"`
}

func newModelsShow() *cobra.Command {
	var f cli.TopicFlags
	var paper bool
	c := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show a model: its errors, its judgement and its lineage",
		Long: `show prints the errors of a model on held-out rows, how it compared with the model that was current then, and
its lineage. Without an id it shows the current model. A unique prefix of an id is enough.`,
		Example: `  trainer models show -c eerf.yaml
  trainer models show m-0123456789ab -c eerf.yaml --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return f.WithState(c, func(ctx context.Context, r *stages.Process, now state.Snapshot) error {
				model, err := findModel(ctx, r, now.Models, args)
				if err != nil {
					return err
				}
				described := describeModel(model, now.Models.Current)
				return cli.Print(c, f.JSON, described, func(w io.Writer, details modelDetails) {
					printModel(w, model, paper)
					cli.WriteDecisions(w, &model.Metrics.Measures, cli.EqualCosts(r.Settings.Predict.Threshold))
					printLineage(w, details)
				})
			}, state.TopicModels)
		},
	}
	f.Add(c, 30*time.Second)
	cli.PaperFlag(c, &paper)
	return c
}

// findModel loads the named model, or the current one.
func findModel(ctx context.Context, r *stages.Process, models state.Models, args []string) (*wire.Model, error) {
	var id string
	switch {
	case len(args) > 0:
		id = args[0]
	case models.Current == nil:
		return nil, fmt.Errorf("pipeline %s has no model yet", r.Settings.SetsOf())
	default:
		id = models.Current.ID
	}
	entry, err := models.Find(id)
	if err != nil {
		return nil, fmt.Errorf("%w; `trainer models list` shows the existing models", err)
	}
	return r.Env.State.LoadModel(ctx, entry)
}

func describeModel(m *wire.Model, current *wire.Current) modelDetails {
	d := modelDetails{
		modelFacts: factsOf(m),
		Sequence:   m.Sequence,
		Features:   m.Model.Features,
		Outputs:    m.Model.Outputs,
		ConfigHash: m.ConfigHash,
		TrainedAt:  m.TrainedAt,
		Judgement:  m.Judgement,
	}
	if current != nil && current.ID == m.ID {
		d.Current = current
	}
	return d
}
