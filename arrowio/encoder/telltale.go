package encoder

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
)

const (
	// telltaleFrom is the correlation with an output of the label from which on a column all but equals it.
	telltaleFrom = 0.995
	// telltaleRows is the smallest number of rows of which this is said, telltaleClass of a class and of all others.
	telltaleRows, telltaleClass = 50, 10
	// telltaleSums bounds the sums, 8 bytes each: wider rows are not looked at.
	telltaleSums = 4 << 20
)

// Telltales finds columns that all but equal the label: what is in them is often known no earlier than the label, such
// as the date of a cancellation. It belongs to one goroutine and keeps at most 32 MiB.
type Telltales struct {
	encoder Encoder // without a bound on values
	rows    Rows
	n       float64
	x, xx   []float64 // [Dim] sums
	y, yy   []float64 // [outputs] sums; of classes the rows of each
	xy      []float64 // [outputs·Dim]; nil = there is nothing to find
}

// NewTelltales returns one for the columns of an encoder, without rows.
func NewTelltales(e *Encoder) *Telltales {
	t := &Telltales{encoder: *e}
	t.encoder.Clip = 0
	if e.Label == nil {
		return t
	}
	if k := e.Label.Outputs(); e.Dim*(k+2) <= telltaleSums {
		t.x, t.xx = make([]float64, e.Dim), make([]float64, e.Dim)
		t.y, t.yy, t.xy = make([]float64, k), make([]float64, k), make([]float64, k*e.Dim)
	}
	return t
}

// Add adds the rows of a record that have a label: those of take, nil = all. The only error is a wrong schema.
func (t *Telltales) Add(rec arrow.Record, take []int32) error {
	if t.xy == nil {
		return nil
	}
	if err := t.encoder.Encode(&t.rows, rec, take); err != nil {
		return err
	}
	t.rows.KeepLabelled()
	for i := range t.rows.N {
		x := t.rows.X[i*t.rows.Dim : (i+1)*t.rows.Dim]
		for j, v := range x {
			t.x[j] += float64(v)
			t.xx[j] += float64(v) * float64(v)
		}
		t.addLabel(x, i)
	}
	t.n += float64(t.rows.N)
	return nil
}

// addLabel adds the outputs of a row; of a class only its own is not zero.
func (t *Telltales) addLabel(x []float32, row int) {
	targets := t.rows.Targets
	if targets.Class != nil {
		t.addOutput(x, int(targets.Class[row]), 1)
		return
	}
	for k, y := range targets.Values[row*targets.Outputs : (row+1)*targets.Outputs] {
		t.addOutput(x, k, float64(y))
	}
}

func (t *Telltales) addOutput(x []float32, k int, y float64) {
	t.y[k] += y
	t.yy[k] += y * y
	products := t.xy[k*len(x) : (k+1)*len(x)]
	for j, v := range x {
		products[j] += float64(v) * y
	}
}

// Warnings returns a sentence for each column that all but equals the label, or an output or a class of it.
func (t *Telltales) Warnings() (warnings []string) {
	if t.n < telltaleRows {
		return nil
	}
	first := 0
	for i := range t.encoder.Columns {
		c := &t.encoder.Columns[i]
		if r := t.strongest(first, first+c.Width); r >= telltaleFrom {
			warnings = append(warnings, fmt.Sprintf("column %q all but equals the label (correlation %.4f): if it is not known when a prediction is needed, leave it out with events.exclude (--exclude)", c.Name, r))
		}
		first += c.Width
	}
	return warnings
}

// strongest returns the greatest correlation of some dimensions with an output, whatever its sign.
func (t *Telltales) strongest(first, next int) (most float64) {
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
func (t *Telltales) enough(k int) bool {
	hits := t.y[k]
	if t.encoder.Label.Task == scoring.Binary { // ±1
		hits = (t.n + hits) / 2
	}
	return t.encoder.Label.Task == scoring.Regression || min(hits, t.n-hits) >= telltaleClass
}

func (t *Telltales) correlation(j, k int) float64 {
	xx, yy := t.xx[j]-t.x[j]*t.x[j]/t.n, t.yy[k]-t.y[k]*t.y[k]/t.n
	const rounding = 1e-9
	if xx <= rounding*t.xx[j] || yy <= rounding*t.yy[k] {
		return 0
	}
	return math.Abs(t.xy[k*len(t.x)+j]-t.x[j]*t.y[k]/t.n) / math.Sqrt(xx*yy)
}
