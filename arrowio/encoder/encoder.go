package encoder

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/eerf-stream/eerf/scoring"
)

// Kind is how a column's values are read. See the package documentation for the Arrow types of
// each.
type Kind string

// The kinds of columns.
const (
	Numeric  Kind = "numeric"
	Bool     Kind = "bool"
	Category Kind = "category"
	Vector   Kind = "vector"
	// Time is a date or an instant, Clock a time of day.
	Time  Kind = "time"
	Clock Kind = "clock"
)

// The settings of Options.NaN.
const (
	NaNReject  = "reject"
	NaNMissing = "missing"
)

// The settings of Encoder.Standardize.
const (
	StandardizeNumeric = "numeric"
	StandardizeAll     = "all"
	StandardizeNone    = "none"
)

// TailLog is the setting of Encoder.Tail.
const TailLog = "log"

// Limits of an encoder. They bound the memory that a hostile or faulty encoder can take.
const (
	// MaxDim bounds the dimensions of an encoded row.
	MaxDim = 1 << 16
	// MaxClasses bounds the classes of a label, also configured ones.
	MaxClasses = 1024
	// MaxCategoryBytes bounds one category or class name; longer strings are text, not categories.
	MaxCategoryBytes = 256
	// MaxMagnitude bounds an encoded feature. With 4096 such features and a Gaussian ω the square
	// of ωᵀx, which the arc-cosine map of order 2 forms, still fits float32; far beyond it one row
	// could turn a sum into infinity for good.
	MaxMagnitude = 1e15
	// MaxClip bounds Options.Clip, so that no value exceeds MaxMagnitude, even after its logarithm
	// is undone.
	MaxClip = 1e8
)

// Column is one feature column with its calibration statistics.
type Column struct {
	// Name is the column's name in every record.
	Name string `json:"name"`
	// Kind is how the values are read.
	Kind Kind `json:"kind"`
	// Form is how its text is read.
	Form
	// Width is the number of dimensions: first the values (1, the number of categories, or the
	// length of a vector), then one for other values, one for each effect, or two for each cycle,
	// then one for missing values.
	Width int `json:"width"`
	// Mean holds the calibration mean of each dimension for values. It is subtracted if the column
	// is standardized, and replaces nulls. A category has none. If everything is standardized, it
	// covers all dimensions.
	Mean []float64 `json:"mean,omitempty" bound:"list 65536"`
	// Scale holds the divisors that go with Mean, above zero; empty if the column is not
	// standardized.
	Scale []float64 `json:"scale,omitempty" bound:"list 65536"`
	// Low and High bound each dimension of numbers and times, in the column's unit: a value beyond
	// a bound counts as the bound. Both are empty if the column is not clipped.
	Low  []float64 `json:"low,omitempty" bound:"list 65536"`
	High []float64 `json:"high,omitempty" bound:"list 65536"`
	// Categories are the values of a category column in ascending byte order, one dimension each.
	Categories []string `json:"categories,omitempty" bound:"list 65536 of 256"`
	// Other is set if a category column has a dimension that is 1 for every value not among
	// Categories.
	Other bool `json:"other,omitempty"`
	// Effects are the label's means by value, of a category column with more values than
	// dimensions; their dimensions follow those of values.
	Effects *Effects `json:"effects,omitempty"`
	// Cycles are the cycles for which a time column has dimensions, see [Cycle], in the order of the
	// constants.
	Cycles []Cycle `json:"cycles,omitempty" bound:"list 3"`
	// Missing is set if the column has a last dimension that is 1 where its value is missing.
	Missing bool `json:"missing,omitempty"`
}

// Label is the label's columns and the meaning of their values.
type Label struct {
	// Columns are the label's columns: one, or several for a regression with several outputs.
	Columns []string `json:"columns" bound:"list 1024"`
	// Kind is how the label is read: numeric for regression; numeric, bool or category for classes.
	Kind Kind `json:"kind"`
	// Form is how its text is read.
	Form
	// Task is the learning task.
	Task scoring.Task `json:"task"`
	// Classes are the class names by class number. Numbers are in their shortest form, whole ones
	// without a fraction ("3"), booleans are "false" and "true". Of two classes the second is +1.
	Classes []string `json:"classes,omitempty" bound:"list 1024 of 256"`
	// Mean is the calibration mean of each output of a regression, subtracted from the label.
	Mean []float64 `json:"mean,omitempty" bound:"list 65536"`
	// Min and Max are the configured bounds of a regression label, inclusive, for every output; nil
	// means no bound.
	Min *float64 `json:"min,omitempty"`
	Max *float64 `json:"max,omitempty"`
	// Transform is applied to a regression label before its mean is subtracted; the bounds apply to
	// the untransformed label.
	Transform Transform `json:"transform,omitempty"`
}

