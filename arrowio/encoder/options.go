package encoder

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The settings of Options.Task.
const (
	TaskAuto           = "auto"
	TaskRegression     = "regression"
	TaskClassification = "classification"
)

// DefaultClip is the usual bound beyond which standardized numbers are logarithms. At five standard
// deviations an outlier still counts as one, but a single wild value no longer decides a score.
const DefaultClip = 5

// DefaultMaxCategories is the usual bound on the categories of a string column. Rarer values share
// a dimension.
const DefaultMaxCategories = 50

// DefaultMaxClasses is the usual bound on the classes of a label that are not configured.
const DefaultMaxClasses = 256

// DefaultMissingIndicator is the usual share of missing values above which a column gets a
// dimension that marks them.
const DefaultMissingIndicator = 0.01

// DefaultCalibrationRows is the usual number of rows of a file, or of a partition, that a
// calibrator sees: a sample of all of them.
const DefaultCalibrationRows = 10000

// Options configure a calibrator. The zero value, except for Clip, means the defaults.
type Options struct {
	// Features are the feature columns, in the order of their dimensions. Empty means every column
	// that can be read (see the package documentation), in the order of the first record, except
	// the label, the passthrough and the excluded columns, and columns that look like identifiers
	// or text (see [Calibrator]).
	Features []string `json:"features,omitempty"`
	// Include are columns that are features even if they look like identifiers or text.
	Include []string `json:"include,omitempty"`
	// Types are the declared types of columns, by name: see [DeclaredTypes]. The types of others
	// are decided by their calibration rows.
	Types map[string]string `json:"types,omitempty"`
	// Exclude are columns that are never features.
	Exclude []string `json:"exclude,omitempty"`
	// Passthrough are columns to copy along with the features; they are features only if Features
	// names them too.
	Passthrough []string `json:"passthrough,omitempty"`
	// Label is the label column, or several for a regression with several outputs. Empty means
	// none.
	Label []string `json:"label,omitempty"`
	// Task is "auto" (the default: numbers are regression, strings and booleans classes),
	// "regression" or "classification".
	Task string `json:"task,omitempty"`
	// Classes are the class names in the order of their numbers. Empty means the classes seen in
	// calibration, numbers in numeric order, strings in byte order.
	Classes      []string `json:"classes,omitempty"`
	classesFound bool     // Classes come from a [LabelCounter]
	labelForm    Form     // of a label of strings that are numbers, from a [LabelCounter]
	nulls        *nullWords
	preferComma  bool // doubtful commas of the label are decimal ones
	// ClassMinRows is how many labelled rows a class needs to be learned where Classes is empty.
	// The two commonest need none: a label with one bad value is not a label of three classes.
	ClassMinRows int64 `json:"class_min_rows,omitempty"`
	// MaxClasses bounds the classes that are learned where Classes is empty: every sum, model and
	// row has a number for each. A label of more classes is refused; 0 means DefaultMaxClasses.
	MaxClasses int `json:"max_classes,omitempty"`
	// Clip is the magnitude beyond which standardized numbers are logarithms, and other dimensions
	// are cut; 0 means no clipping.
	Clip float64 `json:"clip"`
	// Standardize is "numeric" (the default), "all" or "none".
	Standardize string `json:"standardize,omitempty"`
	// MaxCategories bounds the categories of a string feature to the commonest values; 0 means
	// DefaultMaxCategories.
	MaxCategories int `json:"max_categories,omitempty"`
	// MissingIndicator is the share of calibration rows without a value above which a column has a
	// dimension that marks missing values; 1 means never, 0 DefaultMissingIndicator.
	MissingIndicator float64 `json:"missing_indicator,omitempty"`
	// NullWords are texts and numbers that mean a missing value, in addition to [DefaultNullWords].
	NullWords []string `json:"null_values,omitempty"`
	// NaN is the effect of a NaN feature: it counts as "missing" (the default) or "reject"s its
	// row.
	NaN string `json:"nan,omitempty"`
	// LabelMin and LabelMax bound a regression label, inclusive; nil means no bound.
	LabelMin *float64 `json:"label_min,omitempty"`
	LabelMax *float64 `json:"label_max,omitempty"`
	// LabelTransform is the transform of a regression label: "none" (the default), "log" or
	// "log1p".
	LabelTransform string `json:"label_transform,omitempty"`
}

// Validate returns every fault of the options, joined, each with its key and value.
func (o Options) Validate() error {
	return errors.Join(slices.Concat(o.valueFaults(), o.typeFaults(), o.nameFaults())...)
}

