package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/state"
)

// rollbackFlags are the flags of `trainer models rollback`.
type rollbackFlags struct {
	modelFlags
	to, reason  string
	untilBeaten bool
	force       bool
}

func newModelsRollback() *cobra.Command {
	var f rollbackFlags
	c := &cobra.Command{
		Use:   "rollback",
		Short: "Put an earlier model in use again, and pin it",
		Long: `rollback puts an earlier model in use again: the one before the model in use, or the one that --to names; an id may be cut
short. The model is pinned: training and comparing go on, but no model replaces it until "trainer models unpin". With
--until-beaten a model that beats it on the same held-out rows does, whatever train.promote.rule says. The model that
you rolled back from is likely to beat it again.

A model of another feature set than the one in use expects features that are no longer made. It is refused, unless --force
says that its readers can cope.`,
		Example: `  trainer models rollback -c eerf.yaml --reason "too many false alarms"
  trainer models rollback -c eerf.yaml --to m-0123456789ab --until-beaten`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.with(c, func(ctx context.Context, r *stages.Process, models state.Models) error {
				before := models.Current
				pointer, err := f.rollback(ctx, r, models)
				if err != nil {
					return err
				}
				return f.report(c.OutOrStdout(), before, pointer)
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&f.to, "to", "", "id of the model; empty = the one before the model in use")
	c.Flags().StringVar(&f.reason, "reason", "", "why, for the record")
	c.Flags().BoolVar(&f.untilBeaten, "until-beaten", false, "pin it only until another model beats it on the same held-out rows")
	c.Flags().BoolVar(&f.force, "force", false, "allow a model of a feature set that is not in use")
	return c
}

func (f *rollbackFlags) rollback(ctx context.Context, r *stages.Process, models state.Models) (*wire.Current, error) {
	if models.Current == nil {
		return nil, fmt.Errorf("pipeline %s has no model yet, there is nothing to roll back", r.Settings.SetsOf())
	}
	target, err := models.RollbackTarget(f.to)
	if err != nil {
		return nil, fmt.Errorf("%w; `trainer models list` shows the models that are there", err)
	}
	if !f.force {
		if err := checkSet(ctx, r, target.Model); err != nil {
			return nil, err
		}
	}
	ask := state.Rollback{To: target.ID, Pin: wire.PinHold, Reason: reasonOr(f.reason), Time: r.Clock()}
	if f.untilBeaten {
		ask.Pin = wire.PinBeaten
	}
	return r.State.Rollback(ctx, ask)
}

// checkSet refuses a model of a feature set that is not in use.
func checkSet(ctx context.Context, r *stages.Process, model *wire.Model) error {
	topics := r.Settings.Topics
	if err := cli.LookUp(ctx, r, topics.Explorations, topics.FeatureSets); err != nil {
		return err
	}
	return r.State.During(ctx, func(_ context.Context, now state.Snapshot) error {
		if now.Current != nil && now.Current.ID != model.FeatureSetID {
			return fmt.Errorf("model %s multiplies the features of %s, and %s is in use: on what is featurized now it predicts nothing; --force points to it all the same",
				model.ID, model.FeatureSetID, now.Current.ID)
		}
		return nil
	}, state.TopicExplorations, state.TopicFeatureSets)
}

// reasonOr returns a reason, by default who made the request.
func reasonOr(reason string) string {
	if reason != "" {
		return reason
	}
	host, _ := os.Hostname() // only a default text
	return "asked for from " + host
}

func (f *rollbackFlags) report(w io.Writer, before, now *wire.Current) error {
	if f.json {
		return cli.WriteJSON(w, struct {
			Before  *wire.Current `json:"before"`
			Current *wire.Current `json:"current"`
		}{before, now})
	}
	if before.ID == now.ID {
		fmt.Fprintf(w, "model %s was in use before; it is pinned now\n", now.ID)
	} else {
		fmt.Fprintf(w, "model %s is in use in place of %s\n", now.ID, before.ID)
	}
	fmt.Fprintf(w, "in use: %s\n", currentText(now))
	return nil
}

func newModelsUnpin() *cobra.Command {
	var f modelFlags
	var reason string
	c := &cobra.Command{
		Use:     "unpin",
		Short:   "Unpin the model in use: from now on a better one replaces it",
		Long:    `unpin undoes the pin of rollback: the model stays in use, and train.promote decides again when another one replaces it.`,
		Example: `  trainer models unpin -c eerf.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.with(c, func(ctx context.Context, r *stages.Process, models state.Models) error {
				pointer, was, err := r.State.Unpin(ctx, reasonOr(reason), r.Clock())
				if err != nil {
					return err
				}
				if f.json {
					return cli.WriteJSON(c.OutOrStdout(), struct {
						Current *wire.Current `json:"current"`
						Pin     wire.Pin      `json:"pin"` // that it had
					}{pointer, was})
				}
				if was == "" {
					fmt.Fprintf(c.OutOrStdout(), "model %s was not pinned\n", pointer.ID)
				} else {
					fmt.Fprintf(c.OutOrStdout(), "model %s is in use and no longer pinned\n", pointer.ID)
				}
				return nil
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&reason, "reason", "", "why, for the record")
	return c
}
