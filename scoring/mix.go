package scoring

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// maxMix bounds the scales of a bandwidth mix.
const maxMix = 64

// SigmaOf returns the bandwidth of a candidate: Sigma or, with a Mix, Sigma times one of its scales. Which one is a function
// of the seed and the candidate's number: scale h mod len(Mix), h the XXH64 with seed 0 of seed and number, 8 bytes each,
// little endian, behind "mix" in ASCII. The words that a candidate is drawn from are the same with and without a Mix.
func (c Candidates) SigmaOf(index int32) float64 {
	if len(c.Mix) == 0 {
		return c.Sigma
	}
	b := append(make([]byte, 0, 19), "mix"...)
	for _, v := range []uint64{c.Seed, uint64(index)} {
		for shift := 0; shift < 64; shift += 8 {
			b = append(b, byte(v>>shift))
		}
	}
	return float64(c.Sigma * c.Mix[xxhash.Sum64(b)%uint64(len(c.Mix))])
}

// checkMix reports a mix that cannot be drawn from.
func (c Candidates) checkMix() error {
	switch {
	case len(c.Mix) == 0:
		return nil
	case c.Map != MapCosine:
		return fmt.Errorf("bandwidth_mix goes with the cosine map alone: what scales the features of the %v map, the model scales back", c.Map)
	case c.Sampler == Structured:
		return errors.New("bandwidth_mix does not go with the structured sampler, whose blocks have one bandwidth")
	case len(c.Mix) > maxMix:
		return fmt.Errorf("bandwidth_mix has %d scales, want at most %d", len(c.Mix), maxMix)
	}
	if slices.ContainsFunc(c.Mix, func(v float64) bool { return !(v > 0) || math.IsInf(c.Sigma*v, 0) || c.Sigma*v == 0 }) {
		return fmt.Errorf("bandwidth_mix is %v, want positive finite scales", c.Mix)
	}
	return nil
}