// Encoder turns an event's columns into x in R^Dim. It is immutable once made and safe to share;
// each goroutine has its own [Rows]. One that came over the wire needs [Encoder.Validate].
type Encoder struct {
	// Columns are the feature columns; their dimensions follow each other in this order.
	Columns []Column `json:"columns" bound:"list 65536"`
	// Clip is the magnitude beyond which standardized dimensions are cut, or continue as Tail
	// describes; 0 means no clipping.
	Clip float64 `json:"clip"`
	// Tail is TailLog if numbers beyond the clip, in vectors too, continue as logarithms; empty if
	// they stay at ±Clip.
	Tail string `json:"tail,omitempty"`
	// Standardize is "numeric", "all" or "none".
	Standardize string `json:"standardize"`
	// NaN is "missing" if a NaN feature counts as missing; empty if it rejects the row.
	NaN string `json:"nan,omitempty"`
	// NullWords are texts and numbers that mean a missing value, in addition to [DefaultNullWords].
	NullWords []string `json:"null_values,omitempty" bound:"list 64 of 64"`
	// Label is nil if rows never have one.
	Label *Label `json:"label,omitempty"`
	// Passthrough are columns copied to the output along with the features.
	Passthrough []string `json:"passthrough,omitempty" bound:"list 65536"`
	// Dim is the number of dimensions, the sum of the columns' widths.
	Dim int `json:"dim"`
}

// Outputs returns K, the number of outputs of the label's targets: the columns of a regression, 1
// for two classes, else the number of classes.
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

// CheckOutputs returns an error if there are more outputs than a process has memory for; 0 = any.
func (e *Encoder) CheckOutputs(most int) error {
	if n := e.Outputs(); most > 0 && n > most {
		return fmt.Errorf("label %s has %d outputs, and this process has memory for %d: raise events.max_classes, or set "+
			"events.classes as in the process that plans", listed(e.Label.Columns, ", "), n, most)
	}
	return nil
}

// FeatureNames returns one name per dimension: "age", "age, missing", "workclass=Private",
// "workclass, other", "pixels[3]", "ordered, hour of day", "ordered, hour of day (sin)".
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

// values returns how many dimensions hold the column's values themselves. These come first.
func (c *Column) values() int {
	switch c.Kind {
	case Category:
		return len(c.Categories)
	case Vector:
		return c.Width
	default:
		return 1
	}
}

// dimensions returns how many dimensions the column has according to its other fields.
func (c *Column) dimensions() int {
	return c.values() + int(count(c.Other)) + c.Effects.outputs() + c.CycleDims()*len(c.Cycles) + int(count(c.Missing))
}

// moments returns how many means and scales the column has under a setting.
func (c *Column) moments(standardize string) (means, scales int) {
	if standardize == StandardizeAll {
		return c.Width, c.Width
	}
	if c.Kind == Category {
		return 0, 0
	}
	if standardizes(standardize, c.Kind) {
		scales = c.values()
	}
	return c.values(), scales
}

// dimensionName returns the name of dimension j of the column.
func (c *Column) dimensionName(j int) string {
	values := c.values()
	if output, ok := c.isEffect(j); ok {
		return c.effectName(output)
	}
	switch {
	case c.Missing && j == c.Width-1:
		return c.Name + ", missing"
	case j >= values && c.Kind == Category:
		return c.Name + ", other"
	case j >= values:
		dims := c.CycleDims()
		return c.Name + ", " + c.Cycles[(j-values)/dims].facts().name + cycleNames[(j-values)%dims]
	case c.Kind == Category:
		return c.Name + "=" + c.Categories[j]
	case c.Kind == Vector:
		return c.Name + "[" + strconv.Itoa(j) + "]"
	default:
		return c.Name
	}
}

// CanonicalJSON returns the one JSON form of the encoder, the input of hashes: keys in the order of
// the struct fields, empty lists left out, floats in their shortest exact form. Decoding it gives
// an encoder with the same bits. It fails for an encoder that [Encoder.Validate] refuses.
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

// standardizes reports whether a setting standardizes the columns of a kind.
func standardizes(setting string, k Kind) bool {
	switch setting {
	case StandardizeAll:
		return true
	case StandardizeNumeric:
		return isNumeric(k) || isTime(k)
	default:
		return false
	}
}

// Origins returns for each dimension of an encoded row the number of its event column, in the order
// of the columns.
func (e *Encoder) Origins() []int32 {
	origins, numbers := make([]int32, 0, e.Dim), map[string]int32{}
	for _, c := range e.Columns {
		number, known := numbers[c.Name]
		if !known {
			number = int32(len(numbers))
			numbers[c.Name] = number
		}
		for range c.Width {
			origins = append(origins, number)
		}
	}
	return origins
}
