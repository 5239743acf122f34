package scoring

import "github.com/eerf-stream/eerf/scoring/internal/kernel"

// FeatureStore keeps the features of candidates on the rows of a sample. Scoring the same rows
// against other outputs then only reads memory, in a fraction of the time. Candidates that do not
// fit are recomputed. Sums have the same bits as those of [Accumulator]. A nil store keeps nothing.
// A store belongs to one goroutine.
type FeatureStore struct {
	bytes  int64
	memory *kernel.Store // the kept panels; nil before the first use

	// The memory holds the features of all rows of x for the first panels of bank.
	bank *Bank
	x    *float32
	rows int
	full bool
}

// NewFeatureStore returns a store of at most the given bytes, which it allocates on first use.
func NewFeatureStore(bytes int64) *FeatureStore { return &FeatureStore{bytes: bytes} }

// FeatureStoreBytes returns the memory that a store limited to bytes allocates for candidates and
// rows.
func FeatureStoreBytes(candidates, rows int, bytes int64) int64 {
	return min(int64(candidates/kernel.Width)+kindPanels, bytes/panelBytes(max(rows, 1))) * panelBytes(rows)
}

// kindPanels is the number of partial panels that candidates of mixed kinds may have.
const kindPanels = 3

// panelBytes is the size of the features of a panel.
func panelBytes(rows int) int64 { return 4 * kernel.Width * int64(rows) }

// Score returns the sums of the bank's candidates over rows, x row-major and finite. A call with
// another bank or other rows replaces the kept features. A call with the same ones must find x
// unchanged.
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

// prepare makes room for the features of a bank and rows unless the store already holds them.
func (s *FeatureStore) prepare(b *Bank, x []float32, rows int) {
	if s.bank == b && s.x == &x[0] && s.rows == rows {
		return
	}
	s.bank = b
	s.x = &x[0]
	s.rows = rows
	s.full = false
	panels := int(min(int64(b.panels(len(b.shards))), s.bytes/panelBytes(rows)))
	if s.memory == nil || !s.memory.Reshape(panels, rows) {
		s.memory = kernel.NewStore(panels, rows)
	}
}

// score adds the rows of a pass to the sums of the kept ones among panels at..end-1 of a shard,
// whose first panel has number before in the bank. It returns the first panel that is not kept.
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
