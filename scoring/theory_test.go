package scoring

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rawCoding leaves outputs as they are.
func rawCoding(outputs int) Coding {
	return Coding{Gain: slices.Repeat([]float64{1}, outputs), Offset: make([]float64, outputs)}
}

// TestLinearScoresAreTheCoefficients: for y = Σ F_ω x_ω with independent inputs of mean 0 and
// variance 1 the expected unnormalised score of coordinate ω is F_ω, whatever the inputs'
// distributions (the paper's proposition).
func TestLinearScoresAreTheCoefficients(t *testing.T) {
	const rows, dim = 20000, 24
	inputs := map[string]func(rng *rand.Rand) float64{
		"normal":  (*rand.Rand).NormFloat64,
		"uniform": func(rng *rand.Rand) float64 { return (2*rng.Float64() - 1) * math.Sqrt(3) },
		"signs":   func(rng *rand.Rand) float64 { return float64(2*rng.IntN(2) - 1) },
	}
	c := Candidates{Map: MapLinear, Sigma: 1, Seed: 2, Dim: dim, Count: dim}
	f := c.DrawAll()
	for name, draw := range inputs {
		rng := rand.New(rand.NewPCG(5, 5))
		x, y := make([]float32, rows*dim), make([]float32, rows)
		coefficient := func(j int) float64 { return math.Sin(float64(3 * j)) }
		for i := range rows {
			sum := 0.0
			for j := range dim {
				x[i*dim+j] = float32(draw(rng))
				sum += coefficient(j) * float64(x[i*dim+j])
			}
			y[i] = float32(sum)
		}
		sel, err := Select(scoreRows(f, x, rows, Targets{Outputs: 1, Values: y}), Regression, Energy, dim)
		if err != nil {
			t.Fatal(err)
		}
		for k, i := range sel.Index {
			// The coding divides by the half-range of y, and the radius is that of the coded score.
			radius := sel.LargeSampleRadius[k] / sel.Coding.Gain[0]
			near(t, name+" score", sel.S[k]/sel.Coding.Gain[0], coefficient(int(f.Omega[i])), radius)
			if radius > 0.5 {
				t.Errorf("%s: radius %v says nothing", name, radius)
			}
		}
	}
}

// TestScoresPeakAtTheFrequenciesOfTheTarget: for y = Σ a_k cos(ω_kᵀx) and wide Gaussian inputs,
// √(Ŝ(ω,0)² + Ŝ(ω,π/2)²) is |a_k|/2 at ±ω_k and nearly 0 elsewhere (the paper's corollary).
func TestScoresPeakAtTheFrequenciesOfTheTarget(t *testing.T) {
	amplitudes := []float64{1, 0.6, -0.4}
	for dim, waves := range map[int][]float32{1: {1, 2.5, -3.5}, 2: {1, -2, 2.5, 0.5, -3, -3}} {
		f := gridFeatures(dim)
		const rows = 20000
		x, y := normalRows(3, rows, dim), make([]float32, rows)
		for i := range x {
			x[i] *= 8
		}
		for i := range rows {
			sum := 0.0
			for k, a := range amplitudes {
				sum += a * math.Cos(dot(waves[k*dim:(k+1)*dim], x[i*dim:(i+1)*dim]))
			}
			y[i] = float32(sum)
		}
		s := scoreRows(f, x, rows, Targets{Outputs: 1, Values: y}).Scores(rawCoding(1))
		for j := 0; j < f.Len(); j += 2 {
			omega, want := f.Omega[j*dim:(j+1)*dim], 0.0
			for k, a := range amplitudes {
				wave := waves[k*dim : (k+1)*dim]
				if slices.Equal(wave, omega) || slices.Equal(wave, negated(omega)) {
					want = math.Abs(a) / 2
				}
			}
			// The noise of one score is √(E[y²]/2n), about 0.004; five times that for some 300 of
			// them.
			near(t, "height", math.Hypot(s[j], s[j+1]), want, 0.025)
		}
	}
}

