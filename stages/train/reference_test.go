package train

import (
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

// trainingRow is a row of the features topic as read by the reference.
type trainingRow struct {
	z    []float64
	y    []float64 // a regression's label in the coding of the selection, ±1 one-vs-rest for classes
	held bool      // by the hash

	offset int64 // of the event
}

// trainingRows reads the labelled rows of messages without duplicates.
func trainingRows(t testing.TB, set *wire.FeatureSet, config Config, messages []pipeline.Record) []trainingRow {
	t.Helper()
	m := set.Set.Features.Len()
	var rows []trainingRow
	for _, r := range messages {
		out := readOutput(t, r, m)
		for i, number := range out.rows {
			row := trainingRow{offset: out.part.SourceOffset, held: training.HeldOut(config.HeldOutSeed, 2, out.part.SourceOffset, number, config.HeldOutFraction)}
			for _, v := range out.z[i*m : (i+1)*m] {
				row.z = append(row.z, float64(v))
			}
			if row.y = referenceLabel(set, out.body, i); row.y != nil {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// referenceLabel codes the label of row i; nil = unlabelled.
func referenceLabel(set *wire.FeatureSet, rec arrow.Record, i int) []float64 {
	label := set.Encoder.Label
	column := rec.Column(rec.Schema().FieldIndices(label.Columns[0])[0])
	if column.IsNull(i) {
		return nil
	}
	if set.Task == scoring.Regression {
		return []float64{set.Coding.Gain[0]*(column.(*array.Float64).Value(i)-label.Mean[0]) + set.Coding.Offset[0]}
	}
	class := slices.Index(label.Classes, column.ValueStr(i))
	if class < 0 {
		return nil
	}
	if set.Task == scoring.Binary {
		return []float64{2*float64(class) - 1}
	}
	y := make([]float64, len(label.Classes))
	for k := range y {
		y[k] = 2*float64(stagestest.Bit(k == class)) - 1
	}
	return y
}

// codedModel converts a model in units of the label to coded labels.
func codedModel(set *wire.FeatureSet, model *training.Model) *training.Model {
	coded := *model
	if set.Task == scoring.Regression {
		gain, offset := set.Coding.Gain[0], set.Coding.Offset[0]
		coded.Theta = nil
		for _, v := range model.Theta {
			coded.Theta = append(coded.Theta, gain*v)
		}
		coded.Intercept = []float64{gain*(model.Intercept[0]-set.Encoder.Label.Mean[0]) + offset}
	}
	return &coded
}

// ridge solves (1/N) Σ (θ₀ + θᵀz − y)² + λ‖θ‖² for one output by Gaussian elimination.
func ridge(rows []trainingRow, output int, lambda float64, intercept bool) (theta []float64, theta0 float64) {
	m, n := len(rows[0].z), float64(len(rows))
	meanZ, meanY := make([]float64, m), 0.0
	if intercept {
		for _, r := range rows {
			for j, v := range r.z {
				meanZ[j] += v / n
			}
			meanY += r.y[output] / n
		}
	}
	a := make([][]float64, m) // (G + λI | b)
	for i := range a {
		a[i] = make([]float64, m+1)
		a[i][i] = lambda
		for _, r := range rows {
			zi := r.z[i] - meanZ[i]
			for j := range m {
				a[i][j] += zi * (r.z[j] - meanZ[j]) / n
			}
			a[i][m] += zi * (r.y[output] - meanY) / n
		}
	}
	theta = eliminate(a)
	theta0 = meanY
	for j, v := range theta {
		theta0 -= v * meanZ[j]
	}
	return theta, theta0
}

// eliminate solves linear equations, with the right side as last column, with pivoting.
func eliminate(a [][]float64) []float64 {
	n := len(a)
	for i := range n {
		pivot := i
		for r := i + 1; r < n; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[pivot][i]) {
				pivot = r
			}
		}
		a[i], a[pivot] = a[pivot], a[i]
		for r := i + 1; r < n; r++ {
			f := a[r][i] / a[i][i]
			for c := i; c <= n; c++ {
				a[r][c] -= f * a[i][c]
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = a[i][n]
		for c := i + 1; c < n; c++ {
			x[i] -= a[i][c] * x[c]
		}
		x[i] /= a[i][i]
	}
	return x
}

// predict is the reference's f(z).
func predict(theta []float64, theta0 float64, z []float64) float64 {
	for j, v := range z {
		theta0 += theta[j] * v
	}
	return theta0
}
