package encoder

import (
	"slices"
	"testing"
)

// Rows of two encoders that take turns with one memory give the same as each by itself, and neither is prepared
// again.
func TestRowsExchangeMemory(t *testing.T) {
	ages := record(t, col(t, "age", f64, 50.0, 30.0), col(t, "member", flags, true, false),
		col(t, "work", text, "Public", "Private"), col(t, "v", list(2, f64), []any{2.0, 6.0}, []any{1.0, 2.0}))
	first, second := sampleEncoder(), sampleEncoder()
	second.Columns[0].Mean = []float64{30}
	var shared Rows
	own := []*Rows{{}, {}}
	for range 3 {
		for i, e := range []*Encoder{first, second} {
			want := encoded(t, e, ages)
			own[i].Exchange(&shared)
			if err := e.Encode(own[i], ages, nil); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(own[i].X, want.X) || own[i].binding.encoder != e {
				t.Errorf("encoder %d: %v, want %v", i, own[i].X, want.X)
			}
			own[i].Exchange(&shared)
			if own[i].dense != nil || own[i].binding.encoder != e || shared.binding.encoder != nil {
				t.Errorf("encoder %d keeps memory, or its tables went with it", i)
			}
		}
	}
}
