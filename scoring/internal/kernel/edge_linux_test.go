package kernel

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/eerf-stream/eerf/internal/simd"
)

// atEdge returns a copy of s directly before an inaccessible page: a read or a write past the end
// crashes.
func atEdge[T float32 | float64 | int32 | uint32 | entry | record](t *testing.T, s []T) []T {
	t.Helper()
	if len(s) == 0 {
		return s
	}
	page, size := os.Getpagesize(), len(s)*int(unsafe.Sizeof(s[0]))
	room := (size + page - 1) / page * page
	memory, err := unix.Mmap(-1, 0, room+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mprotect(memory[room:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	edged := unsafe.Slice((*T)(unsafe.Pointer(&memory[room-size])), len(s))
	copy(edged, s)
	return edged
}

var edgeRows = []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 70}

func TestTilesStayWithinTheirMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, level := range levels() {
		for _, op := range operations {
			t.Run(fmt.Sprintf("%v, operation %d", level, op), func(t *testing.T) { // its end frees the memory
				for i, dim := range []int{1, 2, 3, 15, 64, 77} {
					for k, rows := range edgeRows {
						c, _ := newCall(rng, op, dim, rows, (i+k)%2 == 0, false)
						c.dst = atEdge(t, c.dst)
						c.init = atEdge(t, c.init)
						c.x = atEdge(t, c.x)
						c.weights, c.factor = atEdge(t, c.weights), atEdge(t, c.factor)
						c.run(level)
						c = c.listed(level)
						c.entries, c.begin = atEdge(t, c.entries), atEdge(t, c.begin)
						c.run(level)
					}
				}
			})
		}
	}
}

func TestScoreAndFeaturizeStayWithinTheirMemory(t *testing.T) {
	for _, level := range levels() {
		for _, m := range maps {
			t.Run(fmt.Sprintf("%v, map %d", level, m), func(t *testing.T) {
				for _, dim := range []int{1, 7, 77, chunkDim + 3} {
					for i, rows := range edgeRows {
						checkEdges(t, level, m, dim, []int{Width, 2 * Width, Width + 5}[i%3], rows)
					}
				}
			})
		}
	}
}

// checkEdges scores by values and by classes, and featurizes, with all memory at the edge of a
// page.
func checkEdges(t *testing.T, level simd.Level, m Map, dim, count, rows int) {
	t.Helper()
	p := newProblem(level, m, dim, count, rows)
	q := p.panels
	q.weights = atEdge(t, q.weights)
	q.start = atEdge(t, q.start)
	q.reach = atEdge(t, q.reach)
	q.coord = atEdge(t, q.coord)
	x := atEdge(t, p.x.inner())
	rng := rand.New(rand.NewPCG(7, 7))
	for _, outputs := range []int{1, 3} {
		for _, classes := range []bool{false, true} {
			targets, sums := drawTargets(rng, rows, outputs, classes), zeroSums(count, outputs)
			targets.Values, targets.Class = atEdge(t, targets.Values), atEdge(t, targets.Class)
			sums.Phi = atEdge(t, sums.Phi)
			sums.PhiSq = atEdge(t, sums.PhiSq)
			sums.YPhi = atEdge(t, sums.YPhi)
			Score(sums, q, 0, q.Count(), x, targets)
		}
	}
	Featurize(atEdge(t, make([]float32, rows*count)), Set{q}, x, atEdge(t, make([]float32, count)))
}

func TestProductsStayWithinTheirMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 9))
	for _, level := range levels() {
		for _, dim := range []int{1, 7, 8, 77} {
			t.Run(fmt.Sprintf("%v, %d numbers", level, dim), func(t *testing.T) {
				for i, rows := range edgeRows {
					p := forLevel(PackFactors(dim, drawFactors(rng, dim, []int{3, Width, Width + 5}[i%3])), level)
					p.records = atEdge(t, p.records)
					x := atEdge(t, make([]float32, rows*dim))
					targets := drawTargets(rng, rows, 1, false)
					sums := zeroSums(p.Len, 1)
					Score(sums, p, 0, p.Count(), x, targets)
					Featurize(atEdge(t, make([]float32, rows*p.Len)), Set{p}, x, atEdge(t, make([]float32, p.Len)))
					columns := atEdge(t, make([]float32, dim*chunkRows))
					transpose(level, columns, chunkRows, x, dim, min(rows, chunkRows), dim)
					if level == simd.None {
						continue
					}
					lanes := p.records[:min(Width, p.Len)]
					productsOfBlock(level, atEdge(t, make([]float32, len(lanes)*chunkRows)), lanes, ones[:len(lanes)], columns,
						min(rows, chunkRows))
				}
			})
		}
	}
}

func TestLargestStaysWithinItsMemory(t *testing.T) {
	for _, level := range levels() {
		for n := range 70 {
			survey(level, atEdge(t, make([]float32, n)))
		}
	}
}
