package training

import (
	"fmt"
	"math"
)

// Paired holds the errors of two predictors on the same rows, by one of the measures.
type Paired struct {
	First, Second float64
	// StandardError belongs to First − Second and comes from the differences row by row: how much
	// another sample of rows of this size would change it. It is infinite for a single row.
	StandardError float64
}

// PairedBy compares outputs on rows by a measure. All are rows×outputs, and y is coded by
// [CodeClasses] for classes.
func PairedBy(measure string, first, second, y []float32, outputs int) Paired {
	switch measure {
	case MeasureLogLoss:
		return PairedLogLoss(first, second, y, outputs)
	case MeasureMisclassification:
		return PairedMisclassification(first, second, y, outputs)
	case MeasureAbsoluteError:
		return PairedAbsoluteError(first, second, y, outputs)
	}
	return PairedUnexplainedVariance(first, second, y, outputs)
}

// PairedLogLoss compares outputs of the logistic loss on rows with outputs y coded by
// [CodeClasses]. Rows of [UnknownClass] have no probability and do not count.
func PairedLogLoss(first, second, y []float32, outputs int) Paired {
	rows := pairedRows(first, second, y, outputs)
	var p Paired
	var differences []float64
	for n := range rows {
		row := func(v []float32) []float32 { return v[n*outputs : (n+1)*outputs] }
		class := CodedClass(row(y))
		if class == UnknownClass {
			continue
		}
		a, b := NegativeLog(row(first), class), NegativeLog(row(second), class)
		p.First += a
		p.Second += b
		differences = append(differences, a-b)
	}
	known := float64(len(differences))
	p.First, p.Second = p.First/known, p.Second/known
	p.StandardError = meanError(differences)
	return p
}

// PairedAbsoluteError compares predictions by their absolute errors, in percent of those of the
// mean label of the rows and averaged over the outputs. The standard error is the linearised one of
// a ratio, as for [PairedUnexplainedVariance].
func PairedAbsoluteError(first, second, y []float32, outputs int) Paired {
	rows := pairedRows(first, second, y, outputs)
	var p Paired
	differences := make([]float64, rows)
	for k := range outputs {
		at := func(v []float32, n int) float64 { return float64(v[n*outputs+k]) }
		var mean, a, b, constant float64
		for n := range rows {
			mean += at(y, n) / float64(rows)
		}
		for n := range rows {
			a += math.Abs(at(first, n) - at(y, n))
			b += math.Abs(at(second, n) - at(y, n))
			constant += math.Abs(mean - at(y, n))
		}
		p.First += percent(a, constant) / float64(outputs)
		p.Second += percent(b, constant) / float64(outputs)
		if constant <= 0 {
			continue
		}
		for n := range rows {
			own := math.Abs(at(first, n)-at(y, n)) - math.Abs(at(second, n)-at(y, n))
			base := math.Abs(mean - at(y, n))
			differences[n] += 100 * (own - float64((a-b)/constant*base)) / (constant / float64(rows)) / float64(outputs)
		}
	}
	p.StandardError = meanError(differences)
	return p
}

// PairedMisclassification compares decisions on rows with outputs y coded by [CodeClasses]. All are
// rows×outputs.
func PairedMisclassification(first, second, y []float32, outputs int) Paired {
	rows := pairedRows(first, second, y, outputs)
	var p Paired
	differences := make([]float64, rows)
	for n := range rows {
		row := func(v []float32) int32 { return DecideClass(v[n*outputs:(n+1)*outputs], outputs) }
		want := CodedClass(y[n*outputs : (n+1)*outputs])
		if row(first) != want {
			p.First++
			differences[n]++
		}
		if row(second) != want {
			p.Second++
			differences[n]--
		}
	}
	p.First, p.Second = percent(p.First, float64(rows)), percent(p.Second, float64(rows))
	p.StandardError = 100 * meanError(differences)
	return p
}

// PairedUnexplainedVariance compares predictions by the unexplained variance, averaged over the
// outputs. The standard error is the linearised one of a ratio (Cochran, Sampling Techniques, 1977,
// chapter 6).
func PairedUnexplainedVariance(first, second, y []float32, outputs int) Paired {
	rows := pairedRows(first, second, y, outputs)
	a, b := NewRegression(make([]float64, outputs)), NewRegression(make([]float64, outputs))
	a.Add(first, y, rows)
	b.Add(second, y, rows)
	p := Paired{First: a.UnexplainedVariance(), Second: b.UnexplainedVariance()}
	differences := make([]float64, rows) // contribution of each row to the difference of the ratios, to first order
	for k := range outputs {
		o := a.outputs[k].coded
		if o.centred <= 0 {
			continue
		}
		for n := range rows {
			want := float64(y[n*outputs+k])
			f := float64(first[n*outputs+k]) - want
			g := float64(second[n*outputs+k]) - want
			w := want - o.mean
			scale := float64(rows) / float64(o.centred*float64(outputs))
			ratio := (o.squared - b.outputs[k].coded.squared) / o.centred
			differences[n] += float64(scale * (float64(f*f) - float64(g*g) - float64(ratio*float64(w*w))))
		}
	}
	p.StandardError = 100 * meanError(differences)
	return p
}

func pairedRows(first, second, y []float32, outputs int) int {
	if outputs <= 0 || len(y)%outputs != 0 || len(first) != len(y) || len(second) != len(y) {
		panic(fmt.Sprintf("training: %d and %d predictions for %d labels of %d outputs",
			len(first), len(second), len(y), outputs))
	}
	return len(y) / outputs
}

// meanError returns the standard error of the mean of values.
func meanError(values []float64) float64 {
	n := float64(len(values))
	if n < 2 {
		return math.Inf(1)
	}
	var mean, squares float64
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(squares / (n - 1) / n)
}
