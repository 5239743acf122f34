package live

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// State is the state of the current model.
type State string

// The states.
const (
	Unknown State = "unknown" // too few compared rows, or no promise
	Well    State = "well"    // as good as promised, within the noise
	Wrong   State = "wrong"   // worse than promised, beyond the noise
)

const (
	// wrongStdErrs is the number of standard errors by which the loss of a wrong model exceeds the
	// promise.
	wrongStdErrs = 3
	// minBlocks is the number of blocks that a spread needs.
	minBlocks = 4
)

// Report describes the live predictions in a window.
type Report struct {
	State State `json:"state"`
	// Short covers the newest [ShortRows] rows and Long the newest [LongRows], in whole final
	// blocks, or all rows; nil without compared rows.
	Short *Figures `json:"short"`
	Long  *Figures `json:"long"`
	// Open covers the rows of provisional blocks, which no decision uses; nil without any.
	Open *Figures `json:"open,omitempty"`
	// StandardError is the standard error of Short's loss minus the promise. Excess is the number
	// of standard errors by which the loss or the misclassification, the worse of the two, exceeds
	// the promise. nil if the state is unknown.
	StandardError *float64 `json:"standard_error,omitempty"`
	Excess        *float64 `json:"excess_standard_errors,omitempty"`
	// ExcessMeasure names the worse of the two: the measure of the loss or the misclassification.
	ExcessMeasure string `json:"excess_measure,omitempty"`
	// WrongSince is the time of the rows with which the model became wrong.
	WrongSince time.Time `json:"wrong_since,omitzero"`
	Hours      []Hour    `json:"hours"` // oldest first
}

// Hour holds the figures of an hour.
type Hour struct {
	Start time.Time `json:"start"`
	Figures
}

// Report returns the present report.
func (w *Window) Report() Report {
	r := Report{
		State: Unknown,
		Short: w.newest(&total{scores: true}, ShortRows),
		Long:  w.newest(&total{scores: true}, LongRows),
		Open:  FiguresOf(w.provisional()),
	}
	for number, hour := range w.hours {
		start := time.Unix(number*int64(time.Hour/time.Second), 0).UTC()
		r.Hours = append(r.Hours, Hour{Start: start, Figures: *hour.figures()})
	}
	slices.SortFunc(r.Hours, func(a, b Hour) int { return a.Start.Compare(b.Start) })
	if v := w.verdict; v.state != Unknown {
		r.State = v.state
		r.StandardError = &v.standard
		r.Excess = &v.excess
		r.ExcessMeasure = v.measure
		w.alarm.replace(r.Short)
	}
	if w.alarm != nil {
		r.WrongSince = w.alarm.since
	}
	return r
}

// verdict is a state with its reasons.
type verdict struct {
	state            State
	standard, excess float64
	measure          string // of the excess
}

// settleRows is the number of rows for which a wrong model has to keep the promise from before the
// change. Held-out rows from around a change make new models promise an error on a mixture of old
// and new rows: so large that a half-learned model would keep it. After eight half-lives of 4,000
// rows a promise describes the new rows.
const settleRows = 32_000

// alarm is the promise from before the model became wrong.
type alarm struct {
	measure, column string
	promised, error float64
	promisedRows    int64
	left            int64     // of settleRows
	since           time.Time // of the rows with which it became wrong
}

// replace puts the earlier promise into figures; nil changes nothing.
func (a *alarm) replace(f *Figures) {
	if a != nil {
		f.Promised = &a.promised
		f.PromisedError = &a.error
		f.PromisedRows = a.promisedRows
	}
}

// judge determines the state after a block was added.
func (w *Window) judge(added *wire.Block) {
	short := w.newest(&total{}, ShortRows)
	since := added.To
	if a := w.alarm; a != nil {
		since = a.since
		a.left -= added.Rows()
		if a.left <= 0 || a.measure != short.Measure || a.column != short.Column {
			w.alarm = nil
		}
	}
	w.alarm.replace(short)
	w.verdict = w.decide(short)
	switch {
	case w.verdict.state != Wrong:
		w.alarm = nil
	case w.alarm == nil:
		w.alarm = &alarm{
			measure:      short.Measure,
			column:       short.Column,
			promised:     *short.Promised,
			error:        *short.PromisedError,
			promisedRows: short.PromisedRows,
			left:         settleRows,
			since:        since,
		}
	}
}

