package histogram

import (
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestSnapshotCountsWhatIsNotAboveEachBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds := rapid.SliceOfNDistinct(rapid.Float64Range(-10, 10), 1, 8, rapid.ID).Draw(t, "bounds")
		slices.Sort(bounds)
		values := rapid.SliceOf(rapid.OneOf(rapid.Float64Range(-20, 20), rapid.SampledFrom(bounds))).Draw(t, "values")
		h := New(bounds)
		var sum float64
		for _, v := range values {
			h.Observe(v)
			sum += v
		}
		s := h.Snapshot()
		if s.Count != uint64(len(values)) || s.Sum != sum {
			t.Fatalf("count %d, sum %v of %v", s.Count, s.Sum, values)
		}
		for i, bound := range bounds {
			var want uint64
			for _, v := range values {
				if v <= bound {
					want++
				}
			}
			if s.Below[i] != want {
				t.Errorf("%d values not above %v, want %d", s.Below[i], bound, want)
			}
		}
	})
}

func TestObserveFromSeveralGoroutines(t *testing.T) {
	h := New(Seconds())
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range 1000 {
				h.Observe(0.25)
			}
		})
	}
	workers.Wait()
	if s := h.Snapshot(); s.Count != 4000 || s.Sum != 1000 {
		t.Errorf("count %d, sum %v", s.Count, s.Sum)
	}
}

func TestNaNIsNotCounted(t *testing.T) {
	h := New([]float64{1})
	h.Observe(math.NaN())
	if s := h.Snapshot(); s.Count != 0 || s.Sum != 0 {
		t.Errorf("%+v", s)
	}
}

func TestNewRefusesBoundsThatDoNotAscend(t *testing.T) {
	for _, bounds := range [][]float64{{2, 1}, {1, 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("bounds %v were taken", bounds)
				}
			}()
			New(bounds)
		}()
	}
}
