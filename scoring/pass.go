package scoring

import (
	"runtime"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// pass is one run of rows over all candidates, in units that touch different sums: chunks of the
// panels of a shard.
type pass struct {
	bank            *Bank
	sums            *Sums
	x               []float32
	rows            kernel.Rows // x
	targets         kernel.Targets
	chunk, perShard int // panels of a unit, units of a shard
	workers         int // greatest number of goroutines, 0 means GOMAXPROCS
	store           *FeatureStore
	row             int // the first row of x in the store
}

// score adds rows to the sums of all candidates, on up to workers goroutines, 0 meaning GOMAXPROCS.
// One goroutine adds to each sum, in row order. store is nil if these rows have none.
func (b *Bank) score(sums *Sums, x []float32, rows int, t Targets, workers int, store *FeatureStore) {
	step := kernel.BlockRows(b.Dim())
	for first := 0; first < rows; first += step { // all panels use a block while it is in the cache
		next := min(first+step, rows)
		p := b.pass(sums, x[first*b.Dim():next*b.Dim()], t.Slice(first, next), workers)
		p.rows = kernel.Set(b.shards).Rows(p.x)
		p.store = store
		p.row = first
		if (next-first)*b.Len()*(b.Dim()+elementCost) < parallelScore {
			p.rows.List(0, p.rows.Groups())
			p.run(0, p.units())
		} else {
			p.shareOut()
		}
		p.rows.Release()
	}
}

// pass returns the pass of rows over all candidates.
func (b *Bank) pass(sums *Sums, x []float32, t Targets, workers int) pass {
	chunk, most := panelChunk(b.Len()), 0
	for _, shard := range b.shards {
		most = max(most, shard.Count())
	}
	return pass{
		bank: b, sums: sums, x: x, targets: kernel.Targets{Outputs: t.Outputs, Values: t.Values, Class: t.Class},
		chunk: chunk, perShard: (most + chunk - 1) / chunk, workers: workers,
	}
}

// units returns the number of units.
func (p *pass) units() int { return len(p.bank.shards) * p.perShard }

// shareOut runs the units on several goroutines. Its receiver is a copy, so that the pass of a
// small call stays on the stack.
func (p pass) shareOut() {
	workers := p.workers
	if len(p.x) < parallelList {
		workers = 1
	}
	parallel.On(workers, p.rows.Groups(), 1, func(first, next int) { p.rows.List(first, next) })
	parallel.On(p.workers, p.units(), 1, func(first, next int) { p.run(first, next) })
}

// run runs units first..next-1.
func (p *pass) run(first, next int) {
	for unit := first; unit < next; unit++ {
		shard, at := unit/p.perShard, unit%p.perShard*p.chunk
		if end := min(at+p.chunk, p.bank.shards[shard].Count()); at < end {
			p.score(shard, at, end)
		}
	}
}

// score scores panels at..end-1 of a shard, using their features in the store where it has them.
func (p *pass) score(shard, at, end int) {
	panels, sums := p.bank.shards[shard], p.bank.sumsOf(p.sums, shard)
	stored := p.store.score(p, panels, sums, p.bank.panels(shard), at, end)
	if stored < end {
		p.rows.Score(sums, panels, stored, end, p.targets)
	}
}

// panelChunk returns the number of panels in a call of the kernel: few enough for eight calls per
// processor, but enough to amortize the work that a call does once for all its rows.
func panelChunk(count int) int {
	return min(max(count/kernel.Width/(8*runtime.GOMAXPROCS(0)), 2), 16)
}

const (
	// elementCost is the time of a feature map and of its sums, in products of one row and one ω.
	elementCost = 16
	// parallelScore is the number of products from which goroutines share a call: about 120 µs of
	// work with AVX-512, compared with 20 to 50 µs for waking other goroutines.
	parallelScore = 1 << 23
	// parallelList is the number of mostly zero numbers from which goroutines also share the
	// listing.
	parallelList = 1 << 17
)

// sumsOf returns the sums of the candidates of shard i.
func (b *Bank) sumsOf(s *Sums, i int) kernel.Sums {
	first, next := b.firsts[i], b.firsts[i+1]
	return kernel.Sums{Phi: s.Phi[first:next], PhiSq: s.PhiSq[first:next], YPhi: s.YPhi[first:], Stride: s.Candidates()}
}