// decide returns the state of the newest rows: wrong if their mean loss, or their share of
// misclassified rows, exceeds the promise by more than three standard errors. The variances of the
// live rows also stand for the variances of the promise's held-out rows.
func (w *Window) decide(s *Figures) verdict {
	if s.Rows < ShortRows || s.Promised == nil || len(w.blocks) < minBlocks {
		return verdict{state: Unknown}
	}
	alike := w.resemblance(s.Measure)
	rows := 1 / (1/float64(s.Rows) + 1/float64(max(s.PromisedRows, 1)))
	lossRows := 1 / (1/float64(max(s.lossRows, 1)) + 1/float64(max(s.PromisedRows, 1)))
	v := verdict{state: Well, standard: math.Sqrt(s.variance * alike / lossRows), measure: s.Measure}
	lossShift, errorShift := w.mixture(s.Measure)
	v.excess = inStandardErrors(unmixed(s.Loss-*s.Promised, lossShift), v.standard)
	if s.Measure == wire.LiveLogLoss {
		share := s.Error / 100
		standard := math.Sqrt(share * (1 - share) * alike / rows)
		if of := inStandardErrors(unmixed(share-*s.PromisedError/100, errorShift/100), standard); of > v.excess {
			v.excess, v.measure = of, wire.LiveMisclassification
		}
	}
	if v.excess > wrongStdErrs {
		v.state = Wrong
	}
	return v
}

// inStandardErrors returns a difference in units of its standard error.
func inStandardErrors(difference, standard float64) float64 {
	switch {
	case standard > 0:
		return difference / standard
	case difference > 0:
		return math.MaxFloat64
	}
	return 0
}

// unmixed is a difference from the promise without the part that comes from the shares of the
// partitions, if the rest is smaller: a hard partition that happens to dominate is no news.
func unmixed(difference, shift float64) float64 { return min(difference, difference-shift) }

// mixture returns by how much loss and error of the newest rows are higher because these come from
// the partitions in other shares than the rows of the window.
func (w *Window) mixture(measure string) (loss, percent float64) {
	type level struct{ rows, newest, loss, error float64 }
	levels, all, newest := map[int32]*level{}, 0.0, 0.0
	for _, k := range slices.Backward(w.blocks) {
		if k.measure != measure {
			continue
		}
		l := levels[k.Partition]
		if l == nil {
			l = &level{}
			levels[k.Partition] = l
		}
		n := float64(k.Rows())
		if newest < ShortRows {
			l.newest += n
			newest += n
		}
		l.rows += n
		l.loss += float64(n * k.loss)
		l.error += float64(n * k.error)
		all += n
	}
	for _, partition := range slices.Sorted(maps.Keys(levels)) {
		l := levels[partition]
		more := (l.newest/newest - l.rows/all) / l.rows
		loss += float64(more * l.loss)
		percent += float64(more * l.error)
	}
	return loss, percent
}

// resemblance measures how much the rows of a block resemble each other: the variance of block
// means, times their rows, over the variance of single rows, at least 1. It uses the median over
// neighbouring blocks of a partition of (difference of means)²/2, which is .455 for independent
// rows. A median is not inflated by the few changes of level that the state should detect, and a
// lasting difference between partitions is no noise.
func (w *Window) resemblance(measure string) float64 {
	var ratios []float64
	newest := map[int32]int{} // by partition: index of its last block so far
	for i, k := range w.blocks {
		if k.measure != measure {
			continue
		}
		if last, ok := newest[k.Partition]; ok {
			d, independent := k.loss-w.blocks[last].loss, k.noise+w.blocks[last].noise
			if independent > 0 {
				ratios = append(ratios, min(float64(d*d)/independent, largestRatio))
			}
		}
		newest[k.Partition] = i
	}
	if len(ratios) == 0 {
		return 1
	}
	slices.Sort(ratios)
	const medianOfSquares = 0.455 // of a standard normal
	return max(1, ratios[len(ratios)/2]/medianOfSquares)
}
