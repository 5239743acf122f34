package featurize

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
)

// brought reads the predictions that events bring in a column, as values of the label.
type brought struct {
	enc   *encoder.Encoder // of that column alone
	rows  encoder.Rows     // reused
	fault error            // why predictions cannot be read; nil = they can, or no rows have brought any
	said  bool             // the fault was logged
}

// newBrought returns what reads a column of predictions of a label.
func newBrought(label *encoder.Label, column string) *brought {
	like := &encoder.Label{Columns: []string{column}, Kind: label.Kind, Task: label.Task, Classes: label.Classes}
	b := &brought{enc: &encoder.Encoder{Label: like}}
	if like.Task == scoring.Regression {
		like.Mean = []float64{0}
		if n := label.Outputs(); n > 1 {
			b.fault = fmt.Errorf("the label has %d columns, and the predictions one", n)
		}
	}
	return b
}

// column is its name; empty for nil.
func (b *brought) column() string {
	if b == nil {
		return ""
	}
	return b.enc.Label.Columns[0]
}

// compareBrought adds the predictions of the rows that have both one and a label.
func (p *predictor) compareBrought(chunk arrow.Record, rows *encoder.Rows, first, next int) {
	b := p.brought
	if err := b.enc.Encode(&b.rows, chunk, rows.Row[first:next]); err != nil {
		b.fault = err
		return
	}
	i := first
	for j, row := range b.rows.Row {
		for rows.Row[i] != row { // those without a usable prediction are left out
			i++
		}
		switch {
		case !b.rows.Labelled[j] || !rows.Labelled[i]:
		case p.task == scoring.Regression:
			p.tally.AddRegression(b.rows.Targets.Values[j:j+1], p.labelOf(rows, i))
		default:
			p.tally.AddDecision(classOf(&b.rows, j), classOf(rows, i))
		}
	}
}

// reportBrought says once for a feature set that predictions cannot be read: rows are not compared then.
func (p *partition) reportBrought() {
	if p.core.predictor == nil || p.core.predictor.brought == nil {
		return
	}
	if b := p.core.predictor.brought; b.fault != nil && !b.said {
		b.said = true
		p.logger.Warn("live errors are not known: the predictions in live.prediction_column cannot be compared with the label",
			zap.String("column", b.column()), zap.Error(b.fault))
	}
}
