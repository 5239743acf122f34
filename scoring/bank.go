package scoring

import (
	"fmt"
	"math"
	"runtime"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// BankOptions say what a bank may take. They do not change the sums.
type BankOptions struct {
	// Memory is how many bytes the packed candidates may take, together with the memory for drawing if they do not all
	// fit; 0 means [DefaultMemory]. [PlanBank] says what follows from it.
	Memory int64
	// Partitions is how many accumulators are fed at the same time; they share the memory of waiting rows. 0 means 1.
	Partitions int
}

// Bank is the packed form of candidates that rows are scored against. It is immutable, and all partitions share it.
//
// As many candidates as fit into memory are kept packed. The others are drawn and packed again, a shard at a time,
// whenever rows are scored, into buffers of the bank. There are at most as many buffers as processors, so partitions
// that score at the same time wait for buffers instead of multiplying them.
type Bank struct {
	candidates Candidates
	plan       BankPlan
	kept       []*kernel.Panels // of the first shards
	buffers    chan *shard      // for the others, each nil until it is first used
	given      *Features        // the candidates, if they are not drawn from a description
	firsts     []int            // of given ones: the first candidate of each shard, and how many there are
}

// check panics when memory or partitions are negative.
func (o BankOptions) check() {
	if o.Memory < 0 || o.Partitions < 0 {
		panic(fmt.Sprintf("scoring: bank of %d bytes for %d partitions", o.Memory, o.Partitions))
	}
}

// NewBank draws and packs the candidates that fit into memory. It panics if c is invalid or an option is negative.
func NewBank(c Candidates, o BankOptions) *Bank {
	if err := c.Validate(); err != nil {
		panic("scoring: bank of invalid candidates: " + err.Error())
	}
	o.check()
	return newBank(c, planBank(c, o.Memory, o.Partitions, runtime.GOMAXPROCS(0)))
}

// NewBankOf packs all of the given candidates, which were made elsewhere; f is kept. It panics if f is invalid or
// empty, and for the linear map, whose candidates are coordinates.
func NewBankOf(f *Features) *Bank {
	if err := f.Validate(); err != nil {
		panic("scoring: bank of invalid features: " + err.Error())
	}
	if f.Len() == 0 || f.Map.Coordinates() {
		panic(fmt.Sprintf("scoring: bank of %d given features of map %v", f.Len(), f.Map))
	}
	c := Candidates{Map: f.Map, Dim: f.Dim, Count: f.Len()}
	b := &Bank{candidates: c, plan: planBank(c, math.MaxInt64, 1, runtime.GOMAXPROCS(0)), given: f, firsts: []int{0}}
	for _, part := range f.parts(b.plan.shardLen) {
		b.kept = append(b.kept, part.pack())
		b.firsts = append(b.firsts, b.firsts[len(b.firsts)-1]+part.Len())
	}
	b.plan.shards = len(b.kept)
	return b
}

// parts cuts the features into pieces of one kind, hinges and boxes counting as one, of at most so many features.
func (f *Features) parts(most int) (parts []*Features) {
	cosines, p := f.cosines(), f.Projections()
	for _, kind := range [][2]int{{0, cosines}, {cosines, p}, {p, f.Len()}} {
		for first := kind[0]; first < kind[1]; first += most {
			parts = append(parts, f.slice(first, min(first+most, kind[1])))
		}
	}
	return parts
}

// newBank is NewBank with a given plan.
func newBank(c Candidates, plan BankPlan) *Bank {
	b := &Bank{candidates: c, plan: plan}
	if c.Map.Coordinates() {
		f := c.DrawAll()
		b.kept = []*kernel.Panels{kernel.Pack(kernel.Coordinate, c.Dim, f.Omega, nil)}
		return b
	}
	b.buffers = make(chan *shard, plan.buffers)
	for range plan.buffers {
		b.buffers <- nil
	}
	b.kept = make([]*kernel.Panels, b.plan.keptShards)
	parallel.For(len(b.kept), 1, len(b.kept)*b.plan.shardLen*c.Dim >= parallelDraws, func(first, next int) {
		s := b.take()
		for i := first; i < next; i++ {
			f := s.draw(b, i)
			b.kept[i] = kernel.Pack(f.Map.row().kernel, f.Dim, f.Omega, f.Phase)
		}
		b.give(s)
	})
	if len(b.kept) == plan.shards { // nothing is drawn any more
		b.buffers = nil
	}
	return b
}

// Len returns the number of candidates.
func (b *Bank) Len() int { return b.candidates.Count }

// Dim returns how many numbers a row must have.
func (b *Bank) Dim() int { return b.candidates.Dim }

// Draw returns the candidates with the given numbers, in order. It panics if there is no such candidate.
func (b *Bank) Draw(indices []int32) *Features {
	if b.given != nil {
		return b.given.Pick(indices)
	}
	return b.candidates.Draw(indices)
}

// Plan returns what the bank keeps and what it draws.
func (b *Bank) Plan() BankPlan { return b.plan }

// panels returns how many panels the kept candidates of shards before shard i have, or all of them.
func (b *Bank) panels(i int) (n int) {
	for _, p := range b.kept[:i] {
		n += p.Count()
	}
	return n
}

// take waits for a buffer of the bank.
func (b *Bank) take() *shard {
	if s := <-b.buffers; s != nil {
		return s
	}
	return newShard(b)
}

// give returns a buffer.
func (b *Bank) give(s *shard) { b.buffers <- s }

// shardRange returns the candidates of shard i.
func (b *Bank) shardRange(i int) (first, next int) {
	if b.given != nil {
		return b.firsts[i], b.firsts[i+1]
	}
	return i * b.plan.shardLen, min((i+1)*b.plan.shardLen, b.candidates.Count)
}

// shard is the memory in which candidates are drawn and packed.
type shard struct {
	omega, phase []float32
	panels       *kernel.Panels // nil until candidates are scored that are not kept
}

// newShard returns memory for a shard of b.
func newShard(b *Bank) *shard {
	s := &shard{omega: make([]float32, b.plan.shardLen*b.candidates.Dim)}
	if b.candidates.Map.HasPhase() {
		s.phase = make([]float32, b.plan.shardLen)
	}
	return s
}

// draw returns the candidates of shard i, in the memory of s.
func (s *shard) draw(b *Bank, i int) Features {
	first, next := b.shardRange(i)
	n := next - first
	f := Features{Map: b.candidates.Map, Dim: b.candidates.Dim, Omega: s.omega[:n*b.candidates.Dim]}
	if s.phase != nil {
		f.Phase = s.phase[:n]
	}
	for k := range n {
		b.candidates.drawInto(&f, k, int32(first+k))
	}
	return f
}

// pack packs features of one kind for the kernels.
func (f *Features) pack() *kernel.Panels {
	switch {
	case f.Len() == 0:
		panic("scoring: no features")
	case len(f.Products) > 0:
		return kernel.PackFactors(f.Dim, factors(f.Products))
	case f.Ramps > 0:
		return kernel.Pack(kernel.Ramp, f.Dim, f.Omega, f.Phase)
	}
	return kernel.Pack(f.Map.row().kernel, f.Dim, f.Omega, f.Phase)
}
