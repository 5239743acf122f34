package demo

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/stages/events"
)

// The generated stream: x ~ N(0, I) in columns x0…, and
//
//	y = Σ_k a_k cos(ω_kᵀx + b_k) + noise
//
// with few frequencies ω_k.
const (
	SyntheticDim   = 6
	SyntheticLabel = "y"
	noise          = 0.1
)

// planted are the frequencies of the generated target.
var planted = []struct {
	amplitude, phase float64
	omega            [SyntheticDim]float64
}{
	{1.0, 0.3, [SyntheticDim]float64{1.6, -1.2}},
	{0.8, 1.9, [SyntheticDim]float64{0, 0, 1.4, 1.3}},
	{0.6, 4.0, [SyntheticDim]float64{-1.1, 0, 0, 0, 1.7}},
}

// synthetic generates rows, batch by batch.
type synthetic struct {
	random *rand.Rand
	left   int64
	batch  int64
	sign   float64 // of the first frequency's amplitude
	schema *arrow.Schema
}

func newSynthetic(seed uint64, rows, batch int64) *synthetic {
	var fields []arrow.Field
	for i := range SyntheticDim {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("x%d", i), Type: arrow.PrimitiveTypes.Float32})
	}
	fields = append(fields, arrow.Field{Name: SyntheticLabel, Type: arrow.PrimitiveTypes.Float32})
	return &synthetic{
		random: rand.New(rand.NewPCG(seed, 0x5eed)),
		left:   rows,
		batch:  batch,
		sign:   1,
		schema: arrow.NewSchema(fields, nil),
	}
}

// Next returns the next batch, io.EOF after the last.
func (s *synthetic) Next() (arrow.Record, error) {
	n := min(s.left, s.batch)
	if n == 0 {
		return nil, io.EOF
	}
	s.left -= n
	builder := array.NewRecordBuilder(memory.DefaultAllocator, s.schema)
	defer builder.Release()
	var x [SyntheticDim]float64
	for range n {
		for i := range x {
			x[i] = s.random.NormFloat64()
			builder.Field(i).(*array.Float32Builder).Append(float32(x[i]))
		}
		y := noise * s.random.NormFloat64()
		sign := s.sign
		for _, p := range planted {
			y += sign * p.amplitude * math.Cos(dot(p.omega[:], x[:])+p.phase)
			sign = 1
		}
		builder.Field(SyntheticDim).(*array.Float32Builder).Append(float32(y))
	}
	return builder.NewRecord(), nil
}

func dot(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// generateBatch is the number of rows generated at a time.
const generateBatch = 4096

// Generate returns generated rows, always the same for a seed.
func Generate(seed uint64, rows int64) events.RowReader {
	return newSynthetic(seed, rows, generateBatch)
}

// GenerateFlipped is Generate after a change of the relation: the largest term of y has the
// opposite sign.
func GenerateFlipped(seed uint64, rows int64) events.RowReader {
	s := newSynthetic(seed, rows, generateBatch)
	s.sign = -1
	return s
}
