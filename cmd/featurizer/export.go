package main

import (
	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
)

func newExport() *cobra.Command {
	var onnx cli.ONNXFlags
	var source inspectFlags
	c := &cobra.Command{
		Use:   "export",
		Short: "Write a feature set as an ONNX graph: columns in, features out",
		Long: `export writes a feature set, from a file or from its topic, as one ONNX graph for any ONNX runtime. Its inputs
are the columns of the events, by name; its output is the features, as the features topic would hold them. The
command prints the inputs, their types, and the substitute for a missing value of each. To include a model, use
trainer export.`,
		Example: `  featurizer export --file set.arrow --onnx set.onnx
  featurizer export -c eerf.yaml --onnx set.onnx
  featurizer export -c eerf.yaml --id fs-0123456789abcdef0123456789abcdef --onnx set.onnx --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := source.check(); err != nil {
				return err
			}
			if err := onnx.Check(); err != nil {
				return err
			}
			set, err := source.find(c)
			if err != nil {
				return err
			}
			return onnx.Write(c, set, nil, 0, source.topics.JSON)
		},
	}
	source.add(c)
	onnx.Add(c)
	return c
}
