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

func newModels() *cobra.Command {
	c := &cobra.Command{
		Use:   "models",
		Short: "List and show the models of a pipeline, roll back to one, and unpin",
		Long: `models looks at the models topic, and changes which model is in use. Every model that was trained is there with
how it stood against the one that was in use then, as far as topics.keep_models and topics.features_retention keep it.
Each command takes --json.`,
		Example: `  trainer models list -c eerf.yaml
  trainer models rollback -c eerf.yaml --reason "too many false alarms"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newModelsList(), newModelsShow(), newModelsRollback(), newModelsUnpin())
	return c
}

// modelFlags are the flags of the commands that look at models.
type modelFlags struct {
	config  cli.ConfigFlags
	timeout time.Duration
	json    bool
}

func (f *modelFlags) add(c *cobra.Command) {
	f.config.Add(c)
	cli.TimeoutFlag(c, &f.timeout, 30*time.Second, "give up after this long")
	cli.JSONFlag(c, &f.json)
}

// with connects, reads the present models and calls do, all within the timeout. It follows the models until do returns.
func (f *modelFlags) with(c *cobra.Command, do func(context.Context, *stages.Process, state.Models) error) error {
	loaded, err := f.config.Load(nil, nil)
	if err != nil {
		return err
	}
	runtime, closeAll, err := cli.ConnectOnce(c, loaded)
	if err != nil {
		return err
	}
	defer closeAll()
	return cli.WithTimeout(c.Context(), f.timeout, func(ctx context.Context) error {
		if err := cli.LookUp(ctx, runtime, runtime.Settings.Topics.Models); err != nil {
			return err
		}
		return runtime.State.During(ctx, func(ctx context.Context, now state.Snapshot) error {
			return do(ctx, runtime, now.Models)
		}, state.TopicModels)
	})
}

// modelList is the result of `models list`.
type modelList struct {
	Pipeline string        `json:"pipeline"`
	Current  *wire.Current `json:"current,omitempty"`
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
	var f modelFlags
	var promoted bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the models on the topic, the newest first, and how each compared with the one before",
		Example: `  trainer models list -c eerf.yaml
  trainer models list -c eerf.yaml --promoted --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.with(c, func(_ context.Context, r *stages.Process, models state.Models) error {
				list := listModels(r.Settings.SetsOf(), models, promoted)
				if f.json {
					return cli.WriteJSON(c.OutOrStdout(), list)
				}
				printModels(c.OutOrStdout(), list)
				return nil
			})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&promoted, "promoted", false, "only models that were put in use, the usual targets of a rollback")
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
			ID: m.ID, FeatureSet: m.FeatureSetID, TrainedAt: m.TrainedAt, Rows: m.TrainRows, Loss: m.Model.Loss, Metrics: m.Metrics,
			Judgement: m.Judgement, Current: list.Current != nil && list.Current.ID == m.ID,
		})
	}
	return list
}

// modelDetails is the result of `models show`.
type modelDetails struct {
	Current     *wire.Current   `json:"current,omitempty"` // if it is the model in use
	ID          string          `json:"id"`
	FeatureSet  string          `json:"feature_set"`
	Sequence    int64           `json:"sequence"`
	Features    int             `json:"features"`
	Outputs     int             `json:"outputs"`
	Loss        string          `json:"loss"`
	Lambda      float64         `json:"lambda"`
	ConfigHash  string          `json:"config_hash"`
	TrainedAt   time.Time       `json:"trained_at"`
	TrainRows   int64           `json:"train_rows"`
	HeldOutRows int64           `json:"held_out_rows"`
	SampleRate  float64         `json:"sample_rate,omitempty"`
	Window      string          `json:"window,omitempty"`
	Metrics     wire.Metrics    `json:"metrics"`
	Judgement   *wire.Judgement `json:"judgement,omitempty"`
	Ranges      []wire.Range    `json:"ranges"`
}

func newModelsShow() *cobra.Command {
	var f modelFlags
	var paper bool
	c := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show a model: its errors, how it was judged, and what it was made from",
		Long: `show prints a model's errors on held-out rows, how it compared with the model in use at the time, and its lineage. Without
an id it shows the model in use. An id may be cut short.`,
		Example: `  trainer models show -c eerf.yaml
  trainer models show m-0123456789ab -c eerf.yaml --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return f.with(c, func(ctx context.Context, r *stages.Process, models state.Models) error {
				model, err := findModel(ctx, r, models, args)
				if err != nil {
					return err
				}
				details := describeModel(model, models.Current)
				if f.json {
					return cli.WriteJSON(c.OutOrStdout(), details)
				}
				printModel(c.OutOrStdout(), model, paper)
				printLineage(c.OutOrStdout(), details)
				return nil
			})
		},
	}
	f.add(c)
	cli.PaperFlag(c, &paper)
	return c
}

// findModel loads the named model, or the one in use.
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
		return nil, fmt.Errorf("%w; `trainer models list` shows those that are there", err)
	}
	return r.State.LoadModel(ctx, entry)
}

func describeModel(m *wire.Model, current *wire.Current) modelDetails {
	d := modelDetails{
		ID: m.ID, FeatureSet: m.FeatureSetID, Sequence: m.Sequence, Features: m.Model.Features, Outputs: m.Model.Outputs, Loss: m.Model.Loss,
		Lambda: m.Model.Lambda, ConfigHash: m.ConfigHash, TrainedAt: m.TrainedAt, TrainRows: m.TrainRows, HeldOutRows: m.HeldOutRows,
		SampleRate: m.SampleRate, Window: m.Window, Metrics: m.Metrics, Judgement: m.Judgement, Ranges: m.Ranges,
	}
	if current != nil && current.ID == m.ID {
		d.Current = current
	}
	return d
}
