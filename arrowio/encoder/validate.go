package encoder

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/eerf-stream/eerf/scoring"
)

// Validate returns the faults of an encoder that came from elsewhere: lists whose lengths disagree,
// numbers that are not finite, a scale that is not above zero, names out of order or duplicated,
// dimensions beyond the limits. An encoder without faults encodes any record of its schema without
// panicking, and every X it gives is finite. One made by a [Calibrator] is always valid.
func (e *Encoder) Validate() error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if !slices.Contains([]string{StandardizeNumeric, StandardizeAll, StandardizeNone}, e.Standardize) {
		add("standardize %q is not one of numeric, all, none", e.Standardize)
	}
	if e.NaN != "" && e.NaN != NaNMissing {
		add("nan %q is neither missing nor absent", e.NaN)
	}
	if !(e.Clip >= 0 && e.Clip <= MaxMagnitude) {
		add("clip %v is not in 0..%g", e.Clip, float64(MaxMagnitude))
	}
	switch {
	case e.Tail != "" && e.Tail != TailLog:
		add("tail %q is neither log nor absent", e.Tail)
	case e.Tail != "" && !(e.Clip > 0 && e.Clip <= MaxClip):
		add("tail %q with clip %v, which is not in 0..%g", e.Tail, e.Clip, float64(MaxClip))
	}
	if fault := nullWordFault(e.NullWords); fault != "" {
		add("%s", fault)
	}
	faults = append(faults, e.columnFaults()...)
	if e.Label != nil {
		faults = append(faults, e.Label.faults(e)...)
	}
	if name, found := repeated(e.Passthrough); found {
		add("passthrough names %q twice", name)
	}
	for _, name := range e.Passthrough {
		if !utf8.ValidString(name) {
			add("passthrough name %q is not valid UTF-8", name)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("invalid encoder: %w", errors.Join(faults...))
}

// columnFaults checks the feature columns and their sum.
func (e *Encoder) columnFaults() []error {
	if len(e.Columns) == 0 || len(e.Columns) > MaxDim {
		return []error{fmt.Errorf("%d feature columns, want 1..%d", len(e.Columns), MaxDim)}
	}
	var faults []error
	names := make(map[string]bool, len(e.Columns))
	dim := 0
	for i := range e.Columns {
		c := &e.Columns[i]
		if names[c.Name] {
			faults = append(faults, fmt.Errorf("duplicate column %q", c.Name))
		}
		names[c.Name] = true
		err := c.validate(e.Standardize, e.Clip > 0)
		if err == nil && c.Effects != nil {
			err = c.Effects.validate(e.Outputs())
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("column %q: %w", c.Name, err))
			continue
		}
		dim += c.Width // at most MaxDim columns of at most MaxDim: no overflow
	}
	if len(faults) == 0 && (dim != e.Dim || dim > MaxDim) {
		faults = append(faults, fmt.Errorf("dim %d, the columns have %d together, at most %d is allowed", e.Dim, dim, MaxDim))
	}
	return faults
}

// validate returns the first fault of a column.
func (c *Column) validate(standardize string, clipped bool) error {
	if err := c.validateShape(); err != nil {
		return err
	}
	means, scales := c.moments(standardize)
	if len(c.Mean) != means || len(c.Scale) != scales {
		return fmt.Errorf("%d means and %d scales, want %d and %d", len(c.Mean), len(c.Scale), means, scales)
	}
	if err := c.validateBounds(clipped && scales > 0); err != nil {
		return err
	}
	for j, mean := range c.Mean {
		if err := c.validateMean(j, mean, scales > 0); err != nil {
			return fmt.Errorf("dimension %d: %w", j, err)
		}
	}
	for j, scale := range c.Scale {
		if !(scale > 0) || math.IsInf(scale, 0) {
			return fmt.Errorf("dimension %d: scale %v is not finite and above 0", j, scale)
		}
		if c.bounded(j) && !clipped && scale < 1/MaxMagnitude {
			return fmt.Errorf("dimension %d: scale %v of a bounded dimension is below %g", j, scale, 1/MaxMagnitude)
		}
	}
	return nil
}

