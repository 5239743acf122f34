package encoder

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/eerf-stream/eerf/scoring"
)

// Kind says how a column's values are read. See the package documentation for the Arrow types of each.
type Kind string

// The kinds of column.
const (
	Numeric  Kind = "numeric"
	Bool     Kind = "bool"
	Category Kind = "category"
	Vector   Kind = "vector"
)

// The settings of Encoder.Standardize.
const (
	StandardizeNumeric = "numeric"
	StandardizeAll     = "all"
	StandardizeNone    = "none"
)

// Limits on what an encoder may hold. They bound what a hostile or mistaken one can allocate.
const (
	// MaxDim bounds the dimensions of an encoded row.
	MaxDim = 1 << 16
	// MaxClasses bounds the classes of a label.
	MaxClasses = 1024
	// MaxCategoryBytes bounds one category or class name; longer strings are text, not categories.
	MaxCategoryBytes = 256
	// MaxMagnitude bounds an encoded feature. With 4096 such features and a Gaussian ω the square of
	// ωᵀx, which the arc-cosine map of order 2 forms, still fits float32; far beyond it one row could
	// turn a sum into infinity for good.
	MaxMagnitude = 1e15
)

// Column is one feature column and what calibration learned about it.
type Column struct {
	// Name is the column's name in every record.
	Name string `json:"name"`
	// Kind says how the values are read.
	Kind Kind `json:"kind"`
	// Width is the number of dimensions: 1 for numeric and bool, the number of categories, the length
	// of a vector.
	Width int `json:"width"`
	// Mean holds the calibration mean of each dimension: what is subtracted when the column is
	// standardized, and what replaces a null. Empty for a category that is not standardized.
	Mean []float64 `json:"mean,omitempty"`
	// Scale holds the divisor of each dimension, above zero; empty when the column is not standardized.
	Scale []float64 `json:"scale,omitempty"`
	// Categories are the values of a category column in ascending byte order, one dimension each.
	Categories []string `json:"categories,omitempty"`
}

// Label says which columns are the label and what its values mean.
type Label struct {
	// Columns are the label's columns: one, or several for a regression with several outputs.
	Columns []string `json:"columns"`
	// Kind is how the label is read: numeric for regression; numeric, bool or category for classes.
	Kind Kind `json:"kind"`
	// Task says what the label is for.
	Task scoring.Task `json:"task"`
	// Classes are the class names by class number. Numbers are written in their shortest form, whole
	// ones without a fraction ("3"), booleans as "false" and "true". Of two classes the later is +1.
	Classes []string `json:"classes,omitempty"`
	// Mean is the calibration mean of each output of a regression, subtracted from the label.
	Mean []float64 `json:"mean,omitempty"`
	// Min and Max are the configured bounds of a regression label, inclusive, for every output; nil
	// means no bound.
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
	// Transform is applied to a regression label before its mean is subtracted; the bounds are of the label as it comes.
	Transform Transform `json:"transform,omitempty"`
}

// Encoder is what turns an event's columns into x in R^Dim. It is immutable once made and safe to
// share; the goroutine's own part is in [Rows]. One that came over the wire needs [Encoder.Validate].
type Encoder struct {
	// Columns are the feature columns; their dimensions follow each other in this order.
	Columns []Column `json:"columns"`
	// Clip bounds standardized dimensions to ±Clip; 0 means no clipping.
	Clip float64 `json:"clip"`
	// Standardize is "numeric", "all" or "none".
	Standardize string `json:"standardize"`
	// Label is nil for rows that never have one.
	Label *Label `json:"label,omitempty"`
	// Passthrough are columns carried beside the features, for whoever writes the output.
	Passthrough []string `json:"passthrough,omitempty"`
	// Dim is the number of dimensions, the sum of the columns' widths.
	Dim int `json:"dim"`
}

// Outputs returns K, the number of outputs of the label's targets: the columns of a regression, 1 for
// two classes, else the number of classes.
func (l *Label) Outputs() int {
	switch l.Task {
	case scoring.Regression:
		return len(l.Columns)
	case scoring.Binary:
		return 1
	case scoring.MultiClass:
		return len(l.Classes)
	}
	return 0 // a task that Validate refuses
}

// Outputs returns the number of outputs of the label's targets, 0 without a label.
func (e *Encoder) Outputs() int {
	if e.Label == nil {
		return 0
	}
	return e.Label.Outputs()
}

// FeatureNames returns one name per dimension: "age", "workclass=Private", "pixels[3]".
func (e *Encoder) FeatureNames() []string {
	names := make([]string, 0, e.Dim)
	for i := range e.Columns {
		c := &e.Columns[i]
		for j := range c.Width {
			names = append(names, c.dimensionName(j))
		}
	}
	return names
}

// dimensionName returns the name of dimension j of the column.
func (c *Column) dimensionName(j int) string {
	switch c.Kind {
	case Category:
		return c.Name + "=" + c.Categories[j]
	case Vector:
		return c.Name + "[" + strconv.Itoa(j) + "]"
	default:
		return c.Name
	}
}

// CanonicalJSON returns the one JSON form of the encoder, the input of hashes: keys in the order of
// the struct fields, empty lists left out, floats in their shortest exact form. Decoding it gives an
// encoder with the same bits. It fails for an encoder that [Encoder.Validate] refuses.
func (e *Encoder) CanonicalJSON() ([]byte, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encoder as JSON: %w", err)
	}
	return text, nil
}

// standardizes reports whether the dimensions of a column of that kind are standardized.
func (e *Encoder) standardizes(k Kind) bool { return standardizes(e.Standardize, k) }

// standardizes reports whether a setting standardizes the columns of a kind.
func standardizes(setting string, k Kind) bool {
	switch setting {
	case StandardizeAll:
		return true
	case StandardizeNumeric:
		return isNumeric(k)
	default:
		return false
	}
}
