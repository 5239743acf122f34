// Command featurizer runs the stages that turn events into features, and the tools around them.
package main

import (
	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
)

func main() { cli.Main(newRoot()) }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "featurizer",
		Short: "Streaming, data-dependent random features",
		Long: `featurizer finds random features that fit your labelled events and maps live events to them.

Events are Arrow record batches in Kafka. Candidate features are scored against the labels on a sample of the
stream, the best are published as a feature set, and every event becomes a feature vector that a linear model
can learn from. Start with:  featurizer demo`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newDemo(), newRun(), newExplore(), newTransform(), newProduce(), newTopics(), newConfig(),
		newInspect(), newExplorations(), newDeadLetters(), newBroker())
	return root
}
