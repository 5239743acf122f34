package scoring

import (
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkTransformStructured compares the fast transform of structured candidates with the dense product, for all
// candidates of the blocks (kept=all) and for a tenth of them in order of score (kept=tenth). GF/s counts the
// 2·rows·dim·features operations of the product for both.
func BenchmarkTransformStructured(b *testing.B) {
	dims := []int{64, 100, 128, 256, 512, 784, 1024, 2048, 4096, 8192}
	if testing.Short() {
		dims = dims[:1]
	}
	for _, dim := range dims {
		order := structuredOrder(dim)
		for _, kept := range []struct {
			name  string
			index []int32
		}{{"all", someOf(max(order, 1024), 1)}, {"tenth", someOf(max(order, 8192), 10)}} {
			fs := structuredSet(MapCosine, dim, max(order, 8192), kept.index)
			fast, dense := byTransform(b, fs, nil), byProduct(fs, nil)
			for _, rows := range []int{1024, 1} {
				for _, way := range []struct {
					name string
					t    *Transformer
				}{{"transform", fast}, {"product", dense}} {
					name := fmt.Sprintf("kept=%s/dim=%d/features=%d/rows=%d/way=%s/procs=1", kept.name, dim, len(kept.index), rows, way.name)
					b.Run(name, func(b *testing.B) { benchTransformer(b, way.t, rows) })
				}
			}
		}
	}
}

// benchTransformer measures rows through t on one processor.
func benchTransformer(b *testing.B, t *Transformer, rows int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	x := normalRows(2, rows, t.Dim())
	dst := make([]float32, rows*t.Len())
	for b.Loop() {
		t.Transform(dst, x, rows)
	}
	seconds := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(seconds*1e6/float64(rows), "µs/row")
	b.ReportMetric(2*float64(rows)*float64(t.Dim())*float64(t.Len())/seconds/1e9, "GF/s")
}