// valueFaults checks the settings one by one.
func (o Options) valueFaults() []error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if !slices.Contains([]string{"", TaskAuto, TaskRegression, TaskClassification}, o.Task) {
		add("task %q is not one of auto, regression, classification", o.Task)
	}
	if !slices.Contains([]string{"", StandardizeNumeric, StandardizeAll, StandardizeNone}, o.Standardize) {
		add("standardize %q is not one of numeric, all, none", o.Standardize)
	}
	if !(o.Clip >= 0 && o.Clip <= MaxClip) {
		add("clip %v is not in 0..%g", o.Clip, float64(MaxClip))
	}
	if o.MaxCategories < 0 || o.MaxCategories > MaxDim {
		add("max_categories %d is not in 0..%d", o.MaxCategories, MaxDim)
	}
	if o.MaxClasses != 0 && (o.MaxClasses < 2 || o.MaxClasses > MaxClasses) {
		add("max_classes %d is not in 2..%d", o.MaxClasses, MaxClasses)
	}
	if !(o.MissingIndicator >= 0 && o.MissingIndicator <= 1) {
		add("missing_indicator %v is not in 0..1", o.MissingIndicator)
	}
	if !slices.Contains([]string{"", NaNReject, NaNMissing}, o.NaN) {
		add("nan %q is not one of reject, missing", o.NaN)
	}
	if fault := nullWordFault(o.NullWords); fault != "" {
		add("%s", fault)
	}
	if n := len(o.Classes); n == 1 || n > MaxClasses {
		add("classes has %d names, want 2..%d, or none to take the classes of the calibration rows", n, MaxClasses)
	}
	if name, found := repeated(o.Classes); found {
		add("classes names %q twice", name)
	}
	return append(faults, boundFaults("label_min", o.LabelMin, "label_max", o.LabelMax)...)
}

// nameFaults checks the column lists against themselves and each other.
func (o Options) nameFaults() []error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	lists := []struct {
		key   string
		names []string
	}{
		{"features", o.Features},
		{"include", o.Include},
		{"exclude", o.Exclude},
		{"passthrough", o.Passthrough},
		{"label", o.Label},
	}
	for _, l := range lists {
		if name, found := repeated(l.names); found {
			add("%s names %q twice", l.key, name)
		}
	}
	if both := shared(o.Label, o.Features); both != "" {
		add("columns both in label and features: %s", both)
	}
	if both := shared(o.Exclude, o.Features); both != "" {
		add("columns both in exclude and features: %s", both)
	}
	if both := shared(slices.Concat(o.Exclude, o.Label), o.Include); both != "" {
		add("columns in include and in exclude or label: %s", both)
	}
	if both := shared(o.Label, o.Passthrough); both != "" {
		add("columns both in label and passthrough: %s (the label is always carried along)", both)
	}
	return slices.Concat(faults, o.labelFaults(), o.transformFaults())
}

// labelFaults checks that the settings of the label go together.
func (o Options) labelFaults() []error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if len(o.Label) > 1 && (o.Task == TaskClassification || len(o.Classes) > 0) {
		add("label names %d columns (%s), classification takes one", len(o.Label), strings.Join(o.Label, ", "))
	}
	if len(o.Label) == 0 && (len(o.Classes) > 0 || o.LabelMin != nil || o.LabelMax != nil) {
		add("classes, label_min and label_max need a label")
	}
	if o.Task == TaskRegression && len(o.Classes) > 0 {
		add("classes are for classification, task is regression")
	}
	if (o.Task == TaskClassification || len(o.Classes) > 0) && (o.LabelMin != nil || o.LabelMax != nil) {
		add("label_min and label_max are for regression, the label is a class")
	}
	return faults
}

// withDefaults returns the options with zeros that mean a default replaced by it.
func (o Options) withDefaults() Options {
	if o.Task == "" {
		o.Task = TaskAuto
	}
	if o.Task == TaskAuto && len(o.Classes) > 0 {
		o.Task = TaskClassification
	}
	if o.Standardize == "" {
		o.Standardize = StandardizeNumeric
	}
	if o.NaN == "" {
		o.NaN = NaNMissing
	}
	if o.MissingIndicator == 0 {
		o.MissingIndicator = DefaultMissingIndicator
	}
	if o.MaxCategories == 0 {
		o.MaxCategories = DefaultMaxCategories
	}
	o.nulls = newNullWords(o.NullWords)
	if o.MaxClasses == 0 {
		o.MaxClasses = DefaultMaxClasses
	}
	return o
}

// boundFaults checks a pair of bounds.
func boundFaults(minKey string, lo *float64, maxKey string, hi *float64) []error {
	var faults []error
	if lo != nil && !finite(*lo) {
		faults = append(faults, fmt.Errorf("%s %v is not finite", minKey, *lo))
	}
	if hi != nil && !finite(*hi) {
		faults = append(faults, fmt.Errorf("%s %v is not finite", maxKey, *hi))
	}
	if lo != nil && hi != nil && *lo > *hi {
		faults = append(faults, fmt.Errorf("%s %v is above %s %v", minKey, *lo, maxKey, *hi))
	}
	return faults
}

// repeated returns a name that is in the list more than once.
func repeated(names []string) (string, bool) {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if seen[n] {
			return n, true
		}
		seen[n] = true
	}
	return "", false
}

// shared returns the names that are in both lists, joined.
func shared(a, b []string) string {
	var both []string
	for _, n := range a {
		if slices.Contains(b, n) {
			both = append(both, n)
		}
	}
	return strings.Join(both, ", ")
}

// finite reports whether v is neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
