package scoring

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/eerf-stream/eerf/internal/simd"
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// structuredSet keeps the candidates with the given indices, with weights.
func structuredSet(m Map, dim, count int, index []int32) *FeatureSet {
	c := Candidates{Map: m, Sampler: Structured, Sigma: 3, Seed: 11, Dim: dim, Count: count}
	fs := plainSet(c.Draw(index))
	fs.Candidates, fs.Index = &c, index
	return fs
}

// someOf returns every step-th index below count in an order of no pattern.
func someOf(count, step int) []int32 {
	var index []int32
	for i := 0; i < count; i += step {
		index = append(index, int32(i))
	}
	rng := rand.New(rand.NewPCG(1, uint64(count)))
	rng.Shuffle(len(index), func(i, j int) { index[i], index[j] = index[j], index[i] })
	return index
}

// byTransform is the transformer of fs that goes by the fast transform, whatever is faster.
func byTransform(t testing.TB, fs *FeatureSet, in *Affine) *Transformer {
	t.Helper()
	tr := newTransformer(fs, in, func(dim, features, blocks int) bool { return true })
	if tr.fast == nil {
		t.Fatal("no fast transform")
	}
	return tr
}

// byProduct is the transformer of fs that goes by the dense product.
func byProduct(fs *FeatureSet, in *Affine) *Transformer {
	return newTransformer(fs, in, func(dim, features, blocks int) bool { return false })
}

func TestFastTransformAgreesWithTheReference(t *testing.T) {
	for _, m := range []Map{MapCosine, MapArcCosine0, MapArcCosine1, MapArcCosine2} {
		for _, dim := range []int{1, 3, 7, 8, 17, 64, 100, 784, 1000} {
			count := 2*structuredOrder(dim) + 20
			fs := structuredSet(m, dim, count, someOf(count, 1+count/60))
			tr := byTransform(t, fs, nil)
			for _, rows := range []int{0, 1, 2, 7, 8, 9} {
				x := normalRows(9, rows, dim)
				before := slices.Clone(x)
				all := slices.Repeat([]float32{777}, rows*tr.Len()+64)
				tr.Transform(all[32:len(all)-32], x, rows)
				for i, got := range all[32 : len(all)-32] {
					j := i % tr.Len()
					if m == MapArcCosine0 && math.Abs(dot(fs.Features.Omega[j*dim:(j+1)*dim], x[i/tr.Len()*dim:][:dim])) < 1e-5 {
						continue // a step is where rounding decides; ω of one number is 0 at times
					}
					want := float64(fs.Weight[j]) * 0.25 * referencePhi(fs.Features, j, x[i/tr.Len()*dim:][:dim])
					near(t, fmt.Sprintf("%v of %d numbers", m, dim), float64(got), want, 1e-5*(1+math.Abs(want)))
				}
				if !slices.Equal(x, before) {
					t.Fatalf("%v: the rows changed", m)
				}
				if edges := slices.Concat(all[:32], all[len(all)-32:]); slices.ContainsFunc(edges, func(v float32) bool { return v != 777 }) {
					t.Fatalf("%v: a number outside was written", m)
				}
			}
		}
	}
}

// TestFastTransformIsAsExactAsTheProduct compares root mean square errors of the argument, by the linear part of a ramp.
func TestFastTransformIsAsExactAsTheProduct(t *testing.T) {
	for _, dim := range []int{64, 100, 784, 1024} {
		fs := structuredSet(MapArcCosine1, dim, 256, someOf(256, 1))
		const rows = 50
		x := normalRows(4, rows, dim)
		var errors [2]float64
		for k, tr := range []*Transformer{byTransform(t, fs, nil), byProduct(fs, nil)} {
			got := make([]float32, rows*256)
			tr.Transform(got, x, rows)
			for i, v := range got {
				want := float64(fs.Weight[i%256]) * 0.25 * referencePhi(fs.Features, i%256, x[i/256*dim:][:dim])
				errors[k] += (float64(v) - want) * (float64(v) - want)
			}
		}
		ratio := math.Sqrt(errors[0] / errors[1])
		t.Logf("dim %d: error %.2f times that of the product", dim, ratio)
		if ratio > 1.5 {
			t.Errorf("dim %d: error %.2f times that of the product", dim, ratio)
		}
	}
}

func TestFastTransformTakesRawRows(t *testing.T) {
	for _, m := range []Map{MapCosine, MapArcCosine1} {
		const dim, rows = 100, 9
		fs := structuredSet(m, dim, 300, someOf(300, 3))
		raw, in := normalRows(9, rows, dim), &Affine{Shift: make([]float64, dim), Scale: make([]float64, dim)}
		for k := range dim {
			in.Shift[k], in.Scale[k] = float64(k%5-2), 0.25+float64(k%7)
		}
		encoded := make([]float32, len(raw))
		for i, v := range raw {
			encoded[i] = float32((float64(v) - in.Shift[i%dim]) / in.Scale[i%dim])
		}
		want, got := make([]float32, rows*100), make([]float32, rows*100)
		byProduct(fs, nil).Transform(want, encoded, rows)
		byTransform(t, fs, in).Transform(got, raw, rows)
		for i := range want {
			near(t, m.String(), float64(got[i]), float64(want[i]), 2e-5*(1+math.Abs(float64(want[i]))))
		}
	}
}

