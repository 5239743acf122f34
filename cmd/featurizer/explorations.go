package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
)

func newExplorations() *cobra.Command {
	c := &cobra.Command{
		Use:     "explorations",
		Short:   "List, start and cancel explorations of a running pipeline",
		Example: `  featurizer explorations start -c eerf.yaml --reason "new season"`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newExplorationsList(),
		newRequest(wire.ActionStart, "Ask the pipeline to start an exploration now",
			"The current feature set stays in use until the new one is published."),
		newRequest(wire.ActionCancel, "Ask the pipeline to cancel the running exploration",
			"The current feature set stays in use. The next exploration starts by schedule, change of configuration or command."))
	return c
}

// explorationList is what `explorations list` knows.
type explorationList struct {
	Pipeline string          `json:"pipeline"`
	Newest   *newestEntry    `json:"newest,omitempty"`
	Current  *wire.Current   `json:"current,omitempty"`
	Requests []requestEntry  `json:"requests"`
	Sets     []publishedSets `json:"sets"`
}

type newestEntry struct {
	ID        string    `json:"id"`
	Sequence  int64     `json:"sequence"`
	Status    string    `json:"status"` // as in the spec, or published once its set is
	Running   bool      `json:"running"`
	PlannedAt time.Time `json:"planned_at"`
}

type requestEntry struct {
	ID     string      `json:"id"`
	Action wire.Action `json:"action"`
	Reason string      `json:"reason"`
	Time   time.Time   `json:"time"`
}

type publishedSets struct {
	ID          string    `json:"id"`
	Exploration string    `json:"exploration"`
	Sequence    int64     `json:"sequence"`
	Rows        int64     `json:"rows"`
	Published   time.Time `json:"published"`
	Current     bool      `json:"current"`
}

func newExplorationsList() *cobra.Command {
	var f topicFlags
	c := &cobra.Command{
		Use:     "list",
		Short:   "Show the newest exploration, open requests and the feature sets that are kept",
		Example: `  featurizer explorations list -c eerf.yaml --json`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.withState(c, func(_ context.Context, state stages.State, r *stages.Runtime) error {
				list := listExplorations(r.Settings.Pipeline.Name, state)
				if f.json {
					return cli.WriteJSON(c.OutOrStdout(), list)
				}
				printExplorations(c.OutOrStdout(), list)
				return nil
			})
		},
	}
	f.add(c)
	return c
}

func listExplorations(pipeline string, state stages.State) explorationList {
	list := explorationList{Pipeline: pipeline, Current: state.Current, Requests: []requestEntry{}, Sets: []publishedSets{}}
	if spec := state.Spec; spec != nil {
		running, status := state.Running() != nil, string(spec.Status)
		if spec.Status == wire.StatusRunning && !running {
			status = "published"
		}
		list.Newest = &newestEntry{spec.Exploration, spec.Sequence, status, running, spec.PlannedAt}
	}
	for _, r := range state.Requests {
		if r.Action == wire.ActionCancel && state.Running() == nil {
			continue // there is nothing to cancel, and nobody has to answer
		}
		list.Requests = append(list.Requests, requestEntry{r.ID, r.Action, r.Reason, r.Time})
	}
	for _, set := range state.SetsBySequence() {
		l := set.Set.Lineage
		list.Sets = append(list.Sets, publishedSets{ID: set.ID, Exploration: l.Exploration, Sequence: l.Sequence, Rows: l.Rows,
			Published: set.Time, Current: state.Current != nil && state.Current.ID == set.ID})
	}
	return list
}

func printExplorations(w io.Writer, list explorationList) {
	if list.Newest == nil {
		fmt.Fprintf(w, "pipeline %s has no exploration yet\n", list.Pipeline)
	} else {
		fmt.Fprintf(w, "newest exploration %s: %s, planned %s\n", list.Newest.ID, list.Newest.Status,
			list.Newest.PlannedAt.Format(time.RFC3339))
	}
	for _, r := range list.Requests {
		fmt.Fprintf(w, "open request %s: %s (%s)\n", r.ID, r.Action, r.Reason)
	}
	if len(list.Sets) == 0 {
		return
	}
	t := cli.NewTable(w, "", "feature set", "exploration", "rows scored", "published", "")
	for _, set := range list.Sets {
		mark := ""
		if set.Current {
			mark = "current"
		}
		t.AppendRow([]any{set.ID, set.Exploration, set.Rows, set.Published.Format(time.RFC3339), mark})
	}
	t.Render()
}

func newRequest(action wire.Action, short, long string) *cobra.Command {
	var f topicFlags
	var reason, until string
	c := &cobra.Command{
		Use:     string(action),
		Short:   short,
		Long:    short + ". " + long,
		Example: fmt.Sprintf("  featurizer explorations %s -c eerf.yaml", action),
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if until != "" && until != "quota" && until != "end" {
				return cli.Usagef("--until %q: expected quota or end", until)
			}
			request := wire.Request{Action: action, ID: uuid.NewString(), Reason: reason, Until: until, Time: time.Now()}
			if request.Reason == "" {
				host, _ := os.Hostname() // only a default text
				request.Reason = "asked for from " + host
			}
			running, err := f.send(c, request)
			if err != nil {
				return err
			}
			if f.json {
				return cli.WriteJSON(c.OutOrStdout(), struct {
					wire.Request
					Running bool `json:"running"` // whether an exploration was running
				}{request, running})
			}
			fmt.Fprintf(c.OutOrStdout(), "request %s sent: %s\n", request.ID, action)
			if action == wire.ActionCancel && !running {
				fmt.Fprintln(c.OutOrStdout(), "note: no exploration is running")
			}
			return nil
		},
	}
	f.add(c)
	c.Flags().StringVar(&reason, "reason", "", "why, for the logs")
	if action == wire.ActionStart {
		c.Flags().StringVar(&until, "until", "", "quota or end; empty = as configured")
	}
	return c
}

// send writes a request and reports whether an exploration was running.
func (f *topicFlags) send(c *cobra.Command, request wire.Request) (running bool, err error) {
	err = f.withState(c, func(ctx context.Context, state stages.State, r *stages.Runtime) error {
		running = state.Running() != nil
		return stages.SendRequest(ctx, r, request)
	})
	return running, err
}
