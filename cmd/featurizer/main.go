// Command featurizer runs the stages that turn events into features, and the tools that go with
// them.
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
		Long: `featurizer finds random features that fit your labelled events, and maps live events to them.

It scores candidate features against the labels on a sample of the stream, publishes the best as a feature set,
and turns every event into a feature vector that a linear model can learn from. Events come from Kafka, as
Arrow, JSON, Avro or Protobuf. Start with:  featurizer demo`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newDemo(), newRun(), newServe(), newPipe(), newExplore(), newTransform(), newProduce(), newTopics(),
		newConfig(), newInspect(), newExport(), newExplorations(), newDeadLetters(), newBroker())
	return root
}
