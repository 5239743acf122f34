package training

import (
	"math"
	"testing"
)

// The lineage of a model depends on these hashes. Another value here changes the split of every
// row.
func TestRowHashGolden(t *testing.T) {
	for _, c := range []struct {
		id   RowID
		seed uint64
		want uint64
	}{
		{RowID{}, 0, 0xd344cf0e8c053dbd},
		{RowID{}, 1, 0xd6fb74cbfbf4fadb},
		{RowID{Row: 1}, 0, 0x56af83511f1b59b1},
		{RowID{Partition: 1}, 0, 0xd2551ce35e31ca60},
		{RowID{Offset: 1}, 0, 0xad7ca9122492c211},
		{RowID{Partition: 3, Offset: 1 << 40, Row: 4095}, 42, 0xe73083ff06d2ef40},
		{RowID{Partition: -1, Offset: -1, Row: -1}, math.MaxUint64, 0x2dda34e340055a13},
	} {
		if got := c.id.Hash(c.seed); got != c.want {
			t.Errorf("%+v under seed %d: %#016x, want %#016x", c.id, c.seed, got, c.want)
		}
	}
}

func TestHeldOutAtTheEnds(t *testing.T) {
	for _, fraction := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		for r := range int32(100) {
			if HeldOut(1, 0, 0, r, fraction) {
				t.Fatalf("row held out at fraction %v", fraction)
			}
		}
	}
	for _, fraction := range []float64{1, 2, math.Inf(1)} {
		if !HeldOut(1, 0, 0, 0, fraction) {
			t.Fatalf("row not held out at fraction %v", fraction)
		}
	}
}