// gridFeatures are cosines with ω on a grid of step ½ from -4 to 4, each with the phases 0 and π/2.
func gridFeatures(dim int) *Features {
	f := &Features{Map: MapCosine, Dim: dim}
	const side = 17
	points := side
	if dim == 2 {
		points = side * side
	}
	for i := range points {
		omega := []float32{float32(i%side)/2 - 4, float32(i/side)/2 - 4}[:dim]
		f.Omega = append(append(f.Omega, omega...), omega...)
		f.Phase = append(f.Phase, 0, math.Pi/2)
	}
	return f
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return sum
}

func negated(v []float32) []float32 {
	n := slices.Clone(v)
	for i := range n {
		n[i] = -n[i]
	}
	return n
}

// TestHoeffdingRadiusCovers scores outputs cos(ω₀x + b₀) of standard normal x, whose expected
// scores are known, a thousand times: all scores must lie within the radius at once in at least 1-δ
// of the repeats.
func TestHoeffdingRadiusCovers(t *testing.T) {
	const repeats, rows = 1000, 100
	wave := [][2]float64{{0.5, 0.3}, {2, 1}} // ω₀, b₀ of two outputs
	covered := 0
	energyCovered := 0
	third := 0
	for r := range uint64(repeats) {
		c := Candidates{Sigma: 1, Seed: r, Dim: 1, Count: 10}
		f := c.DrawAll()
		x := normalRows(r+1, rows, 1)
		y := make([]float32, 0, 2*rows)
		for _, v := range x {
			for _, w := range wave {
				y = append(y, float32(math.Cos(w[0]*float64(v)+w[1])))
			}
		}
		s := scoreRows(f, x, rows, Targets{Outputs: 2, Values: y}).Scores(rawCoding(2))
		worst, worstNorm := 0.0, 0.0
		for j := range f.Len() {
			norm, want := 0.0, 0.0
			for k, w := range wave {
				expected := expectedProduct(float64(f.Omega[j]), float64(f.Phase[j]), w[0], w[1])
				worst = max(worst, math.Abs(s[2*j+k]-expected))
				norm, want = math.Hypot(norm, s[2*j+k]), math.Hypot(want, expected)
			}
			worstNorm = max(worstNorm, math.Abs(norm-want))
		}
		radius := HoeffdingRadius(f.Len(), 2, rows, Delta)
		covered += count(worst <= radius)
		energyCovered += count(worstNorm <= math.Sqrt2*radius)
		third += count(worst <= radius/3)
	}
	if want := int((1 - Delta) * repeats); covered < want || energyCovered < want {
		t.Errorf("covered in %d repeats, √energy in %d, want %d", covered, energyCovered, want)
	}
	if third > repeats*9/10 {
		t.Errorf("a third of the radius covers in %d repeats: the test cannot fail", third)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// expectedProduct is E[cos(ωx + b)·cos(ω₀x + b₀)] for standard normal x.
func expectedProduct(omega, b, omega0, b0 float64) float64 {
	return (math.Cos(b-b0)*math.Exp(-(omega-omega0)*(omega-omega0)/2) +
		math.Cos(b+b0)*math.Exp(-(omega+omega0)*(omega+omega0)/2)) / 2
}

func TestRadiiHaveTheirFormulas(t *testing.T) {
	near(t, "radius", HoeffdingRadius(1000, 3, 500, 0.05), math.Sqrt(2*math.Log(2*1000*3/0.05)/500), 1e-15)
	if r := HoeffdingRadius(10, 1, 0, 0.05); !math.IsInf(r, 1) {
		t.Errorf("radius without rows is %v", r)
	}
	s := someSums(3, 80)
	sel, err := Select(s, Regression, Energy, 11)
	if err != nil {
		t.Fatal(err)
	}
	for k, i := range sel.Index {
		want := 0.0
		for _, score := range sel.S[2*k : 2*k+2] {
			want = max(want, math.Sqrt(2*math.Log(2*11*2/0.05)*(s.PhiSq[i]/80-score*score)/80))
		}
		near(t, "large-sample radius", sel.LargeSampleRadius[k], want, 1e-12)
	}
}
