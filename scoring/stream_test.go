package scoring

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// TestDrawsArePinned compares drawn values with testdata/candidates.golden, bit for bit, on every
// architecture. A difference means that published feature sets can no longer be drawn again.
func TestDrawsArePinned(t *testing.T) {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	fmt.Fprintln(w, "# drawn values as hexadecimal floats; written by go test ./scoring -run Pinned -update")
	words := newStream(1, 2, candidateTag).words
	fmt.Fprintf(w, "words seed=1 index=2 tag=%s: %#016x %#016x %#016x\n", candidateTag,
		words.Uint64(), words.Uint64(), words.Uint64())
	for _, c := range everyKind(5, 3) {
		f := c.DrawAll()
		fmt.Fprintf(w, "%v %v varied=%v sigma=%v seed=%d dim=%d:\n", c.Map, c.Distribution, c.Varied, c.Sigma, c.Seed, c.Dim)
		for i := range f.Len() {
			if f.Phase != nil {
				fmt.Fprintf(w, "  phase %x", f.Phase[i])
			}
			fmt.Fprintf(w, "  omega %x\n", f.Omega[i*f.Width():(i+1)*f.Width()])
		}
	}
	w.Flush()
	golden(t, "testdata/candidates.golden", b.Bytes())
}

// golden compares got with a file, or writes it under -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s:\n%s", path, got)
	}
}

// TestDrawsHaveTheirDistribution compares 40,000 draws with the distribution function (Kolmogorov
// and Smirnov); the bound is passed by chance once in ten million.
func TestDrawsHaveTheirDistribution(t *testing.T) {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	cauchy := func(x float64) float64 { return math.Atan(x)/math.Pi + 0.5 }
	for name, test := range map[string]struct {
		draw func(s stream) float64
		cdf  func(x float64) float64
	}{
		"uniform": {stream.uniform, func(x float64) float64 { return x }},
		"phase": {func(s stream) float64 { return float64(s.phase()) }, func(x float64) float64 {
			return x / (2 * math.Pi)
		}},
		"normal": {stream.normal, normal},
		"cauchy": {stream.cauchy, cauchy},
		"laplace": {stream.laplace, func(x float64) float64 {
			if x < 0 {
				return math.Exp(x) / 2
			}
			return 1 - math.Exp(-x)/2
		}},
	} {
		const n = 40000
		s := newStream(9, 9, candidateTag)
		draws := make([]float64, n)
		for i := range draws {
			draws[i] = test.draw(s)
		}
		slices.Sort(draws)
		worst := 0.0
		for i, x := range draws {
			worst = max(worst, math.Abs(test.cdf(x)-(float64(i)+0.5)/n))
		}
		if bound := 2.9 / math.Sqrt(n); worst > bound {
			t.Errorf("%s: distance %v from the distribution, want %v at most", name, worst, bound)
		}
	}
}

func TestPermutationsAreEquallyLikely(t *testing.T) {
	const n = 24000
	counts := map[string]int{}
	for seed := range uint64(n) {
		counts[fmt.Sprint(permutation(seed, 4))]++
	}
	if len(counts) != 24 {
		t.Fatalf("%d permutations of 4, want 24", len(counts))
	}
	for p, count := range counts {
		// Six standard deviations of a count whose mean is 1000.
		near(t, "count of "+p, float64(count), n/24, 190)
	}
}
