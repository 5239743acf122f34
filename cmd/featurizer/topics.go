package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/topics"
)

func newTopics() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:     "topics",
		Short:   "Create, check and export the topics",
		Example: `  featurizer topics create -c eerf.yaml`,
	}, newTopicsCreate(), newTopicsCheck(), newTopicsExport())
}

func newTopicsCreate() *cobra.Command {
	var f cli.TopicFlags
	c := &cobra.Command{
		Use:   "create",
		Short: "Create missing topics and add missing partitions",
		Long: `create makes the topics of the pipeline with the cleanup policies, message sizes and segment settings that the
stages rely on. Existing topics stay as they are, except that scores, samples, features and dead letters get as
many partitions as events.`,
		Example: `  featurizer topics create -c eerf.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			created := createdTopics{Done: []string{}}
			err := f.Connected(c, func(ctx context.Context, r *stages.Process) error {
				created.Brokers = f.Brokers
				return pipeline.Try(ctx, r.Env.Logger, "create topics", func() error {
					made, err := topics.Create(ctx, r.Env.Broker, r.Settings.Topics)
					created.Done = append(created.Done, made...)
					return err
				})
			})
			if err != nil {
				return err
			}
			return cli.Print(c, f.JSON, created, printCreated)
		},
	}
	f.Add(c, 30*time.Second)
	return c
}

// createdTopics is the output of `topics create`.
type createdTopics struct {
	Brokers []string `json:"brokers"` // the configured addresses of the cluster
	Done    []string `json:"done"`
}

func printCreated(w io.Writer, c createdTopics) {
	for _, line := range c.Done {
		fmt.Fprintln(w, line)
	}
	if len(c.Done) == 0 {
		fmt.Fprintln(w, "nothing to do: every topic exists")
	}
	fmt.Fprintf(w, "on the cluster at %s (kafka.brokers)\n", strings.Join(c.Brokers, ", "))
}

func newTopicsCheck() *cobra.Command {
	var f cli.TopicFlags
	c := &cobra.Command{
		Use:   "check",
		Short: "Report faults of the topics",
		Long: `check lists everything that would keep the stages from running on the topics: missing topics, too few
partitions, a compacted events topic. It fails if it finds anything.`,
		Example: `  featurizer topics check -c eerf.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			err := f.Connected(c, func(ctx context.Context, r *stages.Process) error {
				err := cli.LookUp(ctx, r, r.Settings.Topics.Events) // waits for an unavailable broker
				if err != nil && !errors.Is(err, pipeline.ErrUnknownTopic) {
					return err
				}
				return topics.Check(ctx, r.Env.Broker, r.Settings.Topics)
			})
			if f.JSON {
				faults := []string{}
				if err != nil {
					faults = strings.Split(err.Error(), "\n")
				}
				return errors.Join(cli.WriteJSON(c.OutOrStdout(), map[string]any{"ok": err == nil, "faults": faults}), err)
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), "no faults")
			return nil
		},
	}
	f.Add(c, 30*time.Second)
	return c
}
