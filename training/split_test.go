package training

import (
	"math"
	"testing"
)

// The lineage of a model depends on these hashes. Another value here changes the split of every
// row.
func TestRowHashGolden(t *testing.T) {
	for _, c := range []struct {
		identity, seed uint64
		want           uint64
	}{
		{0, 0, 0x24c0c8f3b3d628ea},
		{0, 1, 0x9706b48580907fbe},
		{1, 0, 0x1e2f2cfd9324c316},
		{math.MaxUint64, 42, 0xf5a8b3c08522b55d},
	} {
		id := RowID{Identity: c.identity, Partition: 3, Offset: 7, Row: 2} // the place does not count
		if got := id.Hash(c.seed); got != c.want {
			t.Errorf("%d under seed %d: %#016x, want %#016x", c.identity, c.seed, got, c.want)
		}
	}
}

func TestHeldOutAtTheEnds(t *testing.T) {
	for _, fraction := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		for r := range uint64(100) {
			if HeldOut(1, r, fraction) {
				t.Fatalf("row held out at fraction %v", fraction)
			}
		}
	}
	for _, fraction := range []float64{1, 2, math.Inf(1)} {
		if !HeldOut(1, 0, fraction) {
			t.Fatalf("row not held out at fraction %v", fraction)
		}
	}
}
