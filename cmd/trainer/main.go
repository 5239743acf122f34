// Command trainer makes models from the features topic, or from files.
package main

import (
	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
)

func main() { cli.Main(newRoot()) }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "trainer",
		Short: "Linear models on the features that featurizer writes",
		Long: `trainer reads the features topic, fits linear models to the features of the current feature set, chooses
lambda on held-out rows, and makes a new model current if it beats the previous one. It keeps no state of its own.
Files need no broker: fit --data trains on one, and predict applies the model to another.`,
		Example: `  trainer fit -c eerf.yaml
  trainer fit --data rows.csv --label churned --out model.arrow
  trainer run -c eerf.yaml
  trainer models list -c eerf.yaml
  trainer compare --data rows.csv --label churned
  trainer backtest --data rows.csv --label churned`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newFit(), newPredict(), newRun(), newModels(), newExport(), newCompare(), newBacktest())
	return root
}
