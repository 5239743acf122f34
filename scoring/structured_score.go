package scoring

import (
	"github.com/eerf-stream/eerf/scoring/internal/kernel"

	"github.com/eerf-stream/eerf/scoring/internal/parallel"
)

// structuredScoreDim is the least Dim from which on structured candidates are scored by the fast transform. It was not
// chosen by measurement: the method shows in the last bits of the sums, so it must be a function of the candidates'
// description alone.
const structuredScoreDim = minStructuredOrder

// structuredUnit is about how many candidates are scored in one piece: as many as fill the second-level cache with their
// sums and with the arguments of enough rows.
const structuredUnit = 1 << 10

// scoredByTransform reports whether a bank scores the candidates by the fast transform.
func (c Candidates) scoredByTransform() bool {
	return c.Sampler == Structured && c.Dim >= structuredScoreDim
}

// structuredBank holds structured candidates ready for scoring: whole blocks, unit by unit. It takes about twenty bytes
// per candidate, whatever the dimension.
type structuredBank struct {
	count   int
	unitLen int
	units   []*structuredBlocks
}

func newStructuredBank(c Candidates) *structuredBank {
	b := &structuredBank{count: c.Count, unitLen: max(structuredUnit, structuredOrder(c.Dim))}
	b.units = make([]*structuredBlocks, (c.Count+b.unitLen-1)/b.unitLen)
	parallel.For(len(b.units), 1, c.Count*c.Dim >= parallelDraws, func(first, next int) {
		for u := first; u < next; u++ {
			from, to := b.candidates(u)
			index := make([]int32, 0, to-from)
			for i := from; i < to; i++ {
				index = append(index, int32(i))
			}
			b.units[u] = newStructuredBlocks(c, index, c.structuredShifts(index), nil, structuredProducts/b.unitLen)
		}
	})
	for _, u := range b.units[1:] {
		u.memory = b.units[0].memory // no unit is larger
	}
	return b
}

// structuredShifts returns the shifts of candidates for encoded rows, which are their phases.
func (c Candidates) structuredShifts(index []int32) []float64 {
	shifts := make([]float64, len(index))
	if c.Map != MapCosine {
		return shifts
	}
	for k, i := range index {
		shifts[k] = shiftOf(c.Map, nil, newStream(c.Seed, uint64(i), candidateTag).phase(), nil)
	}
	return shifts
}

// candidates returns those of unit u.
func (b *structuredBank) candidates(u int) (first, next int) {
	return u * b.unitLen, min((u+1)*b.unitLen, b.count)
}

// score adds rows to the sums of all candidates. Each sum is added to by one goroutine, in row order.
func (b *structuredBank) score(sums *Sums, x []float32, rows int, t Targets, workers int) {
	s := b.units[0]
	work := structuredAdditions(s.dim, len(b.units)*len(s.diagonals)) + b.count*elementCost
	if rows*work < parallelScore {
		b.run(0, len(b.units), sums, x, rows, t)
		return
	}
	b.shareOut(sums, x, rows, t, workers)
}

// shareOut is score on several goroutines.
func (b *structuredBank) shareOut(sums *Sums, x []float32, rows int, t Targets, workers int) {
	parallel.On(workers, len(b.units), 1, func(first, next int) { b.run(first, next, sums, x, rows, t) })
}

// run scores the candidates of units first..next-1.
func (b *structuredBank) run(first, next int, sums *Sums, x []float32, rows int, t Targets) {
	for u := first; u < next; u++ {
		from, to := b.candidates(u)
		of := kernel.Sums{Phi: sums.Phi[from:to], PhiSq: sums.PhiSq[from:to], YPhi: sums.YPhi[from:], Stride: sums.Candidates()}
		b.units[u].score(of, x, rows, t)
	}
}

// score adds rows to the sums of the blocks' candidates.
func (s *structuredBlocks) score(sums kernel.Sums, x []float32, rows int, t Targets) {
	memory := s.memory.Get().(*structuredMemory)
	defer s.memory.Put(memory)
	for i := 0; i < rows; i += s.group {
		next := min(i+s.group, rows)
		targets := t.Slice(i, next)
		kernel.ScoreArguments(sums, s.arguments(memory, x[i*s.dim:next*s.dim], next-i),
			kernel.Targets{Outputs: targets.Outputs, Values: targets.Values, Class: targets.Class})
	}
}

// planStructuredBank is planBank for candidates that are scored by the fast transform: they always fit.
func planStructuredBank(c Candidates) BankPlan {
	order, rowBytes := structuredOrder(c.Dim), int64(4*c.Dim)
	blocks := (c.Count + order - 1) / order
	p := BankPlan{Kept: c.Count, KeptBytes: int64(4 * (3*order*blocks + 2*c.Count))}
	p.Rows = int(min(max(waitingBytes/rowBytes, 1), waitingRows))
	p.RowBytes = int64(p.Rows) * rowBytes
	return p
}
