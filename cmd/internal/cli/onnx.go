package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/arrowio/onnx"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/bytesize"
)

// ONNXFlags are the flags of commands that export a set or a model to ONNX.
type ONNXFlags struct{ path, missingText string }

// Add defines the flags on a command.
func (f *ONNXFlags) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "onnx", "", "file to write (required)")
	c.Flags().StringVar(&f.missingText, "missing-text", "", "substitute for a missing value in string inputs")
}

// Check reports before the work if the file cannot be written.
func (f *ONNXFlags) Check() error {
	if f.path == "" {
		return Usagef("--onnx is required: the file to write")
	}
	return files.CheckTarget(f.path)
}

// onnxSummary is the JSON description of an export.
type onnxSummary struct {
	FeatureSet string        `json:"feature_set"`
	Model      string        `json:"model,omitempty"`
	Threshold  float64       `json:"threshold,omitempty"` // 0 = the more probable class
	Out        string        `json:"out"`
	Bytes      int           `json:"bytes"`
	Inputs     []onnx.Input  `json:"inputs"`
	Outputs    []onnx.Output `json:"outputs"`
}

// Write writes the file, with the threshold of a model's decisions, and prints its contents. model
// is nil for a feature set alone.
func (f *ONNXFlags) Write(
	c *cobra.Command,
	set *wire.FeatureSet,
	model *wire.Model,
	threshold float64,
	asJSON bool,
) error {
	build := BuildOf(c.Root().Name())
	file, err := onnx.Encode(set, model, onnx.Options{
		MissingText: f.missingText,
		Threshold:   threshold,
		Program:     "eerf " + build.Program,
		Version:     build.Version,
	})
	if err != nil {
		return err
	}
	if err := files.WriteWhole(f.path, file.Bytes); err != nil {
		return err
	}
	summary := onnxSummary{
		FeatureSet: set.ID(),
		Threshold:  threshold,
		Out:        f.path,
		Bytes:      len(file.Bytes),
		Inputs:     file.Inputs,
		Outputs:    file.Outputs,
	}
	if model != nil {
		summary.Model = wire.ModelID(model)
	}
	if asJSON {
		return WriteJSON(c.OutOrStdout(), summary)
	}
	printONNX(c.OutOrStdout(), summary)
	return nil
}

// printONNX prints the summary as text.
func printONNX(w io.Writer, s onnxSummary) {
	what := "feature set " + s.FeatureSet
	if s.Model != "" {
		what = fmt.Sprintf("model %s on %s", s.Model, what)
	}
	fmt.Fprintf(w, "%s written to %s (%s)\n", what, s.Out, bytesize.Text(int64(s.Bytes)))
	inputs := NewTable(w, "inputs", "name", "type", "shape", "missing", "column")
	for _, in := range s.Inputs {
		missing := in.Missing
		if in.Type == "string" {
			missing = fmt.Sprintf("%q", in.Missing)
		}
		column := string(in.Kind)
		if in.Unit != "" {
			column += ", " + in.Unit
		}
		inputs.AppendRow([]any{in.Name, in.Type, fmt.Sprintf("[N, %d]", in.Width), missing, column})
	}
	inputs.Render()
	outputs := NewTable(w, "outputs", "name", "type", "shape")
	for _, out := range s.Outputs {
		outputs.AppendRow([]any{out.Name, out.Type, fmt.Sprintf("[N, %d]", out.Width)})
	}
	outputs.Render()
}
