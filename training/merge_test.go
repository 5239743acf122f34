package training

import (
	"math/rand/v2"
	"testing"
)

// lineTable draws one feature of spread 1 about mean, and an output that rises by slope with it.
func lineTable(seed uint64, rows int, mean, slope float64) table {
	r := rand.New(rand.NewPCG(seed, 3))
	d := table{rows: rows, features: 1, outputs: 1}
	for range rows {
		x := r.NormFloat64()
		d.z = append(d.z, float32(mean+x))
		d.y = append(d.y, float32(slope*x+0.1*r.NormFloat64()))
	}
	return d
}

func (t table) join(other table) table {
	t.z, t.y = append(t.z[:len(t.z):len(t.z)], other.z...), append(t.y[:len(t.y):len(t.y)], other.y...)
	t.rows += other.rows
	return t
}

// requireNaiveModel trains on sums of the rows of d and compares the model with one computed from
// the rows themselves.
func requireNaiveModel(t *testing.T, what string, fit, heldOut *Sums, d table) {
	t.Helper()
	const lambda = 1e-3
	f, err := Train(fit, heldOut, Options{Intercept: true, Grid: ExplicitGrid(lambda)})
	if err != nil {
		t.Fatal(err)
	}
	theta, theta0 := naiveRidge(t, d, lambda, true)
	requireClose(t, what+": weights", f.Model.Theta, theta, 1e-4)
	requireClose(t, what+": intercept", f.Model.Intercept, theta0, 1e-4)
}

// One row is so far off that, about its value, the spread of all rows would be lost in the rounding
// of float32.
func TestSmallSumWithFarShiftDoesNotDrownALargeOne(t *testing.T) {
	far, near := lineTable(1, 1, 1e4, 1), lineTable(2, 1e5, 0, 2)
	all := far.join(near)
	merged := far.sums()
	merged.Merge(near.sums())
	requireNaiveModel(t, "large into small", merged, nil, all)
	merged = near.sums()
	merged.Merge(far.sums())
	requireNaiveModel(t, "small into large", merged, nil, all)
	requireNaiveModel(t, "small beside large", far.sums(), near.sums(), all)
}

// No single part outweighs the rows so far, so the shift stays far from most rows. Merged rows were
// summed about other shifts and have the rounding of those.
func TestManySmallSumsFarFromTheFirst(t *testing.T) {
	const times, rows = 45000, 2
	first, part := lineTable(3, rows, 0, 2), lineTable(4, rows, 1e5, 2)
	merged, all, sums := first.sums(), first, part.sums()
	for range times {
		merged.Merge(sums)
		all.z, all.y, all.rows = append(all.z, part.z...), append(all.y, part.y...), all.rows+rows
	}
	requireNaiveModel(t, "merged", merged, nil, all)
}
