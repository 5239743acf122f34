package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/state"
)

// rollbackFlags are the flags of `trainer models rollback`.
type rollbackFlags struct {
	cli.TopicFlags
	to, reason  string
	untilBeaten bool
	force       bool
}

func newModelsRollback() *cobra.Command {
	var f rollbackFlags
	c := &cobra.Command{
		Use:   "rollback",
		Short: "Make an earlier model current again, and pin it",
		Long: `rollback makes an earlier model current again: the one before the current model, or the one that --to names.
The model is pinned: training and comparing continue, but no model replaces it until "trainer models unpin". With
--until-beaten a model of the same feature set replaces it as soon as it beats it on the same held-out rows,
regardless of train.promote.rule. The model that you rolled back from is likely to beat it again.

A model of another feature set than the current one expects features that are no longer computed. It is refused
without --force.`,
		Example: `  trainer models rollback -c eerf.yaml --reason "too many false alarms"
  trainer models rollback -c eerf.yaml --to m-0123456789ab --until-beaten`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.WithState(c, func(ctx context.Context, r *stages.Process, now state.Snapshot) error {
				pointer, err := f.rollback(ctx, r, now.Models)
				if err != nil {
					return err
				}
				return cli.Print(c, f.JSON, rolledBack{now.Models.Current, pointer}, printRollback)
			}, state.TopicModels)
		},
	}
	f.Add(c, 30*time.Second)
	c.Flags().StringVar(&f.to, "to", "", "id of the model, or a unique prefix; empty = the one before the current model")
	c.Flags().StringVar(&f.reason, "reason", "", "reason, for the record")
	c.Flags().BoolVar(&f.untilBeaten, "until-beaten", false,
		"pin it only until another model beats it on the same held-out rows")
	c.Flags().BoolVar(&f.force, "force", false, "allow a model of a feature set other than the current one")
	return c
}

func (f *rollbackFlags) rollback(ctx context.Context, r *stages.Process, models state.Models) (*wire.Current, error) {
	if models.Current == nil {
		return nil, fmt.Errorf("roll back pipeline %s: it has no model yet", r.Settings.SetsOf())
	}
	target, err := models.RollbackTarget(f.to)
	if err != nil {
		return nil, fmt.Errorf("%w; `trainer models list` shows the existing models", err)
	}
	if !f.force {
		if err := checkSet(ctx, r, target.Model); err != nil {
			return nil, err
		}
	}
	ask := state.Rollback{To: target.ID, Pin: wire.PinHold, Reason: reasonOr(f.reason), Time: r.Env.Clock()}
	if f.untilBeaten {
		ask.Pin = wire.PinBeaten
	}
	return r.Env.State.Rollback(ctx, ask)
}

// checkSet refuses a model of a feature set other than the current one.
func checkSet(ctx context.Context, r *stages.Process, model *wire.Model) error {
	return cli.ReadState(ctx, r, func(_ context.Context, _ *stages.Process, now state.Snapshot) error {
		if now.Current != nil && now.Current.ID != model.FeatureSetID {
			return fmt.Errorf("model %s belongs to feature set %s, but the current one is %s: it cannot predict from current "+
				"features; --force makes it current anyway", model.ID, model.FeatureSetID, now.Current.ID)
		}
		return nil
	}, state.TopicExplorations, state.TopicFeatureSets)
}

// reasonOr returns a reason, by default the host of the request.
func reasonOr(reason string) string {
	if reason != "" {
		return reason
	}
	host, _ := os.Hostname() // only a default text
	return "requested on " + host
}

// rolledBack is the result of `models rollback`.
type rolledBack struct {
	Before  *wire.Current `json:"before"`
	Current *wire.Current `json:"current"`
}

func printRollback(w io.Writer, r rolledBack) {
	if r.Before.ID == r.Current.ID {
		fmt.Fprintf(w, "model %s was already current; it is pinned now\n", r.Current.ID)
	} else {
		fmt.Fprintf(w, "model %s replaces %s\n", r.Current.ID, r.Before.ID)
	}
	fmt.Fprintf(w, "current: %s\n", currentText(r.Current))
}

// unpinned is the result of `models unpin`.
type unpinned struct {
	Current *wire.Current `json:"current"`
	Pin     wire.Pin      `json:"pin"` // before unpinning
}

func printUnpinned(w io.Writer, u unpinned) {
	if u.Pin == "" {
		fmt.Fprintf(w, "model %s was not pinned\n", u.Current.ID)
	} else {
		fmt.Fprintf(w, "model %s is no longer pinned\n", u.Current.ID)
	}
}

func newModelsUnpin() *cobra.Command {
	var f cli.TopicFlags
	var reason string
	c := &cobra.Command{
		Use:   "unpin",
		Short: "Unpin the current model, so that a better one replaces it",
		Long: `unpin removes the pin of a rollback. The model stays current until another one replaces it by
train.promote.`,
		Example: `  trainer models unpin -c eerf.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.WithState(c, func(ctx context.Context, r *stages.Process, _ state.Snapshot) error {
				pointer, was, err := r.Env.State.Unpin(ctx, reasonOr(reason), r.Env.Clock())
				if err != nil {
					return err
				}
				return cli.Print(c, f.JSON, unpinned{pointer, was}, printUnpinned)
			}, state.TopicModels)
		},
	}
	f.Add(c, 30*time.Second)
	c.Flags().StringVar(&reason, "reason", "", "reason, for the record")
	return c
}