// validateBounds checks the bounds of values.
func (c *Column) validateBounds(clipped bool) error {
	want := 0
	if clipped && len(c.Low) > 0 && (isNumeric(c.Kind) || isTime(c.Kind)) {
		want = c.values()
	}
	if len(c.Low) != want || len(c.High) != want {
		return fmt.Errorf("%d lower and %d upper bounds of a %s column, want %d", len(c.Low), len(c.High), c.Kind, want)
	}
	for j, low := range c.Low {
		if high := c.High[j]; !finite(low) || !finite(high) || !(low <= c.Mean[j] && c.Mean[j] <= high) {
			return fmt.Errorf("dimension %d: bounds %v and %v, want finite ones around the mean %v", j, low, high, c.Mean[j])
		}
	}
	return nil
}

// validateShape checks kind, width and categories.
func (c *Column) validateShape() error {
	if !utf8.ValidString(c.Name) {
		return errors.New("the name is not valid UTF-8")
	}
	if c.Width < 1 || c.Width > MaxDim {
		return fmt.Errorf("width %d is not in 1..%d", c.Width, MaxDim)
	}
	switch c.Kind {
	case Numeric, Bool, Time, Clock, Vector:
		if len(c.Categories) > 0 || c.Other || c.Effects != nil {
			return fmt.Errorf("categories in a %s column", c.Kind)
		}
	case Category:
		if len(c.Categories) == 0 {
			return errors.New("no categories")
		}
		if err := validateCategories(c.Categories); err != nil {
			return err
		}
	default:
		return fmt.Errorf("kind %q is not one of numeric, bool, category, vector, time, clock", c.Kind)
	}
	if err := c.Form.validate(c.Kind); err != nil {
		return err
	}
	if c.Missing && c.Kind == Vector {
		return errors.New("a dimension for missing values in a vector column")
	}
	if err := c.validateCycles(); err != nil {
		return err
	}
	if want := c.dimensions(); c.Width != want {
		return fmt.Errorf("width %d of a %s column that has %d dimensions", c.Width, c.Kind, want)
	}
	return nil
}

// validateCycles checks that the cycles are known, in order, and allowed for the kind.
func (c *Column) validateCycles() error {
	next := 0
	for _, cycle := range c.Cycles {
		at := slices.IndexFunc(cycles[next:], func(f cycleFacts) bool { return f.cycle == cycle })
		if at < 0 {
			return fmt.Errorf("cycle %q is unknown, or out of the order day, week, year", cycle)
		}
		next += at + 1
	}
	if len(c.Cycles) > 0 && !isTime(c.Kind) || c.Kind == Clock && next > 1 {
		return fmt.Errorf("cycles %v in a %s column", c.Cycles, c.Kind)
	}
	return nil
}

// validateCategories checks that the values are distinct, in order, and could have been learned.
func validateCategories(values []string) error {
	for i, v := range values {
		if !learnable(v) {
			return fmt.Errorf("category %d is not valid UTF-8 of at most %d bytes", i, MaxCategoryBytes)
		}
		if i > 0 && values[i-1] >= v {
			return fmt.Errorf("category %q follows %q: not in ascending order", v, values[i-1])
		}
	}
	return nil
}

// learnable reports whether a string may be a category or a class. Only valid UTF-8 survives JSON.
func learnable(v string) bool { return len(v) <= MaxCategoryBytes && utf8.ValidString(v) }

// bounded reports whether dimension j of the column is within -1 and 1 before it is standardized;
// indicates reports whether it is 0 or 1.
func (c *Column) bounded(j int) bool {
	_, effect := c.isEffect(j)
	return c.indicates(j) || j >= c.values() && !effect
}

func (c *Column) indicates(j int) bool {
	if _, effect := c.isEffect(j); effect {
		return false
	}
	return c.Kind == Bool || c.Kind == Category || c.Missing && j == c.Width-1
}

// validateMean checks the mean of dimension j.
func (c *Column) validateMean(j int, mean float64, standardized bool) error {
	switch {
	case !finite(mean):
		return fmt.Errorf("mean %v is not finite", mean)
	case c.indicates(j) && (mean < 0 || mean > 1):
		return fmt.Errorf("mean %v of an indicator is not in 0..1", mean)
	case c.bounded(j) && (mean < -1 || mean > 1):
		return fmt.Errorf("mean %v of a cycle is not in -1..1", mean)
	case !standardized && math.Abs(mean) > MaxMagnitude:
		return fmt.Errorf(
			"mean %v is beyond %g, too large for a feature: standardize the column or leave it out",
			mean, float64(MaxMagnitude),
		)
	default:
		return nil
	}
}

