package compare

import (
	"cmp"
	"fmt"

	"gonum.org/v1/gonum/stat"
)

// Table is the comparison at one M.
type Table struct {
	M int `json:"m"`
	// Constant is the mean error of the constant predictor, in percent.
	Constant float64 `json:"constant_error"`
	// Conclusion summarises the errors of the table in a sentence.
	Conclusion string `json:"conclusion,omitempty"`
	Lines      []Line `json:"lines"`
}

// Line is a method at one M, over the measured repeats.
type Line struct {
	Method   string `json:"method"`
	Features int    `json:"features"`
	Repeats  int    `json:"repeats"`
	// Error is in percent; Difference is Error minus the error of plain features, paired by seed.
	Error      Mean  `json:"error"`
	Difference *Mean `json:"difference,omitempty"`
	// Measures are the means of the measures on the test rows, by name: see
	// [training.Measures.Figures].
	Measures map[string]Mean `json:"measures,omitempty"`
	// Seconds are means over the repeats.
	Preprocess float64 `json:"preprocess_seconds"`
	Train      float64 `json:"train_seconds"`
	Test       float64 `json:"test_seconds"`
	// Note is the commonest note of the runs, Failure the first failure.
	Note    string `json:"note,omitempty"`
	Failure string `json:"failure,omitempty"`
	// Best means that the error is smaller than every other method's, by more than noise. If no
	// line is best, Tied marks the smallest error and those within noise of it.
	Best bool `json:"best,omitempty"`
	Tied bool `json:"within_noise_of_best,omitempty"`
}

// cell collects the runs of a method at one M.
type cell struct {
	runs []Measurement
	// rowLoss sums the losses of each test row over the repeats; nil if the test rows change.
	rowLoss []float64
}

// add adds a run, and its losses if the test rows are fixed.
func (c *cell) add(run Measurement, m *measured, fixed bool) {
	c.runs = append(c.runs, run)
	if m == nil || !fixed {
		return
	}
	if c.rowLoss == nil {
		c.rowLoss = make([]float64, len(m.rowLoss))
	}
	for i, v := range m.rowLoss {
		c.rowLoss[i] += v
	}
}

// errors returns the errors by repeat.
func (c *cell) errors() map[int]float64 {
	errors := make(map[int]float64, len(c.runs))
	for _, run := range c.runs {
		if run.Failure == "" {
			errors[run.Repeat] = run.Error
		}
	}
	return errors
}

// line summarises the runs of a cell; plain is the cell of plain features, or nil.
func (c *cell) line(method string, plain *cell) Line {
	l := Line{Method: method}
	var errors, preprocess, train, test []float64
	for _, run := range c.runs {
		if run.Failure != "" {
			l.Failure = cmp.Or(l.Failure, run.Failure)
			continue
		}
		l.Features = run.Features
		errors = append(errors, run.Error)
		preprocess = append(preprocess, run.Preprocess)
		train = append(train, run.Train)
		test = append(test, run.Test)
	}
	l.Repeats, l.Note = len(errors), c.note()
	if l.Repeats == 0 {
		return l
	}
	l.Error = meanOf(errors)
	l.Preprocess = stat.Mean(preprocess, nil)
	l.Train = stat.Mean(train, nil)
	l.Test = stat.Mean(test, nil)
	l.Measures = c.measures()
	if plain != nil && plain != c {
		if diffs := differences(c.errors(), plain.errors()); len(diffs) > 0 {
			mean := meanOf(diffs)
			l.Difference = &mean
		}
	}
	return l
}

// measures returns the means of the figures that every successful run has.
func (c *cell) measures() map[string]Mean {
	values, runs := map[string][]float64{}, 0
	for _, run := range c.runs {
		if run.Failure != "" {
			continue
		}
		runs++
		for _, figure := range run.Measures.Figures() {
			values[figure.Name] = append(values[figure.Name], figure.Value)
		}
	}
	means := make(map[string]Mean, len(values))
	for name, list := range values {
		if len(list) == runs {
			means[name] = meanOf(list)
		}
	}
	return means
}

// beatsConstant reports whether the predictions are better than a constant: in the error, or in the
// log loss, which can improve for rare classes when decisions do not change.
func (l *Line) beatsConstant(constant float64) bool {
	ours, theirs := l.Measures["log_loss"], l.Measures["constant_log_loss"]
	return l.Repeats > 0 && (l.Error.Mean < constant || ours.Mean < theirs.Mean)
}

// note returns the commonest note, with the number of its runs unless all have it.
func (c *cell) note() string {
	counts, commonest := map[string]int{}, ""
	for _, run := range c.runs {
		if run.Note == "" {
			continue
		}
		if counts[run.Note]++; counts[run.Note] > counts[commonest] {
			commonest = run.Note
		}
	}
	if n := counts[commonest]; n > 0 && n < len(c.runs) {
		return fmt.Sprintf("%s (%d of %d)", commonest, n, len(c.runs))
	}
	return commonest
}
