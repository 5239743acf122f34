package live

import (
	"math"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// State is what is known about the model in use.
type State string

// The states.
const (
	Unknown State = "unknown" // too few rows with labels and predictions, or no promise
	Well    State = "well"    // as good as promised, within the noise
	Wrong   State = "wrong"   // worse than promised, beyond the noise
)

const (
	// wrongBeyond is how many standard errors the loss must be above the promise.
	wrongBeyond = 3
	// minBlocks is how many blocks a spread needs.
	minBlocks = 4
)

// Report is what a window says about live predictions.
type Report struct {
	State State `json:"state"`
	// Short is about the newest [ShortRows] rows and Long about [LongRows], in whole blocks, or about all there are; nil
	// if nothing was compared.
	Short *Figures `json:"short"`
	Long  *Figures `json:"long"`
	// StandardError is that of Short's loss minus the promise, and Excess how many of them the loss is above the
	// promise, or the misclassification if that is more; nil where the state is unknown.
	StandardError *float64 `json:"standard_error,omitempty"`
	Excess        *float64 `json:"excess_standard_errors,omitempty"`
	// WrongSince is when the model became wrong, by the time of its rows.
	WrongSince time.Time `json:"wrong_since,omitzero"`
	Hours      []Hour    `json:"hours"` // oldest first
}

// Hour is what was compared in an hour.
type Hour struct {
	Start time.Time `json:"start"`
	Figures
}

// Report returns what the window says now.
func (w *Window) Report() Report {
	r := Report{State: Unknown, Short: w.newest(&total{scores: true}, ShortRows), Long: w.newest(&total{scores: true}, LongRows)}
	for number, hour := range w.hours {
		r.Hours = append(r.Hours, Hour{Start: time.Unix(number*int64(time.Hour/time.Second), 0).UTC(), Figures: *hour.figures()})
	}
	slices.SortFunc(r.Hours, func(a, b Hour) int { return a.Start.Compare(b.Start) })
	if v := w.verdict; v.state != Unknown {
		r.State, r.StandardError, r.Excess = v.state, &v.standard, &v.excess
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
}

// settleRows is for how many rows a model that is wrong has to do as well as was promised before. Held-out rows from
// around a change make new models promise what they can do on a mixture of both worlds: so little that a half-learned
// model would pass for well. After eight half-lives of 4,000 rows a promise is about the new world.
const settleRows = 32_000

// alarm is what was promised before the model became wrong.
type alarm struct {
	measure, column string
	promised, error float64
	promisedRows    int64
	left            int64     // of settleRows
	since           time.Time // of the rows with which it became wrong
}

// replace puts the promise of before into figures; nil changes nothing.
func (a *alarm) replace(f *Figures) {
	if a != nil {
		f.Promised, f.PromisedError, f.PromisedRows = &a.promised, &a.error, a.promisedRows
	}
}

// judge finds the state after a block was added.
func (w *Window) judge(added *wire.Block) {
	short := w.newest(&total{}, ShortRows)
	since := added.To
	if a := w.alarm; a != nil {
		since = a.since
		if a.left -= added.Rows(); a.left <= 0 || a.measure != short.Measure || a.column != short.Column {
			w.alarm = nil
		}
	}
	w.alarm.replace(short)
	w.verdict = w.decide(short)
	switch {
	case w.verdict.state != Wrong:
		w.alarm = nil
	case w.alarm == nil:
		w.alarm = &alarm{short.Measure, short.Column, *short.Promised, *short.PromisedError, short.PromisedRows, settleRows, since}
	}
}

// decide returns the state of the newest rows: wrong where their mean loss is above the promise by more than three
// standard errors, or so is the share of misclassified rows. Variances are those of the live rows, and taken for the rows
// that the promise was measured on.
func (w *Window) decide(s *Figures) verdict {
	if s.Rows < ShortRows || s.Promised == nil || len(w.blocks) < minBlocks {
		return verdict{state: Unknown}
	}
	alike := w.resemblance(s.Measure)
	rows := 1 / (1/float64(s.Rows) + 1/float64(max(s.PromisedRows, 1)))
	v := verdict{state: Well, standard: math.Sqrt(s.variance * alike / rows)}
	v.excess = inStandardErrors(s.Loss-*s.Promised, v.standard)
	if s.Measure == wire.LiveLogLoss {
		share := s.Error / 100
		v.excess = max(v.excess, inStandardErrors(share-*s.PromisedError/100, math.Sqrt(share*(1-share)*alike/rows)))
	}
	if v.excess > wrongBeyond {
		v.state = Wrong
	}
	return v
}

// inStandardErrors is a difference in units of its standard error.
func inStandardErrors(difference, standard float64) float64 {
	switch {
	case standard > 0:
		return difference / standard
	case difference > 0:
		return math.MaxFloat64
	}
	return 0
}

// resemblance is by how much the rows of a block resemble each other: the variance of means of blocks, times their rows,
// over that of single rows, at least 1. It is the median over neighbouring blocks of (difference of means)²/2, which has
// the median .455 where rows are independent. So a few changes of level, which are what is looked for, do not hide in
// the noise that they make.
func (w *Window) resemblance(measure string) float64 {
	var ratios []float64
	last := -1
	for i, k := range w.blocks {
		if k.measure != measure {
			continue
		}
		if last >= 0 {
			d, independent := k.loss-w.blocks[last].loss, k.noise+w.blocks[last].noise
			if independent > 0 {
				ratios = append(ratios, float64(d*d)/independent)
			}
		}
		last = i
	}
	if len(ratios) == 0 {
		return 1
	}
	slices.Sort(ratios)
	const medianOfSquares = 0.455 // of a standard normal
	return max(1, ratios[len(ratios)/2]/medianOfSquares)
}
