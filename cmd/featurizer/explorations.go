package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/internal/bytesize"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

func newExplorations() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:     "explorations",
		Short:   "List, start and cancel explorations of a running pipeline",
		Example: `  featurizer explorations start -c eerf.yaml --reason "new season"`,
	}, newExplorationsList(),
		newRequest(wire.ActionStart, "Ask the pipeline to start an exploration now",
			"The current feature set stays until the new one is published."),
		newRequest(wire.ActionCancel, "Ask the pipeline to cancel the running exploration",
			"The current feature set stays.\nThe next exploration starts on schedule, after a change of the configuration, "+
				"or on request."))
}

// explorationList is the result of `explorations list`.
type explorationList struct {
	Pipeline string          `json:"pipeline"`
	Newest   *newestEntry    `json:"newest,omitempty"`
	Current  *wire.Current   `json:"current,omitempty"`
	Requests []requestEntry  `json:"requests"`
	Sets     []publishedSets `json:"sets"`
}

type newestEntry struct {
	ID       string `json:"id"`
	Sequence int64  `json:"sequence"`
	// Status is running, published, cancelled, abandoned, or replaced: planned again by this
	// version.
	Status    string    `json:"status"`
	Running   bool      `json:"running"`
	PlannedAt time.Time `json:"planned_at"`
	Reason    string    `json:"reason,omitempty"` // why it was planned, or why it ended without a set
	From      wire.From `json:"from,omitempty"`
	// Set while it runs: the labelled rows of its ranges, about how many are sampled, and the round
	// of selection.
	LabelledRows int64          `json:"labelled_rows,omitempty"`
	SampleRows   int64          `json:"sample_rows,omitempty"`
	Progress     *wire.Progress `json:"progress,omitempty"`
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
	var f cli.TopicFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "Show the newest exploration, open requests and stored feature sets",
		Long: `list shows the newest exploration with its reason, or how it ended, and its progress; the requests that wait
for the planner; and the stored feature sets. To see why no exploration starts, such as too few labelled rows,
run "explorations start --dry-run".`,
		Example: `  featurizer explorations list -c eerf.yaml --json`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return f.WithState(c, func(_ context.Context, r *stages.Process, now state.Snapshot) error {
				return cli.Print(c, f.JSON, listExplorations(r.Settings.SetsOf(), now), printExplorations)
			}, state.TopicExplorations, state.TopicFeatureSets)
		},
	}
	f.Add(c, 30*time.Second)
	return c
}

func listExplorations(pipeline string, now state.Snapshot) explorationList {
	list := explorationList{Pipeline: pipeline, Current: now.Current, Requests: []requestEntry{}, Sets: []publishedSets{}}
	if spec := now.Spec; spec != nil {
		running := now.Running() != nil
		list.Newest = &newestEntry{
			ID: spec.Exploration, Sequence: spec.Sequence, Status: now.Status(), Running: running, PlannedAt: spec.PlannedAt,
			Reason: spec.Reason, From: spec.From,
		}
		if running {
			list.Newest.LabelledRows, list.Newest.SampleRows = spec.LabelledRows(), spec.Sampled(spec.LabelledRows())
			if p := now.Progress; p != nil && p.Exploration == spec.Exploration {
				list.Newest.Progress = p
			}
		}
	}
	for _, r := range now.Requests {
		if r.Action == wire.ActionCancel && now.Running() == nil {
			continue // a cancellation without a running exploration needs no answer
		}
		list.Requests = append(list.Requests, requestEntry{r.ID, r.Action, r.Reason, r.Time})
	}
	for _, set := range now.SetsBySequence() {
		l := set.Lineage
		list.Sets = append(list.Sets,
			publishedSets{ID: set.ID, Exploration: l.Exploration, Sequence: l.Sequence, Rows: l.Rows,
				Published: set.Time, Current: now.Current != nil && now.Current.ID == set.ID})
	}
	return list
}

