package demo

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
)

// The generated stream: x ~ N(0, I) in columns x0…, and
//
//	y = Σ_k a_k cos(ω_kᵀx + b_k) + noise
//
// with few frequencies ω_k. So the spectrum of the target is known, and the kept features can be compared with it.
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
	schema *arrow.Schema
}

func newSynthetic(seed uint64, rows, batch int64) *synthetic {
	var fields []arrow.Field
	for i := range SyntheticDim {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("x%d", i), Type: arrow.PrimitiveTypes.Float32})
	}
	fields = append(fields, arrow.Field{Name: SyntheticLabel, Type: arrow.PrimitiveTypes.Float32})
	return &synthetic{random: rand.New(rand.NewPCG(seed, 0x5eed)), left: rows, batch: batch, schema: arrow.NewSchema(fields, nil)}
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
		for _, p := range planted {
			y += p.amplitude * math.Cos(dot(p.omega[:], x[:])+p.phase)
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

// Recovered says how close the features come to a planted frequency, in units of the generated columns.
type Recovered struct {
	Omega            []float64 `json:"omega"`
	Amplitude        float64   `json:"amplitude"`
	NearestKept      float64   `json:"nearest_kept"`  // distance of the nearest kept ω, or of its mirror image
	NearestPlain     float64   `json:"nearest_plain"` // the same for as many plain features
	KeptWithinOne    int       `json:"kept_within_1"` // features at distance 1 or less
	PlainWithinOne   int       `json:"plain_within_1"`
	ScoreOfNearest   float64   `json:"score_of_nearest"`
	RankOfTheNearest int       `json:"rank_of_nearest"` // among the kept, 1 = best score
}

// recoverSpectrum compares kept and plain features with the planted frequencies.
func recoverSpectrum(kept, plain *wire.FeatureSet) []Recovered {
	scale := columnScale(kept)
	var found []Recovered
	for _, p := range planted {
		r := Recovered{Omega: p.omega[:], Amplitude: p.amplitude}
		var nearest int
		r.NearestKept, nearest, r.KeptWithinOne = near(kept.Set.Features, scale, p.omega[:])
		r.NearestPlain, _, r.PlainWithinOne = near(plain.Set.Features, scale, p.omega[:])
		r.ScoreOfNearest, r.RankOfTheNearest = kept.Set.Score[nearest], nearest+1
		found = append(found, r)
	}
	return found
}

// columnScale is the encoder's divisor of each column. ω in its units, divided by it, is ω in units of the columns.
func columnScale(set *wire.FeatureSet) []float64 {
	scale := make([]float64, 0, SyntheticDim)
	for _, column := range set.Encoder.Columns {
		if len(column.Scale) == 0 {
			scale = append(scale, 1)
			continue
		}
		scale = append(scale, column.Scale...)
	}
	return scale
}

func near(f *scoring.Features, scale, omega []float64) (distance float64, nearest, withinOne int) {
	distance = math.Inf(1)
	for i := range f.Len() {
		var same, mirrored float64
		for j := range omega {
			w := float64(f.Omega[i*f.Dim+j]) / scale[j]
			same += (w - omega[j]) * (w - omega[j])
			mirrored += (w + omega[j]) * (w + omega[j])
		}
		d := math.Sqrt(min(same, mirrored))
		if d <= 1 {
			withinOne++
		}
		if d < distance {
			distance, nearest = d, i
		}
	}
	return distance, nearest, withinOne
}

// generateBatch is how many rows are generated at a time.
const generateBatch = 4096

// Generate returns generated rows, always the same for a seed.
func Generate(seed uint64, rows int64) events.RowReader {
	return newSynthetic(seed, rows, generateBatch)
}
