package encoder

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTransformsAreUndone(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, transform := range []Transform{"", TransformLog, TransformLog1p} {
		for range 10_000 {
			v := math.Exp(40 * (random.Float64() - .5))
			if back := transform.Invert(transform.apply(v)); math.Abs(back/v-1) > 1e-13 {
				t.Fatalf("%q of %v comes back as %v", transform, v, back)
			}
		}
	}
	for _, v := range []float64{-.999999, -1e-18, 0, 1e-300, 1e-18, 1e-9, 3, 1e300} {
		if got, want := Transform(TransformLog1p).apply(v), math.Log1p(v); math.Abs(got-want) > 1e-15*math.Abs(want) {
			t.Errorf("log1p of %v is %v, want %v", v, got, want)
		}
	}
	values := []float64{0, 1, 1000}
	Transform(TransformLog).InvertAll(values)
	if values[0] != 1 || values[1] != math.E || values[2] != math.MaxFloat64 {
		t.Errorf("inverted %v", values)
	}
}

func TestLabelsWithoutATransformAreRejected(t *testing.T) {
	for transform, want := range map[string]struct {
		mean   float64
		faulty int64
	}{
		TransformNone: {mean: (-1 - .5 + 0 + math.E + 1) / 5}, TransformLog: {(0 + 1) / 2.0, 3},
		TransformLog1p: {(math.Log(.5) + 0 + math.Log(1+math.E) + math.Log(2)) / 4, 1},
	} {
		t.Run(transform, func(t *testing.T) {
			o := options("y")
			o.LabelTransform = transform
			rec := record(t, col(t, "x", f64, 1, 2, 3, 4, 5, 6), col(t, "y", f64, -1, -.5, 0, math.E, 1, nil))
			e, report := calibrated(t, o, rec)
			if math.Abs(e.Label.Mean[0]-want.mean) > 1e-15 || report.Labelled != 5-want.faulty {
				t.Errorf("mean %v of %d labels, want %v", e.Label.Mean, report.Labelled, want.mean)
			}
			var rows Rows
			if err := e.Encode(&rows, rec, nil); err != nil {
				t.Fatal(err)
			}
			if n := rejectedFor(&rows, LabelOutOfBounds); n != want.faulty {
				t.Errorf("%d labels beyond bounds, want %d", n, want.faulty)
			}
			for i, row := range rows.Row[:rows.N] {
				if row == 3 {
					back := e.Label.Transform.Invert(float64(rows.Targets.Values[i]) + e.Label.Mean[0])
					if math.Abs(back-math.E) > 1e-6 {
						t.Errorf("the label e is decoded as %v", back)
					}
				}
			}
		})
	}
}

func rejectedFor(rows *Rows, reason string) (n int64) {
	for _, r := range rows.Rejected {
		if r.Reason == reason {
			n++
		}
	}
	return n
}
