package live

import (
	"math"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// Figures are the errors of some rows.
type Figures struct {
	Rows    int64     `json:"rows"`
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Measure string    `json:"measure"` // of loss
	// Column names the column with the predictions that the rows supplied. Empty: a model predicted
	// the rows when their labels arrived.
	Column string `json:"prediction_column,omitempty"`

	// UnknownClassRows is the number of rows of classes that the feature set does not know. They
	// count as misclassified, but a log loss does not contain them.
	UnknownClassRows int64 `json:"unknown_class_rows,omitempty"`

	// It is the largest possible one if no row has a known class.
	Loss float64 `json:"loss"` // mean
	// Constant is the least mean loss of a constant on these rows; nil if undefined.
	Constant *float64 `json:"constant,omitempty"`
	// Promised is the mean loss that the models promised for these rows; nil if a model made no
	// promise.
	Promised *float64 `json:"promised,omitempty"`
	// PromisedRows is the smallest number of held-out rows of a promise.
	PromisedRows int64 `json:"promised_rows,omitempty"`

	// In percent: misclassification or unexplained variance, of the model, of the best constant,
	// and as promised.
	Error         float64  `json:"error"`
	ConstantError float64  `json:"constant_error"`
	PromisedError *float64 `json:"promised_error,omitempty"`

	RMSE []float64 `json:"rmse,omitempty"` // by output, in units of the label
	MAE  []float64 `json:"mae,omitempty"`
	AUC  *float64  `json:"auc,omitempty"` // of two classes, from scores in bins

	variance float64 // of the loss of a row
	lossRows int64   // rows of which Loss is the mean
}

// total adds up blocks.
type total struct {
	scores   bool           // scores are added too
	sums     *wire.LiveSums // nil = no rows
	promised pledge
	from, to time.Time
}

// with adds a block. If the measure has changed, the total starts over.
func (t *total) with(b *wire.Block) *total {
	for _, s := range b.Models {
		if !t.scores {
			s.Scores = [2][]wire.ScoreBin{}
		}
		if t.sums == nil || !t.sums.Alike(&s) {
			first := s.Clone()
			*t = total{scores: t.scores, sums: &first, from: b.From, to: b.To}
		} else {
			t.sums.Merge(&s)
		}
		t.promised.add(&s)
	}
	if b.From.Before(t.from) {
		t.from = b.From
	}
	if b.To.After(t.to) {
		t.to = b.To
	}
	return t
}

// FiguresOf returns the figures of blocks in order of time, nil without blocks.
func FiguresOf(blocks []*wire.Block) *Figures {
	t := &total{scores: true}
	for _, b := range blocks {
		t.with(b)
	}
	return t.figures()
}

// figures returns the figures, nil without rows.
func (t *total) figures() *Figures {
	if t.sums == nil {
		return nil
	}
	f := &Figures{From: t.from, To: t.to}
	f.fill(t.sums)
	f.Promised, f.PromisedError, f.PromisedRows = t.promised.mean()
	return f
}

// pledge adds up the promises of models for their rows.
type pledge struct {
	rows, least int64 // least is the smallest number of held-out rows of a promise
	loss, error float64
	unknown     bool
}

func (p *pledge) add(s *wire.LiveSums) {
	if s.Promised == nil || s.PromisedError == nil {
		p.unknown = true
		return
	}
	p.loss += float64(float64(s.Rows) * *s.Promised)
	p.error += float64(float64(s.Rows) * *s.PromisedError)
	p.rows += s.Rows
	if p.least == 0 || s.PromisedRows < p.least {
		p.least = s.PromisedRows
	}
}

func (p *pledge) mean() (loss, percent *float64, rows int64) {
	if p.unknown {
		return nil, nil, 0
	}
	meanLoss, meanError := p.loss/float64(p.rows), p.error/float64(p.rows)
	return &meanLoss, &meanError, p.least
}

func (f *Figures) fill(s *wire.LiveSums) {
	n := float64(s.Rows)
	f.Rows = s.Rows
	f.Measure = s.Measure
	f.Column = s.Column
	f.UnknownClassRows = s.Unknown
	if f.lossRows = s.LossRows(); f.lossRows > 0 {
		f.Loss = s.Loss / float64(f.lossRows)
		f.variance = max(0, s.Squares/float64(f.lossRows)-f.Loss*f.Loss)
	} else {
		f.Loss = largestLogLoss
	}
	if len(s.Outputs) > 0 {
		f.regression(s.Outputs, n)
		return
	}
	f.Error = 100 * float64(s.Wrong) / n
	f.ConstantError = 100 * (1 - float64(slices.Max(s.Classes))/n)
	if f.lossRows > 0 {
		constant := f.ConstantError / 100
		if s.Measure == wire.LiveLogLoss {
			constant = entropy(s.Classes, float64(f.lossRows))
		}
		f.Constant = &constant
	}
	f.AUC = auc(s.Scores)
}

func (f *Figures) regression(outputs []wire.OutputSums, n float64) {
	variance, unexplained := 0.0, 0.0
	for _, o := range outputs {
		ofLabel := max(0, o.SquaredLabel/n-(o.Label/n)*(o.Label/n))
		f.RMSE = append(f.RMSE, math.Sqrt(o.SquaredResidual/n))
		f.MAE = append(f.MAE, o.AbsoluteResidual/n)
		variance += ofLabel / float64(len(outputs))
		unexplained += ratio(o.SquaredResidual/n, ofLabel) / float64(len(outputs))
	}
	f.Constant = &variance
	f.ConstantError = 100
	f.Error = 100 * unexplained
}

// largestRatio bounds quotients of sums, so that figures are finite: JSON has no other numbers.
const largestRatio = 1e90

// ratio is part/whole, at most largestRatio; 1 if the whole is 0, because then nothing can be
// explained.
func ratio(part, whole float64) float64 {
	if !(whole > 0) {
		return 1
	}
	return min(part/whole, largestRatio)
}

// entropy is the least log loss of constant probabilities.
func entropy(classes []int64, n float64) (sum float64) {
	for _, rows := range classes {
		if rows > 0 {
			p := float64(rows) / n
			sum -= float64(p * math.Log(p))
		}
	}
	return sum
}

// auc is the share of pairs with a row of each class in which the row of the second class has the
// larger score; pairs in one bin count half. It is nil unless both classes have rows.
func auc(scores [2][]wire.ScoreBin) *float64 {
	var below, pairs, first, second float64
	a := scores[0]
	for _, b := range scores[1] {
		for len(a) > 0 && a[0][0] < b[0] {
			below += float64(a[0][1])
			a = a[1:]
		}
		equal := 0.0
		if len(a) > 0 && a[0][0] == b[0] {
			equal = float64(a[0][1])
		}
		pairs += float64(float64(b[1]) * (below + equal/2))
		second += float64(b[1])
	}
	for _, bin := range scores[0] {
		first += float64(bin[1])
	}
	if first == 0 || second == 0 {
		return nil
	}
	share := pairs / first / second
	return &share
}
