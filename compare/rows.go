package compare

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// rows are encoded rows with their labels, in the forms for scoring and for training.
type rows struct {
	x         []float32 // row-major [rows·dim]
	rows, dim int
	task      scoring.Task
	targets   scoring.Targets // labels for scoring
	class     []int32         // [rows], nil for a regression
	classes   int
	y         []float32 // labels for training, row-major [rows·outputs]
	outputs   int
}

// newRows returns the rows of a data set with regression labels coded.
func newRows(d *datasets.Data, coding labelCoding) *rows {
	r := &rows{x: d.X, rows: d.N, dim: d.Dim, task: d.Task, class: d.Class, classes: d.Classes}
	if d.Task == scoring.Regression {
		r.y, r.outputs = coding.apply(d.Y), d.Outputs
		r.targets = scoring.Targets{Outputs: d.Outputs, Values: r.y}
		return r
	}
	r.targets = d.Targets()
	r.outputs = r.targets.Outputs
	r.y = make([]float32, r.rows*r.outputs)
	training.CodeClasses(r.y, r.class, d.Classes)
	return r
}

// unclipped returns the rows without the encoder's logarithms.
func (r *rows) unclipped(e *encoder.Encoder) *rows {
	x := slices.Clone(r.x)
	if !e.Unclip(x) {
		return r
	}
	u := *r
	u.x = x
	return &u
}

// sample returns copies of some rows, in the order of list, for scoring.
func (r *rows) sample(list []int32) *rows {
	taken := &rows{
		rows: len(list), dim: r.dim, task: r.task, x: make([]float32, 0, len(list)*r.dim),
		targets: scoring.Targets{Outputs: r.targets.Outputs},
	}
	outputs := r.targets.Outputs
	for _, row := range list {
		i := int(row)
		taken.x = append(taken.x, r.x[i*r.dim:(i+1)*r.dim]...)
		if r.targets.Class != nil {
			taken.targets.Class = append(taken.targets.Class, r.targets.Class[i])
		} else {
			taken.targets.Values = append(taken.targets.Values, r.targets.Values[i*outputs:(i+1)*outputs]...)
		}
	}
	return taken
}

// majority returns the class with the most rows, the lower number on a tie.
func (r *rows) majority() int32 {
	counts := map[int32]int{}
	best := int32(0)
	for _, k := range r.class {
		counts[k]++
	}
	for k, n := range counts {
		if n > counts[best] || n == counts[best] && k < best {
			best = k
		}
	}
	return best
}

// logShares writes the outputs of the logistic loss that predict the shares of the classes.
func (r *rows) logShares(outputs []float32) {
	logs := make([]float64, r.classes)
	for _, k := range r.class {
		logs[k]++
	}
	for k, n := range logs {
		logs[k] = math.Log(max(n, 0.5) / float64(r.rows))
	}
	if len(outputs) == 1 {
		outputs[0] = float32(logs[1] - logs[0])
		return
	}
	for k, v := range logs {
		outputs[k] = float32(v)
	}
}

// means returns the mean of each output.
func (r *rows) means() []float64 {
	sums := make([]float64, r.outputs)
	for i, v := range r.y {
		sums[i%r.outputs] += float64(v)
	}
	for k := range sums {
		sums[k] /= float64(r.rows)
	}
	return sums
}