// faults checks the label against itself and the feature columns.
func (l *Label) faults(e *Encoder) []error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf("label: "+format, args...)) }
	if len(l.Columns) == 0 || len(l.Columns) > MaxClasses {
		add("%d columns, want 1..%d", len(l.Columns), MaxClasses)
	}
	if name, found := repeated(l.Columns); found {
		add("duplicate column %q", name)
	}
	for i := range e.Columns {
		if slices.Contains(l.Columns, e.Columns[i].Name) {
			add("column %q is a feature as well", e.Columns[i].Name)
		}
	}
	for _, name := range l.Columns {
		if !utf8.ValidString(name) {
			add("column name %q is not valid UTF-8", name)
		}
	}
	switch l.Task {
	case scoring.Regression:
		return append(faults, l.regressionFaults()...)
	case scoring.Binary, scoring.MultiClass:
		return append(faults, l.classFaults()...)
	default:
		add("task %v is unknown", l.Task)
		return faults
	}
}

// regressionFaults checks the fields of a regression.
func (l *Label) regressionFaults() []error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf("label: "+format, args...)) }
	if l.Kind != Numeric {
		add("kind %q of a regression, want numeric", l.Kind)
	}
	if len(l.Classes) > 0 {
		add("%d classes of a regression", len(l.Classes))
	}
	if len(l.Mean) != len(l.Columns) {
		add("%d means for %d columns", len(l.Mean), len(l.Columns))
	}
	for k, mean := range l.Mean {
		if !finite(mean) {
			add("mean %v of output %d is not finite", mean, k)
		}
	}
	if l.Transform == TransformNone || l.Transform != "" && !slices.Contains(LabelTransforms(), string(l.Transform)) {
		add("transform %q is not one of log, log1p", l.Transform)
	}
	return append(faults, boundFaults("label: min", l.Min, "max", l.Max)...)
}

// classFaults checks the fields of a classification.
func (l *Label) classFaults() []error {
	var faults []error
	add := func(format string, args ...any) { faults = append(faults, fmt.Errorf("label: "+format, args...)) }
	if len(l.Columns) != 1 {
		add("%d columns of a classification, want 1", len(l.Columns))
	}
	if l.Kind != Numeric && l.Kind != Bool && l.Kind != Category {
		add("kind %q is not one of numeric, bool, category", l.Kind)
	}
	if n := len(l.Classes); n < 2 || n > MaxClasses || (n == 2) != (l.Task == scoring.Binary) {
		add("%d classes for task %v, want 2 for binary and 3..%d for multiclass", n, l.Task, MaxClasses)
	}
	if name, found := repeated(l.Classes); found {
		add("duplicate class %q", name)
	}
	for _, name := range l.Classes {
		if err := checkClass(l.Kind, name); err != nil {
			add("%w", err)
		}
	}
	if len(l.Mean) > 0 || l.Min != nil || l.Max != nil || l.Transform != "" {
		add("mean, bounds or transform of a classification")
	}
	return faults
}

// checkClass returns an error unless name is the canonical name of a class for values of the kind.
func checkClass(kind Kind, name string) error {
	canonical, err := canonicalClass(kind, name)
	if err == nil && canonical != name {
		err = fmt.Errorf("class %q is written %q", name, canonical)
	}
	return err
}

// canonicalClass returns the canonical class name for values of the kind: for a numeric "3.0" it is
// "3".
func canonicalClass(kind Kind, name string) (string, error) {
	switch kind {
	case Numeric:
		v, err := strconv.ParseFloat(name, 64)
		if err != nil || !finite(v) || math.Abs(v) > maxWhole {
			return "", fmt.Errorf("class %q is not a number within ±2^53, and the label is numeric", name)
		}
		return classNumber(v), nil
	case Bool:
		if name != "false" && name != "true" {
			return "", fmt.Errorf("class %q is neither false nor true, and the label is boolean", name)
		}
	default:
		name = trimmed(name) // as the values are
		if !learnable(name) || name == "" {
			return "", fmt.Errorf("class %q is not valid UTF-8 of 1 to %d bytes", name, MaxCategoryBytes)
		}
	}
	return name, nil
}
