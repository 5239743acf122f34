package encoder

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
)

const (
	// telltaleFrom is the correlation with an output of the label from which on a column all but
	// equals it.
	telltaleFrom = 0.995
	// telltaleRows is the smallest number of rows for this warning, telltaleClass of a class and of
	// all others.
	telltaleRows, telltaleClass = 50, 10
	// telltaleSums bounds the sums, 8 bytes each: wider rows are not checked.
	telltaleSums = 4 << 20
	// clippedFrom is the share of clipped values above which a column's report names it.
	clippedFrom = 0.001
)

// Review is a second look at calibration rows, with the encoder that was learned from them. It
// finds columns that all but equal the label: their values are often known no earlier than the
// label, such as the date of a cancellation. And it counts clipped values. It belongs to one
// goroutine and keeps at most 32 MiB.
type Review struct {
	encoder Encoder // without a bound on values
	clip    float64
	clipped []int64 // by column
	seen    int64   // rows
	rows    Rows
	n       float64   // labelled rows
	x, xx   []float64 // [Dim] sums
	y, yy   []float64 // [outputs] sums; of classes the rows of each
	xy      []float64 // [outputs·Dim]; nil = no label, or too wide
	// kept are the first labelled rows, up to telltaleKept values, and keptY their classes, or the
	// first output of a regression.
	kept  []float32
	keptY []float64
}

// NewReview returns a review of the columns of an encoder, without rows.
func NewReview(e *Encoder) *Review {
	t := &Review{encoder: *e, clip: e.Clip, clipped: make([]int64, len(e.Columns))}
	t.encoder.Clip = 0 // which Tail follows
	if e.Label == nil {
		return t
	}
	if k := e.Label.Outputs(); e.Dim*(k+2) <= telltaleSums {
		t.x, t.xx = make([]float64, e.Dim), make([]float64, e.Dim)
		t.y = make([]float64, k)
		t.yy = make([]float64, k)
		t.xy = make([]float64, k*e.Dim)
	}
	return t
}

// Add adds the rows of a record that take numbers, nil = all. The only error is a wrong schema.
func (t *Review) Add(rec arrow.Record, take []int32) error {
	if t.xy == nil && t.clip == 0 {
		return nil
	}
	if err := t.encoder.Encode(&t.rows, rec, take); err != nil {
		return err
	}
	t.countClipped()
	if t.xy == nil {
		return nil
	}
	t.rows.KeepLabelled()
	for i := range t.rows.N {
		x := t.rows.X[i*t.rows.Dim : (i+1)*t.rows.Dim]
		for j, v := range x {
			t.x[j] += float64(v)
			t.xx[j] += float64(v) * float64(v)
		}
		t.addLabel(x, i)
		t.keep(x, i)
	}
	t.n += float64(t.rows.N)
	return nil
}

// keep keeps a row for [telltales].
func (t *Review) keep(x []float32, row int) {
	if len(t.kept)+len(x) > telltaleKept {
		return
	}
	y := 0.0
	switch targets := t.rows.Targets; {
	case targets.Class != nil:
		y = float64(targets.Class[row])
	case t.encoder.Label.Task == scoring.Binary: // ±1
		y = float64(targets.Values[row]+1) / 2
	default:
		y = float64(targets.Values[row*targets.Outputs])
	}
	t.kept, t.keptY = append(t.kept, x...), append(t.keptY, y)
}

// countClipped counts the values of the rows that the encoder clips.
func (t *Review) countClipped() {
	if t.clip == 0 {
		return
	}
	t.seen += int64(t.rows.N)
	first := 0
	for i := range t.encoder.Columns {
		c := &t.encoder.Columns[i]
		for at := first; at < len(t.rows.X); at += t.rows.Dim {
			for _, v := range t.rows.X[at : at+len(c.Scale)] {
				t.clipped[i] += count(math.Abs(float64(v)) > t.clip)
			}
		}
		first += c.Width
	}
}

// addLabel adds the outputs of a row; of a class only its own is not zero.
func (t *Review) addLabel(x []float32, row int) {
	targets := t.rows.Targets
	if targets.Class != nil {
		t.addOutput(x, int(targets.Class[row]), 1)
		return
	}
	for k, y := range targets.Values[row*targets.Outputs : (row+1)*targets.Outputs] {
		t.addOutput(x, k, float64(y))
	}
}

func (t *Review) addOutput(x []float32, k int, y float64) {
	t.y[k] += y
	t.yy[k] += y * y
	products := t.xy[k*len(x) : (k+1)*len(x)]
	for j, v := range x {
		products[j] += float64(v) * y
	}
}

// Report adds to a calibrator's report the share of clipped values of each column, with a note
// where it is above 0.1 %, and the columns that all but equal the label, an output or a class of
// it, or predict it nearly alone.
func (t *Review) Report(report *Report) {
	report.Telltales = append(report.Telltales, t.telltales()...)
	for i := range t.encoder.Columns {
		c := &t.encoder.Columns[i]
		use := slices.IndexFunc(report.Columns, func(u ColumnUse) bool { return u.Column == c.Name })
		if use < 0 || t.clipped[i] == 0 {
			continue
		}
		u := &report.Columns[use]
		u.Clipped = float64(t.clipped[i]) / float64(t.seen*int64(len(c.Scale)))
		if u.Clipped <= clippedFrom {
			continue
		}
		become := "are cut there"
		if t.encoder.HasTail(c, 0) {
			become = "continue as logarithms"
		}
		u.note(
			fmt.Sprintf(
				"%.2g %% of values are more than %v standard deviations from the mean and %s (clip)",
				100*u.Clipped, t.clip, become,
			),
		)
	}
}

// telltales returns the columns that all but equal the label, and the others that predict it nearly
// alone.
func (t *Review) telltales() (found []Telltale) {
	if t.n < telltaleRows {
		return nil
	}
	first := 0
	for i := range t.encoder.Columns {
		c := &t.encoder.Columns[i]
		if r := t.strongest(first, first+c.Width); r >= telltaleFrom {
			found = append(found, Telltale{[]string{c.Name}, fmt.Sprintf("all but equals the label (correlation %.4f)", r)})
		}
		first += c.Width
	}
	s := t.newTelltales()
	if s == nil {
		return found
	}
	for _, tell := range s.find() {
		known := func(other Telltale) bool { return slices.Contains(tell.Columns, other.Columns[0]) }
		if !slices.ContainsFunc(found, known) {
			found = append(found, tell)
		}
	}
	return found
}

// strongest returns the largest absolute correlation of some dimensions with an output.
func (t *Review) strongest(first, next int) (most float64) {
	for k := range t.y {
		if !t.enough(k) {
			continue
		}
		for j := first; j < next; j++ {
			most = max(most, t.correlation(j, k))
		}
	}
	return most
}

// enough reports whether an output varies in enough rows.
func (t *Review) enough(k int) bool {
	hits := t.y[k]
	if t.encoder.Label.Task == scoring.Binary { // ±1
		hits = (t.n + hits) / 2
	}
	return t.encoder.Label.Task == scoring.Regression || min(hits, t.n-hits) >= telltaleClass
}

func (t *Review) correlation(j, k int) float64 {
	xx, yy := t.xx[j]-t.x[j]*t.x[j]/t.n, t.yy[k]-t.y[k]*t.y[k]/t.n
	const rounding = 1e-9
	if xx <= rounding*t.xx[j] || yy <= rounding*t.yy[k] {
		return 0
	}
	return math.Abs(t.xy[k*len(t.x)+j]-t.x[j]*t.y[k]/t.n) / math.Sqrt(xx*yy)
}
