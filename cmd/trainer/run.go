package main

import (
	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages/meter"
)

func newRun() *cobra.Command {
	var flags cli.ConfigFlags
	var asJSON bool
	var train cli.SettingFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Train a model at every interval with new rows, until stopped",
		Long: `run keeps sums of the features of the current feature set and trains a model every train.interval. The model
replaces the current one if it beats it on the same held-out rows (train.promote). A new feature set starts new sums.
The old model stays current until the new sums have train.min_rows rows. If several processes run, one of them trains.
With --json the counters of the process are printed when it stops.`,
		Example: `  trainer run -c eerf.yaml --set train.interval=10m`,
		Args:    cobra.NoArgs,
	}
	flags.Add(c)
	cli.JSONFlag(c, &asJSON)
	train.AddTrain(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		loaded, err := flags.Load(nil, train.Overrides())
		if err != nil {
			return err
		}
		return cli.RunStages(c, loaded, []meter.Stage{meter.StageTrain}, asJSON)
	}
	return c
}