func printExplorations(w io.Writer, list explorationList) {
	if list.Newest == nil {
		fmt.Fprintf(w, "pipeline %s has no exploration yet\n", list.Pipeline)
	} else {
		fmt.Fprintf(w, "newest exploration %s: %s, planned %s\n", list.Newest.ID, list.Newest.Status,
			list.Newest.PlannedAt.Format(time.RFC3339))
		if list.Newest.Reason != "" {
			fmt.Fprintf(w, "  why: %s\n", list.Newest.Reason)
		}
		if list.Newest.Running {
			fmt.Fprintf(w, "  from %s: about %d of %d labelled rows are scored\n",
				list.Newest.From, list.Newest.SampleRows, list.Newest.LabelledRows)
		}
		if p := list.Newest.Progress; p != nil {
			fmt.Fprintf(w, "  %d sampled rows: %s\n", p.Rows, cli.Choosing(p.Round, p.Rounds, p.Last()))
		}
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

// requestFlags are the flags of a request.
type requestFlags struct {
	cli.TopicFlags
	action       wire.Action
	reason, from string
	dryRun       bool
}

func newRequest(action wire.Action, short, long string) *cobra.Command {
	f := requestFlags{action: action}
	c := &cobra.Command{
		Use:     string(action),
		Short:   short,
		Long:    short + ". " + long,
		Example: fmt.Sprintf("  featurizer explorations %s -c eerf.yaml", action),
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.Add(c, 30*time.Second)
	c.Flags().StringVar(&f.reason, "reason", "", "reason, for the logs")
	if action == wire.ActionStart {
		c.Flags().StringVar(&f.from, "from", "",
			"part of the log to read: recent, earliest or next; empty = as configured")
		c.Flags().BoolVar(&f.dryRun, "dry-run", false,
			"print the ranges that the exploration would read, without starting it")
	}
	return c
}

func (f *requestFlags) run(c *cobra.Command) error {
	if f.from != "" && !slices.Contains(wire.Froms(), wire.From(f.from)) {
		return cli.Usagef("--from %q: expected one of %v", f.from, wire.Froms())
	}
	if f.dryRun {
		return f.plan(c)
	}
	request := wire.Request{Action: f.action, ID: rand.Text(), Reason: f.reason, From: wire.From(f.from), Time: time.Now()}
	if request.Reason == "" {
		host, _ := os.Hostname() // only for a default text
		request.Reason = "requested from " + host
	}
	running, err := f.send(c, request)
	if err != nil {
		return err
	}
	return cli.Print(c, f.JSON, sentRequest{request, running}, printRequest)
}

// sentRequest is the output of `explorations start` and `explorations cancel`.
type sentRequest struct {
	wire.Request
	Running bool `json:"running"` // whether an exploration was running
}

func printRequest(w io.Writer, sent sentRequest) {
	fmt.Fprintf(w, "request %s sent: %s\n", sent.ID, sent.Action)
	if sent.Action == wire.ActionCancel && !sent.Running {
		fmt.Fprintln(w, "note: no exploration is running")
	}
}

// send writes a request and reports whether an exploration was running.
func (f *requestFlags) send(c *cobra.Command, request wire.Request) (running bool, err error) {
	err = f.WithState(c, func(ctx context.Context, r *stages.Process, now state.Snapshot) error {
		if err := r.Settings.CheckStages([]meter.Stage{meter.StageCalibrate}); err != nil {
			return err
		}
		running = now.Running() != nil
		return r.Env.State.SendRequest(ctx, request)
	}, state.TopicExplorations, state.TopicFeatureSets)
	return running, err
}

// dryRun describes the exploration that would start.
type dryRun struct {
	From         wire.From      `json:"from"`
	Messages     int64          `json:"messages"`
	Rows         int64          `json:"rows"`
	LabelledRows int64          `json:"labelled_rows"`
	SampleRate   float64        `json:"sample_rate"`
	SampleRows   int64          `json:"sample_rows"` // expected
	Dim          int            `json:"dim"`
	MemoryBytes  int64          `json:"memory_bytes"` // upper bound for the sample and all that is computed from it
	Seconds      float64        `json:"seconds"`      // time taken to read the ranges
	Partitions   []dryPartition `json:"partitions"`
}

type dryPartition struct {
	Partition    int32 `json:"partition"`
	StartOffset  int64 `json:"start_offset"`
	EndOffset    int64 `json:"end_offset"`
	LabelledRows int64 `json:"labelled_rows"`
}

// plan prints the ranges that the exploration would read.
func (f *requestFlags) plan(c *cobra.Command) error {
	return f.WithState(c, func(ctx context.Context, r *stages.Process, now state.Snapshot) error {
		if err := r.Settings.CheckStages([]meter.Stage{meter.StageCalibrate}); err != nil {
			return err
		}
		request := calibrate.Next(now, r.Env.Clock())
		request.From = wire.From(f.from)
		planned, err := r.Plan(ctx, request)
		if err != nil {
			return err
		}
		spec := planned.Spec
		out := dryRun{
			From: spec.From, Messages: planned.Counts.Messages, Rows: planned.Counts.Rows, LabelledRows: spec.LabelledRows(),
			SampleRate: spec.SampleRate, SampleRows: spec.Sampled(spec.LabelledRows()), Dim: spec.Encoder.Dim,
			MemoryBytes: planned.Memory, Seconds: planned.Seconds,
		}
		for _, part := range spec.Partitions {
			out.Partitions = append(out.Partitions, dryPartition{
				part.Partition, part.StartOffset, part.EndOffset, part.LabelledRows,
			})
		}
		return cli.Print(c, f.JSON, out, printPlan)
	}, state.TopicExplorations, state.TopicFeatureSets)
}

func printPlan(w io.Writer, d dryRun) {
	share := 0.0
	if d.Rows > 0 {
		share = 100 * float64(d.LabelledRows) / float64(d.Rows)
	}
	fmt.Fprintf(w, "an exploration from %s would read %d rows in %d messages, %.1f %% of them labelled, in about %.1f s\n",
		d.From, d.Rows, d.Messages, share, d.Seconds)
	fmt.Fprintf(w, "it would score about %d of them (sample rate %.3g) in %d dimensions", d.SampleRows, d.SampleRate,
		d.Dim)
	if d.MemoryBytes > 0 {
		fmt.Fprintf(w, "; the selection takes up to %s", bytesize.Text(d.MemoryBytes))
	}
	fmt.Fprintln(w)
	t := cli.NewTable(w, "", "partition", "from offset", "to offset", "labelled rows")
	for _, part := range d.Partitions {
		t.AppendRow([]any{part.Partition, part.StartOffset, part.EndOffset, part.LabelledRows})
	}
	t.Render()
}
