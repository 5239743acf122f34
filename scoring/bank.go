package scoring

import (
	"fmt"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// Bank is the packed form of candidates that rows are scored against. It is immutable, and all
// partitions share it.
type Bank struct {
	candidates Candidates
	shards     []*kernel.Panels
	firsts     []int     // the first candidate of each shard, then the number of candidates
	given      *Features // the candidates; nil if they are drawn from a description
	rows       int       // rows of a partition that an accumulator collects before scoring them
}

const (
	// shardBytes is about the size of a shard: with a block of rows it stays in the second-level
	// cache.
	shardBytes = 1 << 20
	// waitingBytes and waitingRows bound the waiting rows: enough to make reading the candidates
	// from memory negligible compared with the arithmetic.
	waitingBytes = 1 << 20
	waitingRows  = 256
)

// BankBytes returns the memory of a bank of candidates and of the waiting rows of one accumulator
// per partition. It reads only Map, Dim and Count.
func BankBytes(c Candidates, partitions int) int64 {
	panels := (c.Count + kernel.Width - 1) / kernel.Width
	bytes := int64(panels) * panelSize(c.Dim)
	if c.Map.Coordinates() { // a coordinate is four bytes
		bytes = int64(panels) * 4 * kernel.Width
	}
	return bytes + int64(partitions)*int64(rowsWaiting(c.Dim))*4*int64(c.Dim)
}

// panelSize is the bytes of a panel of ω and phase.
func panelSize(dim int) int64 { return 4 * kernel.Width * int64(dim+1) }

// rowsWaiting is the number of rows that an accumulator collects before scoring them.
func rowsWaiting(dim int) int { return min(max(waitingBytes/(4*dim), 1), waitingRows) }

// shardLen is the number of candidates in a shard; the last one may have fewer.
func shardLen(dim int) int { return kernel.Width * max(int(shardBytes/panelSize(dim)), 1) }

// NewBank draws and packs candidates. It panics if c is invalid.
func NewBank(c Candidates) *Bank {
	if err := c.Validate(); err != nil {
		panic("scoring: bank of invalid candidates: " + err.Error())
	}
	return newBank(c, shardLen(c.Dim), rowsWaiting(c.Dim))
}

// newBank is NewBank with shards of length candidates and accumulators that collect the given
// number of rows.
func newBank(c Candidates, length, rows int) *Bank {
	b := &Bank{candidates: c, rows: rows, firsts: []int{0}}
	if c.Map.Coordinates() {
		length = c.Count
	}
	for first := 0; first < c.Count; first += length {
		b.add(c.DrawRange(first, min(first+length, c.Count)))
	}
	return b
}

// NewBankOf packs the candidates f, which it keeps. It panics if f is invalid or empty, or has the
// linear map, whose candidates are coordinates.
func NewBankOf(f *Features) *Bank {
	if err := f.Validate(); err != nil {
		panic("scoring: bank of invalid features: " + err.Error())
	}
	if f.Len() == 0 || f.Map.Coordinates() {
		panic(fmt.Sprintf("scoring: bank of %d given features of map %v", f.Len(), f.Map))
	}
	c := Candidates{Map: f.Map, Dim: f.Dim, Count: f.Len()}
	b := &Bank{candidates: c, rows: rowsWaiting(c.Dim), given: f, firsts: []int{0}}
	for _, part := range f.parts(shardLen(c.Dim)) {
		b.add(part)
	}
	return b
}

// add packs the next candidates as a shard.
func (b *Bank) add(f *Features) {
	b.shards = append(b.shards, f.pack())
	b.firsts = append(b.firsts, b.firsts[len(b.firsts)-1]+f.Len())
}

// parts cuts the features into pieces of one kind, at most `most` features each. Hinges and boxes
// count as one kind.
func (f *Features) parts(most int) (parts []*Features) {
	cosines, p := f.cosines(), f.Projections()
	for _, kind := range [][2]int{{0, cosines}, {cosines, p}, {p, f.Len()}} {
		for first := kind[0]; first < kind[1]; first += most {
			parts = append(parts, f.slice(first, min(first+most, kind[1])))
		}
	}
	return parts
}

// Len returns the number of candidates.
func (b *Bank) Len() int { return b.candidates.Count }

// Dim returns d, the numbers of a row.
func (b *Bank) Dim() int { return b.candidates.Dim }

// Draw returns the candidates with the given numbers, in order. It panics if a number is out of
// range.
func (b *Bank) Draw(indices []int32) *Features {
	if b.given != nil {
		return b.given.Pick(indices)
	}
	return b.candidates.Draw(indices)
}

// panels returns the number of panels in the shards before shard i.
func (b *Bank) panels(i int) (n int) {
	for _, p := range b.shards[:i] {
		n += p.Count()
	}
	return n
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
