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
	"github.com/eerf-stream/eerf/stages/state"
)

// rangesShown is the number of partitions that inspect lists.
const rangesShown = 20

// inspectFlags are the flags of `featurizer inspect` and of other commands that show one feature
// set.
type inspectFlags struct {
	topics   cli.TopicFlags
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
			summary.FeatureSet.File, summary.Features = f.file, featuresInWords(set)
			return cli.Print(c, f.topics.JSON, summary, func(w io.Writer, summary setSummary) {
				printSet(w, set, summary)
				cli.WriteColumnTable(w, set.Lineage.Columns)
				printLearning(w, set.Lineage.Learning, summary.Importance)
				printFeatures(w, summary.Features)
				printRanges(w, set.Lineage)
			})
		},
	}
	f.add(c)
	return c
}

// add defines the flags on a command.
func (f *inspectFlags) add(c *cobra.Command) {
	f.topics.Add(c, 30*time.Second)
	c.Flags().StringVar(&f.file, "file", "", "file of the feature set; empty = read the topic")
	c.Flags().StringVar(&f.id, "id", "", "id of the feature set on the topic; empty = the current one")
}

// check reports flags that do not go together.
func (f *inspectFlags) check() error {
	if f.file != "" && f.id != "" {
		return cli.Usagef("--id selects a feature set of the topic and --file reads one from a file; set only one of them")
	}
	return nil
}

func (f *inspectFlags) find(c *cobra.Command) (*wire.FeatureSet, error) {
	if f.file != "" {
		return cli.ReadFeatureSet(f.file)
	}
	var set *wire.FeatureSet
	err := f.topics.WithState(c, func(ctx context.Context, r *stages.Process, now state.Snapshot) (err error) {
		id := f.id
		if id == "" {
			if now.Current == nil {
				return fmt.Errorf("pipeline %s has no feature set yet; check pipeline.name", r.Settings.SetsOf())
			}
			id = now.Current.ID
		}
		published, ok := now.Sets[id]
		if !ok {
			return fmt.Errorf("feature set %s is not on topic %s; `featurizer explorations list` shows the stored ones",
				id, r.Settings.Topics.FeatureSets)
		}
		set, err = r.Env.State.LoadSet(ctx, published)
		return err
	}, state.TopicExplorations, state.TopicFeatureSets)
	return set, err
}

// printRanges lists the ranges of the log that the set was computed from, up to rangesShown
// partitions.
func printRanges(w io.Writer, l wire.Lineage) {
	if l.From != "" {
		fmt.Fprintf(w, "from %s: %d labelled rows, sampled at a rate of %.4g\n", l.From, l.LabelledRows, l.SampleRate)
	}
	for _, without := range l.Excluded {
		fmt.Fprintf(w, "without partition %d: %s\n", without.Partition, without.Reason)
	}
	t := cli.NewTable(w, "ranges of "+l.EventsTopic, "partition", "from offset", "to offset", "rows read", "closed by")
	for _, part := range l.Partitions[:min(rangesShown, len(l.Partitions))] {
		end := max(part.EndOffset, part.NextOffset)
		t.AppendRow([]any{part.Partition, part.StartOffset, end, part.ClosingOrdinal, part.CloseReason})
	}
	t.Render()
	if more := len(l.Partitions) - rangesShown; more > 0 {
		fmt.Fprintf(w, "and %d more partitions; use --json for all\n", more)
	}
}
