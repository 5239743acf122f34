package scoring

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// naive is the criterion on dense float64 matrices, every fit a ridge regression of its own.
type naive struct {
	phi    [][]float64 // standardized, by candidate; nil for a constant
	y      [][]float64 // coded and centred, by output
	radius float64
}

type naiveChoice struct {
	index []int32
	gain  []float64
	above int
}

func newNaive(c residualCase, x []float32, t Targets, coding Coding) *naive {
	n := &naive{radius: HoeffdingRadius(c.c.Count, t.Outputs, int64(c.rows), Delta)}
	f := c.c.DrawAll()
	for m := range f.Len() {
		column := make([]float64, c.rows)
		for i := range column {
			column[i] = referencePhi(f, m, x[i*f.Dim:(i+1)*f.Dim])
		}
		n.phi = append(n.phi, standardized(column, true))
	}
	for k := range t.Outputs {
		column := make([]float64, c.rows)
		for i := range column {
			column[i] = coding.Gain[k] * rawOutputs(t, i)[k]
		}
		n.y = append(n.y, standardized(column, false))
	}
	return n
}

// standardized centres a column and gives it unit variance where asked to.
func standardized(v []float64, unit bool) []float64 {
	mean, square := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
		square += x * x / float64(len(v))
	}
	variance := 0.0
	for _, x := range v {
		variance += (x - mean) * (x - mean) / float64(len(v))
	}
	if unit && variance <= minRelativeVariance*square {
		return nil
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x - mean
		if unit {
			out[i] /= math.Sqrt(variance)
		}
	}
	return out
}

// fit returns the ridge objective and the residual of each output on the given features.
func (n *naive) fit(index []int32) (objective []float64, residual [][]float64) {
	rows, m := len(n.y[0]), len(index)
	solver := new(mat.Cholesky)
	if m > 0 {
		gram := mat.NewSymDense(m, nil)
		for a, i := range index {
			for b, j := range index[:a+1] {
				gram.SetSym(a, b, inner(n.phi[i], n.phi[j])/float64(rows))
			}
			gram.SetSym(a, a, gram.At(a, a)+residualRidge)
		}
		if !solver.Factorize(gram) {
			panic("not positive definite")
		}
	}
	for _, y := range n.y {
		left := slices.Clone(y)
		penalty := 0.0
		if m > 0 {
			cross := mat.NewVecDense(m, nil)
			for a, i := range index {
				cross.SetVec(a, inner(n.phi[i], y)/float64(rows))
			}
			var theta mat.VecDense
			if err := solver.SolveVecTo(&theta, cross); err != nil {
				panic(err)
			}
			for a, i := range index {
				penalty += residualRidge * theta.AtVec(a) * theta.AtVec(a)
				for r := range left {
					left[r] -= theta.AtVec(a) * n.phi[i][r]
				}
			}
		}
		objective = append(objective, inner(left, left)/float64(rows)+penalty)
		residual = append(residual, left)
	}
	return objective, residual
}

func inner(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// choose runs the rounds.
func (n *naive) choose(features, rounds int) naiveChoice {
	var chosen naiveChoice
	rounds = min(rounds, features)
	for round := 1; round <= rounds; round++ {
		want := features*round/rounds - len(chosen.index)
		pool := n.pool(chosen.index, 5*((features+rounds-1)/rounds))
		for range want {
			best, gain, loud := n.best(chosen.index, pool)
			if !(gain > 0) {
				break
			}
			if loud > n.radius {
				chosen.above++
			}
			chosen.index, chosen.gain = append(chosen.index, best), append(chosen.gain, gain)
			pool = slices.DeleteFunc(pool, func(i int32) bool { return i == best })
		}
	}
	return chosen
}

// pool returns the best candidates by correlation with the residual, by number.
func (n *naive) pool(kept []int32, size int) []int32 {
	_, residual := n.fit(kept)
	values := make([]float64, len(n.phi))
	for i, phi := range n.phi {
		if phi == nil || slices.Contains(kept, int32(i)) {
			continue
		}
		for _, e := range residual {
			cov := inner(phi, e) / float64(len(e))
			values[i] += cov * cov
		}
	}
	pool := Rank(values)
	pool = slices.DeleteFunc(pool[:min(size, len(pool))], func(i int32) bool { return values[i] == 0 })
	slices.Sort(pool)
	return pool
}

// best tries every candidate of the pool. loud is the correlation of the best.
func (n *naive) best(kept, pool []int32) (best int32, gain, loud float64) {
	before, _ := n.fit(kept)
	for _, i := range pool {
		after, _ := n.fit(append(slices.Clone(kept), i))
		fall, own := 0.0, 0.0
		for k := range after {
			fall += before[k] - after[k]
			own = max(own, math.Sqrt((before[k]-after[k])/before[k]))
		}
		if fall > gain {
			best = i
			gain = fall
			loud = own
		}
	}
	return best, gain, loud
}
