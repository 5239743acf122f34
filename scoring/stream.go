package scoring

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/eerf-stream/eerf/scoring/internal/portable"
)

// The domain tags keep the streams of one seed apart; each is 16 bytes of ASCII.
const (
	candidateTag   = "eerf/candidate/1"
	permutationTag = "eerf/permutation"
)

// stream is the source of randomness of one candidate: the 64-bit words of ChaCha8 as C2SP's
// chacha8rand specifies it (Go's math/rand/v2.ChaCha8), under a 32-byte key of the seed (8 bytes,
// little endian), the index (8 bytes, little endian) and a 16-byte domain tag. Everything drawn is
// a documented function of the words in order, in arithmetic that any language with IEEE 754
// doubles can repeat.
type stream struct{ words *rand.ChaCha8 }

// newStream opens the stream of (seed, index) under tag.
func newStream(seed, index uint64, tag string) stream {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], index)
	copy(key[16:], tag)
	return stream{rand.NewChaCha8(key)}
}

// Uniforms returns a source of numbers that are uniform strictly between 0 and 1 and never ½, for
// draws that must be reproducible anywhere. They are a function of seed, index and a tag of 16
// bytes, which separates the streams of different uses.
func Uniforms(seed, index uint64, tag string) func() float64 {
	if len(tag) != 16 {
		panic(fmt.Sprintf("scoring: stream under the tag %q, want 16 bytes", tag))
	}
	return newStream(seed, index, tag).uniform
}

// phase takes one word and returns 2π·⌊word/2⁴⁰⌋/2²⁴, which float32 holds as a number below 2π.
func (s stream) phase() float32 {
	return float32(2 * math.Pi * (float64(s.words.Uint64()>>40) * 0x1p-24))
}

// uniform takes one word and returns (⌊word/2¹²⌋ + ½)/2⁵²: strictly between 0 and 1 and never ½.
func (s stream) uniform() float64 {
	return float64((float64(s.words.Uint64()>>12) + 0.5) * 0x1p-52)
}

// normal takes one word and returns the standard normal quantile of its uniform.
func (s stream) normal() float64 { return portable.NormalQuantile(s.uniform()) }

// cauchy takes two words and returns the quotient of their two normals, the first above the second.
func (s stream) cauchy() float64 {
	a := s.normal()
	return a / s.normal()
}

// laplace takes one word and returns the Laplace quantile (scale 1) of its uniform.
func (s stream) laplace() float64 {
	u := s.uniform()
	if u < 0.5 {
		return portable.Log(2 * u)
	}
	return -portable.Log(2 * (1 - u))
}

// below returns a number in [0, n), each equally likely: the word modulo n, skipping words at or
// above the greatest multiple of n within 64 bits.
func (s stream) below(n uint64) uint64 {
	// 2⁶⁴ mod n words at the top would favour small remainders.
	_, excess := bits.Div64(1%n, 0, n)
	for {
		word := s.words.Uint64()
		if excess == 0 || word < -excess {
			return word % n
		}
	}
}

// permutation returns the coordinates 0..d-1 in an order that seed determines: Fisher and Yates
// from the front, exchanging the i-th with the (i + below(d-i))-th, so that a prefix does not
// depend on the length.
func permutation(seed uint64, d int) []int32 {
	s := newStream(seed, 0, permutationTag)
	p := make([]int32, d)
	for i := range p {
		p[i] = int32(i)
	}
	for i := range p {
		j := i + int(s.below(uint64(d-i)))
		p[i], p[j] = p[j], p[i]
	}
	return p
}
