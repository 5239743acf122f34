package scoring

import "github.com/eerf-stream/eerf/scoring/internal/kernel"

// FeatureStore keeps the features of candidates over the rows of a sample. Scoring the same rows against other outputs
// then only reads memory, in a fraction of the time. Candidates without room are computed again. Sums have the same
// bits as from [Accumulator]. A nil store keeps nothing. It belongs to one goroutine.
type FeatureStore struct {
	bytes  int64
	memory *kernel.Store // of the panels that are kept; nil while there are none

	// What the memory holds features of: all rows of x for the first panels of bank.
	bank *Bank
	x    *float32
	rows int
	full bool
}

// NewFeatureStore returns a store that takes up to the given bytes, from its first use on.
func NewFeatureStore(bytes int64) *FeatureStore { return &FeatureStore{bytes: bytes} }

// FeatureStoreBytes returns what a store limited to bytes takes for candidates over rows.
func FeatureStoreBytes(candidates, rows int, bytes int64) int64 {
	return min(int64(candidates/kernel.Width)+kindPanels, bytes/panelBytes(max(rows, 1))) * panelBytes(rows)
}

// kindPanels is how many panels of candidates of mixed kinds may not be full.
const kindPanels = 3

// panelBytes is what the features of a panel take.
func panelBytes(rows int) int64 { return 4 * kernel.Width * int64(rows) }

// Score returns the sums of the bank's candidates over rows, x row-major and finite. Another bank or other rows than
// last time replace what is kept; apart from that x must not have changed.
func (s *FeatureStore) Score(b *Bank, x []float32, rows int, t Targets, workers int) *Sums {
	a := NewAccumulator(b, NewSums(b.Len(), t.Outputs))
	a.SetWorkers(workers)
	if s == nil || rows == 0 {
		a.Add(x, rows, t)
		return a.Sums()
	}
	t.check(rows, t.Outputs)
	a.addOutputs(rows, t)
	s.prepare(b, x, rows)
	b.score(a.sums, x, rows, t, workers, s)
	s.full = true
	return a.sums
}

// prepare makes room for the features of a bank and rows, unless they are there already.
func (s *FeatureStore) prepare(b *Bank, x []float32, rows int) {
	if s.bank == b && s.x == &x[0] && s.rows == rows {
		return
	}
	s.bank, s.x, s.rows, s.full = b, &x[0], rows, false
	panels := int(min(int64(b.panels(len(b.shards))), s.bytes/panelBytes(rows)))
	if s.memory == nil || !s.memory.Reshape(panels, rows) {
		s.memory = kernel.NewStore(panels, rows)
	}
}

// score adds the rows of a pass to the sums of panels at..end-1 of a shard, whose first panel is number before of the
// bank, as far as they are kept. It returns the first one that is not.
func (s *FeatureStore) score(p *pass, panels *kernel.Panels, sums kernel.Sums, before, at, end int) (next int) {
	if s == nil {
		return at
	}
	end = min(end, s.memory.Panels()-before)
	if at >= end {
		return at
	}
	if s.full {
		s.memory.Score(before+at, p.row, len(p.x)/p.bank.Dim(), sums, panels, at, end, p.targets)
	} else {
		p.rows.Fill(s.memory, before+at, p.row, sums, panels, at, end, p.targets)
	}
	return end
}
