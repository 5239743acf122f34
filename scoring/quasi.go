package scoring

import (
	"math"
	"sync"

	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// Quasi-random candidates are the points of a Halton sequence through the quantile function of P0, as Avron, Sindhwani, Yang
// and Mahoney propose, "Quasi-Monte Carlo Feature Maps for Shift-Invariant Kernels" (JMLR 17, 2016): candidate i is
//
//	b = 2π·u₀,  ωⱼ = F⁻¹(uⱼ)/σ,  uⱼ = (Σₖ (fⱼₖ·aₖ mod p)·p⁻ᵏ⁻¹ + sⱼ) mod 1
//
// with a₀, a₁, ... the digits of i in the base p, the j-th prime (2 for the phase), fⱼₖ a factor in 1..p-1 for each digit and
// sⱼ a shift in (0, 1), both drawn from the seed.
//
// A plain Halton sequence is useless in high dimensions: until i reaches p, neighbouring coordinates rise in step. Factors
// break that, as permutations of the digits do (A. Owen, "A randomized Halton algorithm in R", arXiv:1706.02808), and need no
// tables: two digits that differ are taken to two that differ by any amount but 0 with equal probability. The error of a
// mean depends on pairs of points alone, so that it is the same as with permutations (J. Matoušek, "On the L2-discrepancy
// for anchored boxes", J. Complexity 14, 1998). The shift (Cranley and Patterson 1976) makes each point uniform.

const (
	// maxQuasiDim bounds Dim, and with it the primes.
	maxQuasiDim = 1 << 16
	// quasiCount is more than the greatest candidate number: digits beyond those of quasiCount-1 are 0.
	quasiCount = 1 << 31
)

// quasiSequence has the numbers that points of one seed and dimension are made of. It grows nowhere and is read by one
// goroutine at a time.
type quasiSequence struct {
	seed       uint64
	dim        int
	primes     []uint64
	shifts     []float64
	factors    []uint64 // of all digits of all coordinates
	firstDigit []int    // of each coordinate in factors
}

// quasiSequences keeps sequences for the candidates that are drawn next.
var quasiSequences = sync.Pool{New: func() any { return new(quasiSequence) }}

// open makes q the sequence of c unless it is that already: dim+1 coordinates, the phase first. Coordinate j takes from
// its stream a uniform word for the shift, then a factor for each digit from the first on.
func (q *quasiSequence) open(c Candidates) {
	if q.dim == c.Dim && q.seed == c.Seed {
		return
	}
	if q.dim != c.Dim {
		q.primes = firstPrimes(c.Dim + 1)
	}
	q.seed, q.dim = c.Seed, c.Dim
	q.shifts, q.factors, q.firstDigit = q.shifts[:0], q.factors[:0], q.firstDigit[:0]
	for j, p := range q.primes {
		s := newStream(c.Seed, uint64(j), quasiTag)
		q.shifts = append(q.shifts, s.uniform())
		q.firstDigit = append(q.firstDigit, len(q.factors))
		for span := uint64(1); span < quasiCount; span *= p {
			q.factors = append(q.factors, 1+s.below(p-1))
		}
	}
}

// coordinate returns uⱼ of point i, strictly between 0 and 1.
func (q *quasiSequence) coordinate(i uint64, j int) float64 {
	const least = 0x1p-53
	p, factors := q.primes[j], q.factors[q.firstDigit[j]:]
	u := q.shifts[j]
	unit := 1 / float64(p)
	place := unit
	for k := 0; i > 0; k++ {
		u += float64(float64(i%p*factors[k]%p) * place)
		place = float64(place * unit)
		i /= p
	}
	return min(max(u-math.Floor(u), least), 1-least)
}

// drawQuasi fills omega with candidate index and returns its phase, whose digits beyond the 24th are cut as those of
// independent ones.
func (c Candidates) drawQuasi(omega []float32, index int32) (phase float32) {
	q := quasiSequences.Get().(*quasiSequence)
	defer quasiSequences.Put(q)
	q.open(c)
	quantile := c.Distribution.row().quantile
	for j := range omega {
		omega[j] = portable.Narrow(quantile(q.coordinate(uint64(index), j+1)) / c.Sigma)
	}
	return phaseOf(uint64(float64(q.coordinate(uint64(index), 0) * 0x1p24)))
}

// firstPrimes returns the first count primes, by the sieve of Eratosthenes.
func firstPrimes(count int) []uint64 {
	// The n-th prime is below n·(ln n + ln ln n) from the sixth on (Rosser).
	n := float64(max(count, 6))
	bound := int(n*(math.Log(n)+math.Log(math.Log(n)))) + 1
	composite := make([]bool, bound+1)
	primes := make([]uint64, 0, count)
	for i := 2; len(primes) < count; i++ {
		if composite[i] {
			continue
		}
		primes = append(primes, uint64(i))
		for k := i * i; k <= bound; k += i {
			composite[k] = true
		}
	}
	return primes
}
