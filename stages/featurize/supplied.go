package featurize

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
)

// supplied reads predictions from a column of the events, as values of the label. It is immutable.
type supplied struct {
	enc   *encoder.Encoder // of that column alone
	fault error            // predictions of this label cannot be read; nil = they can
}

// newSupplied returns a reader of the predictions of a label.
func newSupplied(of *encoder.Label, column string) *supplied {
	like := &encoder.Label{Columns: []string{column}, Kind: of.Kind, Task: of.Task, Classes: of.Classes}
	s := &supplied{enc: &encoder.Encoder{Label: like}}
	if like.Task == scoring.Regression {
		// Targets are float32 relative to the mean, which keeps the digits of labels far from zero.
		like.Mean = []float64{of.Transform.Invert(of.Mean[0])}
		if n := of.Outputs(); n > 1 {
			s.fault = fmt.Errorf("the label has %d columns, but the predictions have one", n)
		}
	}
	return s
}

// column is the name of the column; empty for nil.
func (s *supplied) column() string {
	if s == nil {
		return ""
	}
	return s.enc.Label.Columns[0]
}

// suppliedRows is a predictor's state of reading supplied predictions.
type suppliedRows struct {
	rows     encoder.Rows // reused
	value    [1]float64   // reused: the prediction of one row of a regression
	fault    error        // predictions cannot be read; nil = no fault so far
	reported bool         // the fault was logged
}

// compareSupplied adds the supplied predictions of labelled rows to the live sums.
func (p *predictor) compareSupplied(chunk arrow.Record, rows *encoder.Rows, first, next int) {
	s := &p.supplied
	if err := p.label.supplied.enc.Encode(&s.rows, chunk, rows.Row[first:next]); err != nil {
		s.fault = err
		return
	}
	i := first
	for j, row := range s.rows.Row {
		for rows.Row[i] != row { // rows without a usable prediction are missing from s.rows
			i++
		}
		switch {
		case s.rows.Unseen[j] && rows.Unseen[i]: // the classes may be equal
		case rows.Unseen[i] && s.rows.Labelled[j]:
			p.tally.AddUnknown()
		case s.rows.Unseen[j] && rows.Labelled[i]:
			p.tally.AddForeignDecision(classOf(rows, i))
		case !s.rows.Labelled[j] || !rows.Labelled[i]:
		case p.label.task == scoring.Regression:
			s.value[0] = float64(s.rows.Targets.Values[j]) + p.label.supplied.enc.Label.Mean[0]
			p.tally.AddRegression(s.value[:], p.labelOf(rows, i))
		default:
			p.tally.AddDecision(classOf(&s.rows, j), classOf(rows, i))
		}
	}
}

// reportSupplied logs once for each feature set that supplied predictions cannot be read.
func (p *partition) reportSupplied() {
	if p.core.predictor == nil {
		return
	}
	if s := &p.core.predictor.supplied; s.fault != nil && !s.reported {
		s.reported = true
		p.logger.Warn("no live errors: the predictions in live.prediction_column cannot be compared with the label",
			zap.String("column", p.core.predictor.label.supplied.column()), zap.Error(s.fault))
	}
}
