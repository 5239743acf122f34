package training

import (
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
)

// blockRows is the number of rows whose products are summed on their own before they are added to the
// totals. Two levels keep the rounding error near (blockRows + N/blockRows)·2⁻⁵³ instead of N·2⁻⁵³, and
// 128 rows of 1000 features are 1 MB, which stays in a second-level cache.
const blockRows = 128

// parallelWork is the number of multiplications below which a block is not worth a second goroutine.
const parallelWork = 1 << 20

// packed is the upper triangle of a symmetric matrix, row after row: row i holds columns i to size-1.
type packed struct {
	size int
	data []float64
}

func newPacked(size int) packed {
	return packed{size: size, data: make([]float64, size*(size+1)/2)}
}

func (p packed) clone() packed {
	return packed{size: p.size, data: append([]float64(nil), p.data...)}
}

// row returns row i from its diagonal element on.
func (p packed) row(i int) []float64 {
	start := i*p.size - i*(i-1)/2
	return p.data[start : start+p.size-i]
}

// at returns element (i, j) for i <= j.
func (p packed) at(i, j int) float64 { return p.row(i)[j-i] }

func (p packed) add(other packed) {
	for i, v := range other.data {
		p.data[i] += v
	}
}

// addBlock adds the Gram matrix of the rows in block (row-major, size values each).
//
// Every element is the sum of its products in row order, started from zero and then added to the total
// by the one goroutine that owns its matrix row, so the number of goroutines changes nothing. The
// values come from float32, so a product is exact in float64 and a fused multiply-add rounds like a
// separate one: the bits are the same on every processor.
func (p packed) addBlock(block []float64) {
	rows := len(block) / p.size
	workers := min(runtime.GOMAXPROCS(0), p.size)
	if workers == 1 || rows*len(p.data) < parallelWork {
		scratch := make([]float64, p.size)
		for i := range p.size {
			p.addRow(i, block, rows, scratch)
		}
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			scratch := make([]float64, p.size)
			for i := int(next.Add(1)) - 1; i < p.size; i = int(next.Add(1)) - 1 {
				p.addRow(i, block, rows, scratch)
			}
		})
	}
	wait.Wait()
}

// addRow adds the block's products of column i with columns i to size-1.
func (p packed) addRow(i int, block []float64, rows int, scratch []float64) {
	impl := blas64.Implementation()
	n := p.size - i
	sum := scratch[:n]
	clear(sum)
	for l := range rows {
		row := block[l*p.size+i : (l+1)*p.size]
		impl.Daxpy(n, row[0], row, 1, sum, 1)
	}
	total := p.row(i)
	for j, v := range sum {
		total[j] += v
	}
}
