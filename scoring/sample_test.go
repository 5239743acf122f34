package scoring

import (
	"math"
	"testing"
)

func TestHashesArePinned(t *testing.T) {
	// XXH64 of the 24 bytes, computed by another implementation (python-xxhash 4).
	for _, test := range []struct {
		seed      uint64
		partition int32
		ordinal   int64
		want      uint64
	}{
		{0, 0, 0, 0xbb3302e8a9608868},
		{1, 2, 3, 0x8799e152e5c0cdfa},
		{math.MaxUint64, -1, -1, 0x5df435eb7884adb6},
		{42, 7, 1 << 40, 0x69dc7a7ec195de73},
	} {
		if got := Hash(test.seed, test.partition, test.ordinal); got != test.want {
			t.Errorf("Hash(%d, %d, %d) is %#x, want %#x", test.seed, test.partition, test.ordinal, got, test.want)
		}
	}
}

func TestSampledAtExtremeRates(t *testing.T) {
	for _, hash := range []uint64{0, 1, math.MaxUint64} {
		for rate, want := range map[float64]bool{0: false, -1: false, 1: true, 2: true, math.Inf(1): true} {
			if Sampled(hash, rate) != want {
				t.Errorf("Sampled(%d, %v) is %v", hash, rate, !want)
			}
		}
		if Sampled(hash, math.NaN()) {
			t.Errorf("Sampled(%d, NaN) is true", hash)
		}
	}
	half := uint64(1) << 63
	if !Sampled(half-1, 0.5) || Sampled(half, 0.5) || Sampled(math.MaxUint64, math.Nextafter(1, 0)) {
		t.Error("the bound of a rate is not rate·2⁶⁴")
	}
}
