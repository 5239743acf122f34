package scoring

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// someSums are the sums of a few rows with two outputs.
func someSums(seed uint64, rows int) *Sums {
	f := drawFeatures(MapCosine, 5, 11)
	return scoreRows(f, normalRows(seed, rows, 5), rows, Targets{Outputs: 2, Values: normalRows(seed+1, rows, 2)})
}

func TestMergeAddsRows(t *testing.T) {
	f := drawFeatures(MapCosine, 5, 11)
	x, y := normalRows(1, 40, 5), Targets{Outputs: 2, Values: normalRows(2, 40, 2)}
	whole := scoreRows(f, x, 40, y)
	first, merged := scoreRows(f, x[:15*5], 15, y.Slice(0, 15)), NewSums(11, 2)
	if merged.Merge(first); !reflect.DeepEqual(merged, first) {
		t.Error("merging into empty sums changes bits")
	}
	merged.Merge(scoreRows(f, x[15*5:], 25, y.Slice(15, 40)))
	merged.Merge(NewSums(11, 2))
	if merged.Rows != 40 || !reflect.DeepEqual(merged.YMin, whole.YMin) || !reflect.DeepEqual(merged.YMax, whole.YMax) {
		t.Errorf("%d rows from %v to %v, want 40 from %v to %v", merged.Rows, merged.YMin, merged.YMax, whole.YMin,
			whole.YMax)
	}
	for i, v := range whole.YPhi {
		near(t, "Σyφ", merged.YPhi[i], v, 1e-12)
	}
	for i, v := range whole.Phi {
		near(t, "Σφ", merged.Phi[i], v, 1e-12)
		near(t, "Σφ²", merged.PhiSq[i], whole.PhiSq[i], 1e-12)
	}
	for k, v := range whole.Y {
		near(t, "Σy", merged.Y[k], v, 1e-12)
		near(t, "Σy²", merged.YSq[k], whole.YSq[k], 1e-12)
	}
}

func TestDamagedSumsAreReported(t *testing.T) {
	for want, damage := range map[string]func(s *Sums){
		"row count is -1":        func(s *Sums) { s.Rows = -1 },
		"phi_sq has 10 numbers":  func(s *Sums) { s.PhiSq = s.PhiSq[1:] },
		"y_phi has 21 numbers":   func(s *Sums) { s.YPhi = s.YPhi[1:] },
		"y_sq has 1 numbers":     func(s *Sums) { s.YSq = s.YSq[1:] },
		"y_min has 0 numbers":    func(s *Sums) { s.YMin = nil },
		"y_max has 3 numbers":    func(s *Sums) { s.YMax = append(s.YMax, 1) },
		"sums of 0 candidates":   func(s *Sums) { s.Phi = nil },
		"phi[2] is NaN":          func(s *Sums) { s.Phi[2] = math.NaN() },
		"phi_sq[1] is -1":        func(s *Sums) { s.PhiSq[1] = -1 },
		"y_phi[3] is +Inf":       func(s *Sums) { s.YPhi[3] = math.Inf(1) },
		"y[0] is -Inf":           func(s *Sums) { s.Y[0] = math.Inf(-1) },
		"y_sq[1] is NaN":         func(s *Sums) { s.YSq[1] = math.NaN() },
		"range of output 1 is 5": func(s *Sums) { s.YMin[1] = 5 },
		"with no rows":           func(s *Sums) { s.Rows = 0 },
	} {
		s := someSums(6, 8)
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		damage(s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := NewSums(3, 2).Validate(); err != nil {
		t.Errorf("sums of no rows: %v", err)
	}
}
