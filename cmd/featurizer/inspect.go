package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/state"
)

// bestShown is how many features inspect lists, rangesShown how many partitions.
const (
	bestShown   = 10
	rangesShown = 20
)

// inspectFlags are the flags of `featurizer inspect` and of other commands that show one feature set.
type inspectFlags struct {
	topics   topicFlags
	file, id string
}

func newInspect() *cobra.Command {
	var f inspectFlags
	c := &cobra.Command{
		Use:   "inspect",
		Short: "Show a feature set: from a file, or from its topic",
		Example: `  featurizer inspect --file set.arrow
  featurizer inspect -c eerf.yaml
  featurizer inspect -c eerf.yaml --id fs-0123456789abcdef0123456789abcdef`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			set, err := f.find(c)
			if err != nil {
				return err
			}
			summary := describeSet(set)
			summary.FeatureSet.File = f.file
			if f.topics.json {
				return cli.WriteJSON(c.OutOrStdout(), summary)
			}
			printSet(c.OutOrStdout(), set, summary)
			cli.WriteColumnTable(c.OutOrStdout(), set.Lineage.Columns)
			printLearning(c.OutOrStdout(), set.Lineage.Learning, summary.Importance)
			printBest(c.OutOrStdout(), set)
			printRanges(c.OutOrStdout(), set.Lineage)
			return nil
		},
	}
	f.add(c)
	return c
}

// add defines the flags on a command.
func (f *inspectFlags) add(c *cobra.Command) {
	f.topics.add(c)
	c.Flags().StringVar(&f.file, "file", "", "file of the feature set; empty = look on the topic")
	c.Flags().StringVar(&f.id, "id", "", "id of the feature set on the topic; empty = the current one")
}

// check reports flags that do not go together.
func (f *inspectFlags) check() error {
	if f.file != "" && f.id != "" {
		return cli.Usagef("--id names a feature set on the topic and --file one in a file: give one of them")
	}
	return nil
}

func (f *inspectFlags) find(c *cobra.Command) (*wire.FeatureSet, error) {
	if f.file != "" {
		return cli.ReadFeatureSet(f.file)
	}
	var set *wire.FeatureSet
	err := f.topics.withState(c, func(ctx context.Context, now state.Snapshot, r *stages.Process) (err error) {
		id := f.id
		if id == "" {
			if now.Current == nil {
				return r.State.NoSet(nil)
			}
			id = now.Current.ID
		}
		published, ok := now.Sets[id]
		if !ok {
			return fmt.Errorf("feature set %s is not on topic %s; `featurizer explorations list` shows those that are",
				id, r.Settings.Topics.FeatureSets)
		}
		set, err = r.State.LoadSet(ctx, published)
		return err
	})
	return set, err
}

// topicFlags are the flags of commands that read topics and end.
type topicFlags struct {
	config  cli.ConfigFlags
	timeout time.Duration
	json    bool
}

func (f *topicFlags) add(c *cobra.Command) {
	f.config.Add(c)
	cli.TimeoutFlag(c, &f.timeout, 30*time.Second, "give up after this long")
	cli.JSONFlag(c, &f.json)
}

// connected calls do with the runtime of a process connected to the configured brokers, within the timeout.
func (f *topicFlags) connected(c *cobra.Command, do func(context.Context, *stages.Process) error) error {
	loaded, err := f.config.Load(nil, nil)
	if err != nil {
		return err
	}
	runtime, closeAll, err := cli.ConnectOnce(c, loaded)
	if err != nil {
		return err
	}
	defer closeAll()
	return cli.WithTimeout(c.Context(), f.timeout, func(ctx context.Context) error { return do(ctx, runtime) })
}

// withState reads explorations and feature sets to their present end and calls do with the result. It follows them until do
// returns.
func (f *topicFlags) withState(c *cobra.Command, do func(context.Context, state.Snapshot, *stages.Process) error) error {
	return f.connected(c, func(ctx context.Context, r *stages.Process) error {
		if err := cli.LookUp(ctx, r, r.Settings.Topics.Explorations, r.Settings.Topics.FeatureSets); err != nil {
			return err
		}
		return r.State.During(ctx, func(ctx context.Context, now state.Snapshot) error { return do(ctx, now, r) })
	})
}

// printBest lists the first features by score.
func printBest(w io.Writer, set *wire.FeatureSet) {
	names := set.Encoder.FeatureNames()
	columns := []any{"rank", "candidate", "score", "largest weights"}
	rounds := set.Lineage.Rounds > 0 && set.Set.Round != nil
	if rounds {
		columns = append(columns, "round")
	}
	t := cli.NewTable(w, "best features", columns...)
	for i := range min(bestShown, set.Set.Features.Len()) {
		row := []any{i + 1, set.Set.Index[i], fmt.Sprintf("%.4g", set.Set.Score[i]), largest(set, names, i)}
		if rounds {
			row = append(row, roundName(set, i))
		}
		t.AppendRow(row)
	}
	t.Render()
}

// roundName says which round drew or chose a feature. Rounds of learning are numbered from 0. A moved feature may also have been
// chosen by residual among plain candidates.
func roundName(set *wire.FeatureSet, feature int) string {
	round := set.Set.Round[feature]
	switch {
	case !set.Lineage.Learned():
		return strconv.Itoa(int(round))
	case round == 0:
		return "residual"
	}
	return strconv.Itoa(int(round) - 1)
}

// printRanges lists the ranges of the log that the set was computed from, for the first partitions.
func printRanges(w io.Writer, l wire.Lineage) {
	if l.From != "" {
		fmt.Fprintf(w, "from %s: %d labelled rows, sampled at a rate of %.4g\n", l.From, l.LabelledRows, l.SampleRate)
	}
	for _, without := range l.Excluded {
		fmt.Fprintf(w, "without partition %d: %s\n", without.Partition, without.Reason)
	}
	t := cli.NewTable(w, "ranges of "+l.EventsTopic, "partition", "from offset", "to offset", "rows read", "closed by")
	for _, part := range l.Partitions[:min(rangesShown, len(l.Partitions))] {
		t.AppendRow([]any{part.Partition, part.StartOffset, max(part.EndOffset, part.NextOffset), part.ClosingOrdinal, part.CloseReason})
	}
	t.Render()
	if more := len(l.Partitions) - rangesShown; more > 0 {
		fmt.Fprintf(w, "and %d more partitions: --json lists them\n", more)
	}
}

// largest names the columns that a feature depends on most.
func largest(set *wire.FeatureSet, names []string, feature int) string {
	f := set.Set.Features
	if f.Width() == 1 {
		return names[int(f.Omega[feature])]
	}
	omega := f.Omega[feature*f.Dim : (feature+1)*f.Dim]
	out := ""
	used := make(map[int]bool, 3)
	for range min(3, len(omega)) {
		best := -1
		for j, w := range omega {
			if !used[j] && (best < 0 || abs(w) > abs(omega[best])) {
				best = j
			}
		}
		used[best] = true
		out += fmt.Sprintf("%+.2f %s  ", omega[best], names[best])
	}
	return out
}

func abs(v float32) float32 {
	if v < 0 {
		return -v
	}
	return v
}