func TestFastTransformOfRowsAloneAndTogether(t *testing.T) {
	for _, dim := range []int{20, 784} {
		fs := structuredSet(MapCosine, dim, 2000, someOf(2000, 7))
		tr := byTransform(t, fs, nil)
		const rows = 300
		m, x := tr.Len(), normalRows(4, rows, dim)
		together := make([]float32, rows*m)
		tr.Transform(together, x, rows)
		var wg sync.WaitGroup
		for part := range 3 {
			wg.Go(func() {
				alone := make([]float32, m)
				for i := part; i < rows; i += 3 {
					tr.Transform(alone, x[i*dim:(i+1)*dim], 1)
					if !slices.Equal(alone, together[i*m:(i+1)*m]) {
						t.Errorf("row %d of %d numbers differs", i, dim)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestFastTransformStandsInForWhatCandidatesDraw(t *testing.T) {
	index := someOf(1024, 1)
	for what, change := range map[string]func(fs *FeatureSet){
		"unknown candidates": func(fs *FeatureSet) { fs.Candidates = nil },
		"iid candidates":     func(fs *FeatureSet) { fs.Candidates.Sampler = IID },
		"another seed":       func(fs *FeatureSet) { fs.Candidates.Seed++ },
		"another bandwidth":  func(fs *FeatureSet) { fs.Candidates.Sigma++ },
		"another dimension":  func(fs *FeatureSet) { fs.Candidates.Dim-- },
		"another map":        func(fs *FeatureSet) { fs.Candidates.Map = MapArcCosine0 },
		"fewer candidates":   func(fs *FeatureSet) { fs.Candidates.Count-- },
		"invalid candidates": func(fs *FeatureSet) { fs.Candidates.Sigma = math.NaN() },
		"another feature":    func(fs *FeatureSet) { fs.Features.Omega[5]++ },
	} {
		fs := structuredSet(MapCosine, 1024, 1024, slices.Clone(index))
		if NewTransformer(fs, nil).fast == nil {
			t.Fatal("the product is taken to be faster for a whole block of 1024")
		}
		change(fs)
		if NewTransformer(fs, nil).fast != nil {
			t.Errorf("%s: the fast transform is used", what)
		}
	}
}

func TestTheFasterWayIsChosen(t *testing.T) {
	for level := simd.None; level <= simd.AVX512; level++ {
		for _, c := range []struct {
			dim, features, blocks int
			fast                  bool
		}{
			{8, 64, 1, false},
			{784, 1024, 1, true},
			{8192, 8192, 1, true},
			{1024, 1, 1, false},
			{77, 1000, 79, false},
			{4096, 410, 1, true},
		} {
			if got := costsOf(level).faster(c.dim, c.features, c.blocks); got != c.fast {
				t.Errorf("%v, %+v: %v", level, c, got)
			}
		}
	}
}

// TestLevelsOfOneArithmeticChooseAlike: the features of a set are to have equal bits with AVX2 and AVX-512.
func TestLevelsOfOneArithmeticChooseAlike(t *testing.T) {
	for _, dim := range []int{64, 77, 128, 200, 512, 784, 1024, 4096} {
		for features := 1; features < 4*dim; features += 1 + features/8 {
			blocks := (features + structuredOrder(dim) - 1) / structuredOrder(dim)
			if costsOf(simd.AVX2).faster(dim, features, blocks) != costsOf(simd.AVX512).faster(dim, features, blocks) {
				t.Fatalf("%d features of %d numbers: AVX2 and AVX-512 choose differently", features, dim)
			}
		}
	}
}

// FuzzFastTransform holds the fast transform against the product in float64.
func FuzzFastTransform(f *testing.F) {
	f.Add(uint64(1), uint16(1), uint16(1), uint8(1))
	f.Add(uint64(2), uint16(100), uint16(48), uint8(3))
	f.Add(uint64(3), uint16(513), uint16(200), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, dim, features uint16, rows uint8) {
		d, n := int(dim)%1500+1, int(rows)%20
		count := 3 * structuredOrder(d)
		index := someOf(count, 1)[:int(features)%300+1]
		fs := structuredSet(MapCosine, d, count, index)
		x := normalRows(seed, n, d)
		got, want := make([]float32, n*len(index)), make([]float32, n*len(index))
		byTransform(t, fs, nil).Transform(got, x, n)
		byProduct(fs, nil).Transform(want, x, n)
		for i := range want {
			near(t, "feature", float64(got[i]), float64(want[i]), 2e-5)
		}
	})
}

func TestApplyIsTheEndOfFeaturize(t *testing.T) {
	for _, m := range []kernel.Map{kernel.Cosine, kernel.Step, kernel.Ramp, kernel.SquaredRamp} {
		for _, n := range []int{1, 47, 48, 49, 100} {
			for _, rows := range []int{0, 1, 2, 7, 8, 9, 33} {
				// Features of one number, x = 1, have ω for their argument.
				omega, factor := normalRows(3, n, 1), normalRows(4, n, 1)
				var phase []float32
				if m == kernel.Cosine {
					phase = make([]float32, n)
				}
				want := make([]float32, rows*n)
				kernel.Featurize(want, kernel.Pack(m, 1, omega, phase, nil), slices.Repeat([]float32{1}, rows), factor)
				stride := (n + kernel.Width - 1) / kernel.Width * kernel.Width
				z := make([]float32, rows*stride)
				for r := range rows {
					for f, w := range omega {
						z[r*stride+f] = w
						if m == kernel.Cosine {
							z[r*stride+f] = float32(float64(w) / (2 * math.Pi))
						}
					}
				}
				all := slices.Repeat([]float32{777}, rows*n+64)
				got := all[32 : 32+rows*n]
				kernel.Apply(got, kernel.Arguments{Map: m, Z: z, Stride: stride, Rows: rows}, factor)
				if !slices.Equal(got, want) || all[31] != 777 || all[32+rows*n] != 777 {
					t.Fatalf("map %d, %d features, %d rows differ", m, n, rows)
				}
			}
		}
	}
}
