package encoder

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/scoring"
)

// foldable returns an encoder of one vector column that folds, with means of shift scales.
func foldable(d int, shift float64, r *rand.Rand) *Encoder {
	c := Column{Name: "v", Kind: Vector, Width: d, Mean: make([]float64, d), Scale: make([]float64, d)}
	for j := range d {
		c.Scale[j] = math.Exp(r.NormFloat64())
		c.Mean[j] = shift * c.Scale[j] * float64(1-2*r.IntN(2))
	}
	return &Encoder{Columns: []Column{c}, Standardize: StandardizeNumeric, Dim: d}
}

func TestEncodersThatFold(t *testing.T) {
	numbers := func(mean, scale float64) Column {
		return Column{Name: "n", Kind: Numeric, Width: 1, Mean: []float64{mean}, Scale: []float64{scale}}
	}
	bare := Column{Name: "n", Kind: Numeric, Width: 1, Mean: []float64{1e9}}
	vector := Column{Name: "v", Kind: Vector, Width: 2, Mean: []float64{1, -8}, Scale: []float64{1, 2}}
	cases := map[string]struct {
		columns     []Column
		standardize string
		clip        float64
		want        *scoring.Affine
	}{
		"number":            {[]Column{numbers(3, 2)}, StandardizeNumeric, 0, &scoring.Affine{Shift: []float64{3}, Scale: []float64{2}}},
		"number and vector": {[]Column{numbers(3, 2), vector}, StandardizeAll, 0, &scoring.Affine{Shift: []float64{3, 1, -8}, Scale: []float64{2, 1, 2}}},
		"not standardized":  {[]Column{bare}, StandardizeNone, 5, &scoring.Affine{Shift: []float64{0}, Scale: []float64{1}}},
		"clipped":           {[]Column{numbers(3, 2)}, StandardizeNumeric, 5, nil},
		"far mean":          {[]Column{numbers(8.001, 2)}, StandardizeNumeric, 0, nil},
		"far mean below":    {[]Column{vector, numbers(-8.001, 2)}, StandardizeNumeric, 0, nil},
		"large scale":       {[]Column{numbers(0, 0x1.1p64)}, StandardizeNumeric, 0, nil},
		"small scale":       {[]Column{numbers(0, 0x1p-65)}, StandardizeNumeric, 0, nil},
		"boolean":           {[]Column{numbers(0, 1), {Name: "b", Kind: Bool, Width: 1, Mean: []float64{0.5}}}, StandardizeNumeric, 0, nil},
		"category":          {[]Column{numbers(0, 1), {Name: "c", Kind: Category, Width: 1, Categories: []string{"a"}}}, StandardizeNumeric, 0, nil},
	}
	for name, c := range cases {
		e := &Encoder{Columns: c.columns, Standardize: c.standardize, Clip: c.clip}
		for i := range c.columns {
			e.Dim += c.columns[i].Width
		}
		if err := e.Validate(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := e.Fold()
		if (got == nil) != (c.want == nil) || got != nil && !(slices.Equal(got.Shift, c.want.Shift) && slices.Equal(got.Scale, c.want.Scale)) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestFoldedFeaturesAreAsExact compares features of raw and of encoded rows with float64 when means are as far from 0
// as an encoder that folds may have them.
func TestFoldedFeaturesAreAsExact(t *testing.T) {
	cases := []struct {
		d   int
		of  scoring.Map
		max float64 // twice the error of a feature of encoded rows; 0 for unbounded maps
		// ratio bounds the error of folded features relative to that of others, in the mean square.
		ratio float64
	}{
		{77, scoring.MapCosine, 2 * 7e-6, 2}, {784, scoring.MapCosine, 2 * 1.8e-5, 2},
		{77, scoring.MapArcCosine1, 0, math.Sqrt(1 + foldShift*foldShift)},
	}
	for _, c := range cases {
		r := rand.New(rand.NewPCG(5, uint64(c.d)))
		e := foldable(c.d, foldShift, r)
		fs := gaussianSet(c.of, c.d, 200, r)
		rec := record(t, column{"v", vectors(c.d, normalRows(e, 100, r))})
		var encoded, raw Rows
		if err := e.Encode(&encoded, rec, nil); err != nil {
			t.Fatal(err)
		}
		if err := e.EncodeRaw(&raw, rec, nil); err != nil {
			t.Fatal(err)
		}
		want := features(fs, e, raw.X)
		plain := errorOf(want, scoring.NewTransformer(fs, nil), &encoded)
		folded := errorOf(want, scoring.NewTransformer(fs, e.Fold()), &raw)
		if folded.square > c.ratio*plain.square || c.max > 0 && folded.max > c.max {
			t.Errorf("%v d %d: error %.2g, at most %.2g; encoded rows %.2g, at most %.2g", c.of, c.d, folded.square, folded.max, plain.square, plain.max)
		}
		t.Logf("%v d %d: encoded rows %.2g (at most %.2g), folded %.2g (%.2g)", c.of, c.d, plain.square, plain.max, folded.square, folded.max)
	}
}

// gaussianSet returns n features of Gaussian frequencies of bandwidth √d, unscaled.
func gaussianSet(of scoring.Map, d, n int, r *rand.Rand) *scoring.FeatureSet {
	fs := &scoring.FeatureSet{
		Features: &scoring.Features{Map: of, Dim: d, Omega: make([]float32, n*d)},
		Index:    make([]int32, n), Score: make([]float64, n), Scale: 1,
	}
	for i := range fs.Features.Omega {
		fs.Features.Omega[i] = float32(r.NormFloat64() / math.Sqrt(float64(d)))
	}
	if of == scoring.MapCosine {
		fs.Features.Phase = make([]float32, n)
		for i := range n {
			fs.Features.Phase[i] = float32(2 * math.Pi * r.Float64())
		}
	}
	return fs
}

// normalRows returns normal numbers with the moments of the encoder's only column, [rows·d].
func normalRows(e *Encoder, rows int, r *rand.Rand) []float32 {
	c := &e.Columns[0]
	values := make([]float32, rows*c.Width)
	for i := range values {
		j := i % c.Width
		values[i] = float32(c.Mean[j] + c.Scale[j]*r.NormFloat64())
	}
	return values
}

// features returns φ of raw rows by its definition in float64.
func features(fs *scoring.FeatureSet, e *Encoder, raw []float32) []float64 {
	f, c := fs.Features, &e.Columns[0]
	var all []float64
	for row := 0; row < len(raw); row += f.Dim {
		for i := range f.Len() {
			t := 0.0
			for j, w := range f.Omega[i*f.Dim:][:f.Dim] {
				t += float64(w) * (float64(raw[row+j]) - c.Mean[j]) / c.Scale[j]
			}
			if f.Map == scoring.MapCosine {
				all = append(all, math.Cos(t+float64(f.Phase[i])))
			} else {
				all = append(all, max(t, 0))
			}
		}
	}
	return all
}

// deviation is a root mean square and a maximum.
type deviation struct{ square, max float64 }

// errorOf returns how far the features of rows are from the wanted ones.
func errorOf(want []float64, t *scoring.Transformer, rows *Rows) deviation {
	got := make([]float32, len(want))
	t.Transform(got, rows.X, rows.N)
	var d deviation
	for i, w := range want {
		e := math.Abs(float64(got[i]) - w)
		d.square += e * e
		d.max = max(d.max, e)
	}
	d.square = math.Sqrt(d.square / float64(len(want)))
	return d
}
