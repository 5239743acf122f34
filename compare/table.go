package compare

import (
	"cmp"
	"fmt"

	"gonum.org/v1/gonum/stat"
)

// Table is the comparison at one M.
type Table struct {
	M int `json:"m"`
	// Metric is the measure of the errors, for people.
	Metric string `json:"metric"`
	// Constant is the mean error of the constant predictor, ConstantMeasures its other measures.
	Constant         float64         `json:"constant_error"`
	ConstantMeasures map[string]Mean `json:"constant_measures,omitempty"`
	// Conclusion summarises the errors of the table in a sentence. Advice is the method that it
	// recommends, "" if the errors support none.
	Conclusion string `json:"conclusion,omitempty"`
	Advice     string `json:"advice,omitempty"`
	Lines      []Line `json:"lines"`
}

// Line is a method at one M, over the measured repeats.
type Line struct {
	Method   string `json:"method"`
	Features int    `json:"features"`
	Repeats  int    `json:"repeats"`
	// Error is by the measure of the comparison; Difference is Error minus the error of plain
	// features, paired by seed.
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
	// Useless means that the error is not below the constant's.
	Useless bool `json:"no_better_than_constant,omitempty"`
	// Best means that the error is smaller than every other method's, by more than noise. If no
	// line is best, Tied marks the smallest error and those within noise of it.
	Best bool `json:"best,omitempty"`
	Tied bool `json:"within_noise_of_best,omitempty"`
}

// cell collects the runs of a method at one M.
type cell struct {
	runs     []Measurement
	outcomes map[int]outcome // by repeat, of the successful runs
	// fixed means that all repeats have the same test rows, overlap is otherwise the number of test
	// rows for each training row.
	fixed   bool
	overlap float64
}

// outcome is the error of a run and the loss of each of its test rows.
type outcome struct {
	error   float64
	rowLoss []float32 // nil if unknown
}

// add adds a run, with its measures if it was successful.
func (c *cell) add(run Measurement, m *measured) {
	c.runs = append(c.runs, run)
	if m == nil {
		return
	}
	if c.outcomes == nil {
		c.outcomes = map[int]outcome{}
	}
	c.outcomes[run.Repeat] = outcome{m.error, m.rowLoss}
}

// line summarises the runs of a cell; plain is the cell of plain features, or nil.
func (c *cell) line(method string, plain *cell) Line {
	l := Line{Method: method}
	var preprocess, train, test []float64
	for _, run := range c.runs {
		if run.Failure != "" {
			l.Failure = cmp.Or(l.Failure, run.Failure)
			continue
		}
		l.Features = run.Features
		preprocess = append(preprocess, run.Preprocess)
		train = append(train, run.Train)
		test = append(test, run.Test)
	}
	l.Repeats, l.Note = len(test), c.note()
	if l.Repeats == 0 {
		return l
	}
	l.Error = c.error()
	l.Preprocess = stat.Mean(preprocess, nil)
	l.Train = stat.Mean(train, nil)
	l.Test = stat.Mean(test, nil)
	l.Measures = c.measures()
	if plain != nil && plain != c && plain.outcomes != nil {
		if len(c.common(plain)) > 0 {
			mean := c.minus(plain)
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
