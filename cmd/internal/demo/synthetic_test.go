package demo

import (
	"errors"
	"io"
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
)

// values returns the rows of a generated stream, row by row.
func values(t *testing.T, seed uint64, rows int64) (all []float32, batches int) {
	t.Helper()
	reader := Generate(seed, rows)
	for {
		batch, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return all, batches
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range int(batch.NumRows()) {
			for _, column := range batch.Columns() {
				all = append(all, column.(*array.Float32).Value(i))
			}
		}
		batch.Release()
		batches++
	}
}

func TestGeneratedRows(t *testing.T) {
	const width = SyntheticDim + 1
	rows := int64(2*generateBatch + 100)
	first, batches := values(t, 3, rows)
	if len(first) != width*int(rows) || batches != 3 {
		t.Fatalf("%d values in %d batches", len(first), batches)
	}
	again, _ := values(t, 3, rows)
	other, _ := values(t, 4, rows)
	same := 0
	for i, v := range first {
		if v != again[i] {
			t.Fatalf("value %d: %v and then %v", i, v, again[i])
		}
		if v == other[i] {
			same++
		}
	}
	if same > 10 {
		t.Errorf("%d values are equal under another seed", same)
	}
	// A longer stream begins like a shorter one.
	if head, _ := values(t, 3, 10); head[len(head)-1] != first[len(head)-1] {
		t.Error("the rows depend on how many there are")
	}
	// The target is the planted function plus noise.
	residual := 0.0
	for i := 0; i < len(first); i += width {
		y := float64(first[i+SyntheticDim])
		for _, p := range planted {
			product := p.phase
			for j, w := range p.omega {
				product += w * float64(first[i+j])
			}
			y -= p.amplitude * math.Cos(product)
		}
		residual += y * y / float64(rows)
	}
	if got := math.Sqrt(residual); math.Abs(got-noise) > 0.01*noise*3 {
		t.Errorf("noise of %.4f, want %.4f", got, noise)
	}
}
