package scoring

import (
	"fmt"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// Accumulator adds rows to the sums of one partition. It belongs to one goroutine. The sums depend on the order of the
// rows alone: adding them one by one or in batches of any size gives equal bits.
type Accumulator struct {
	bank *Bank
	sums *Sums
}

// NewAccumulator returns an accumulator that continues sums, which it owns from now on: those of [NewSums] or those
// of a checkpoint, written by a kernel of the same name. It panics when sums do not have the bank's candidates.
func NewAccumulator(b *Bank, sums *Sums) *Accumulator {
	if sums.Candidates() != b.Len() {
		panic(fmt.Sprintf("scoring: sums of %d candidates for a bank of %d", sums.Candidates(), b.Len()))
	}
	return &Accumulator{b, sums}
}

// Sums returns the sums so far, not a copy.
func (a *Accumulator) Sums() *Sums { return a.sums }

// Add adds rows rows: x is row-major [rows·Dim], finite, t their raw outputs. Neither is kept.
func (a *Accumulator) Add(x []float32, rows int, t Targets) {
	if len(x) != rows*a.bank.Dim() {
		panic(fmt.Sprintf("scoring: %d numbers for %d rows of %d", len(x), rows, a.bank.Dim()))
	}
	t.check(rows, a.sums.Outputs())
	if rows == 0 {
		return
	}
	a.addOutputs(rows, t)
	panels := a.bank.panels
	sums := kernel.Sums{Phi: a.sums.Phi, PhiSq: a.sums.PhiSq, YPhi: a.sums.YPhi}
	targets := kernel.Targets{Outputs: t.Outputs, Values: t.Values, Class: t.Class}
	big := rows*panels.Len*(panels.Dim+elementCost) >= parallelProducts
	parallel(panels.Count(), panelChunk, big, func(first, next int) {
		kernel.Score(sums, panels, first, next, x, targets)
	})
}

const (
	// panelChunk is how many panels a goroutine takes from the queue at a time.
	panelChunk = 8
	// elementCost is the time of a feature map and of its sums, in products of one row and one ω.
	elementCost = 16
	// parallelProducts is the number of products from which on a call is shared out, some 100 µs of work.
	parallelProducts = 1 << 18
)

// addOutputs counts the rows and adds their raw outputs.
func (a *Accumulator) addOutputs(rows int, t Targets) {
	s := a.sums
	empty := s.Rows == 0
	s.Rows += int64(rows)
	if t.Class != nil {
		s.addClasses(t.Class, empty)
		return
	}
	for i := range rows {
		for k, v := range t.Values[i*t.Outputs : (i+1)*t.Outputs] {
			y := float64(v)
			s.Y[k] += y
			s.YSq[k] += float64(y * y)
			s.YMin[k] = min(s.YMin[k], y)
			s.YMax[k] = max(s.YMax[k], y)
		}
	}
}

// addClasses adds the indicators of the classes: sums and sums of squares are counts, exact in any order. The range
// is {0} or {1} when the rows so far are all outside or all inside the class, else {0, 1}.
func (s *Sums) addClasses(class []int32, empty bool) {
	for _, k := range class {
		s.Y[k]++
		s.YSq[k]++
	}
	if empty {
		for k := range s.Y {
			s.YMin[k], s.YMax[k] = 1, 0
		}
	}
	for k, count := range s.Y {
		if count > 0 {
			s.YMax[k] = 1
		}
		if count < float64(s.Rows) {
			s.YMin[k] = 0
		}
	}
}
