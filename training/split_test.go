package training

import (
	"fmt"
	"math"
	"testing"
)

// The hashes are part of the meaning of a model's lineage: another value here means another split of
// every row.
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

func TestHeldOutFraction(t *testing.T) {
	const partitions, offsets, rows = 4, 50, 500
	for _, fraction := range []float64{0.01, 0.1, 0.5, 0.9} {
		for seed := range uint64(3) {
			heldOut := 0
			for p := range int32(partitions) {
				for o := range int64(offsets) {
					for r := range int32(rows) {
						if HeldOut(seed, p, o, r, fraction) {
							heldOut++
						}
					}
				}
			}
			n := float64(partitions * offsets * rows)
			if z := (float64(heldOut) - n*fraction) / math.Sqrt(n*fraction*(1-fraction)); math.Abs(z) > 4 {
				t.Errorf("fraction %v, seed %d: %d of %v rows, %.1f standard deviations off", fraction, seed, heldOut, n, z)
			}
		}
	}
}

func TestHeldOutIsNestedInTheFraction(t *testing.T) {
	for r := range int32(2000) {
		held := false
		for _, fraction := range []float64{0, 0.05, 0.2, 0.7, math.Nextafter(1, 0), 1} {
			now := HeldOut(9, 1, 2, r, fraction)
			if held && !now {
				t.Fatalf("row %d held out at a smaller fraction than %v only", r, fraction)
			}
			held = now
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

func ExampleHeldOut() {
	held := 0
	for row := range int32(1000) {
		if HeldOut(7, 0, 1234, row, 0.1) {
			held++
		}
	}
	fmt.Println(held)
	// Output: 85
}
