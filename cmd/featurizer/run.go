package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/status"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
)

func newRun() *cobra.Command {
	var flags cli.ConfigFlags
	var texts []string
	var asJSON bool
	c := &cobra.Command{
		Use:   "run",
		Short: "Run stages against Kafka until stopped",
		Long: `run reads events, finds feature sets and writes features, as a service. It waits for unavailable brokers and
missing topics, and resumes where the last run stopped. On the first SIGTERM or interrupt it finishes and saves
the work in progress; on the second it exits at once.

Stages: ` + strings.Join(stages.Texts(stages.Names()), ", ") + `.
Any number of processes may run the same stages and share the partitions. A pipeline that takes its feature
sets from another one (featurize.sets_from) runs only the stage featurize. With --json, the counters of the
process are printed when it stops.`,
		Example: `  featurizer run -c eerf.yaml
  featurizer run -c eerf.yaml --stages subsample,featurize`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			names, err := stages.Parse(texts)
			if err != nil {
				return cli.Usagef("--stages: %w", err)
			}
			loaded, err := flags.Load(nil, nil)
			if err != nil {
				return err
			}
			if !c.Flags().Changed("stages") {
				names = loaded.Stages.Runs()
			}
			if slices.Contains(names, meter.StageCalibrate) && len(loaded.Stages.Events.Label) == 0 {
				return cli.Usagef("events.label is not set: the stage %s needs a column to score against",
					meter.StageCalibrate)
			}
			return cli.RunStages(c, loaded, names, asJSON, status.Mount)
		},
	}
	flags.Add(c)
	c.Flags().StringSliceVar(&texts, "stages", stages.Texts(stages.Names()), "stages to run")
	cli.JSONFlag(c, &asJSON)
	return c
}
