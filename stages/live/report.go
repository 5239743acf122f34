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
	Hours         []Hour   `json:"hours"` // oldest first
}

// Hour is what was compared in an hour.
type Hour struct {
	Start time.Time `json:"start"`
	Figures
}

// Report returns what the window says now.
func (w *Window) Report() Report {
	r := Report{State: Unknown, Short: FiguresOf(w.newest(ShortRows)), Long: FiguresOf(w.newest(LongRows))}
	for number, hour := range w.hours {
		r.Hours = append(r.Hours, Hour{Start: time.Unix(number*int64(time.Hour/time.Second), 0).UTC(), Figures: *hour.figures()})
	}
	slices.SortFunc(r.Hours, func(a, b Hour) int { return a.Start.Compare(b.Start) })
	w.decide(&r)
	return r
}

// decide sets the state: wrong where the mean loss of the newest rows is above the promise by more than three standard
// errors, or so is the share of misclassified rows. Variances are those of the live rows, and taken for the rows that the
// promise was measured on.
func (w *Window) decide(r *Report) {
	s := r.Short
	if s == nil || s.Rows < ShortRows || s.Promised == nil || len(w.blocks) < minBlocks {
		return
	}
	alike := w.resemblance(s.Measure)
	rows := 1 / (1/float64(s.Rows) + 1/float64(max(s.PromisedRows, 1)))
	standard := math.Sqrt(s.variance * alike / rows)
	excess := inStandardErrors(s.Loss-*s.Promised, standard)
	if s.Measure == wire.LiveLogLoss {
		share := s.Error / 100
		excess = max(excess, inStandardErrors(share-*s.PromisedError/100, math.Sqrt(share*(1-share)*alike/rows)))
	}
	r.State, r.StandardError, r.Excess = Well, &standard, &excess
	if excess > wrongBeyond {
		r.State = Wrong
	}
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
	var last *Figures
	for i := range w.blocks {
		f := FiguresOf(w.blocks[i : i+1])
		if f.Measure != measure {
			continue
		}
		if last != nil {
			d := f.Loss - last.Loss
			independent := f.variance/float64(f.Rows) + last.variance/float64(last.Rows)
			if independent > 0 {
				ratios = append(ratios, float64(d*d)/independent)
			}
		}
		last = f
	}
	if len(ratios) == 0 {
		return 1
	}
	slices.Sort(ratios)
	const medianOfSquares = 0.455 // of a standard normal
	return max(1, ratios[len(ratios)/2]/medianOfSquares)
}
