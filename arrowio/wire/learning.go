package wire

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/eerf-stream/eerf/scoring/adaptive"
)

// Learned reports whether the features were learned: their frequencies were drawn from a learned
// distribution, or moved, so no seed and index determine them. Noise level and confidence radius do
// not apply to them.
func (l *Lineage) Learned() bool {
	return l.Learning != nil && l.Learning.Best().Kind != adaptive.ByResidual
}

// validateLearning checks a report on features over dim dimensions.
func (l *Lineage) validateLearning(dim int) error {
	r := l.Learning
	if r == nil {
		return nil
	}
	if r.Winner < 0 || r.Winner >= len(r.Points) {
		return fmt.Errorf("point %d of %d won", r.Winner, len(r.Points))
	}
	if r.Rows < 0 || r.HeldOutRows < 0 {
		return fmt.Errorf("learned from %d rows, %d held out", r.Rows, r.HeldOutRows)
	}
	for i, p := range r.Points {
		switch p.Kind {
		case adaptive.ByResidual, adaptive.ByRound, adaptive.ByStep, adaptive.ByMean:
		default:
			return fmt.Errorf("point %d is of kind %q", i, p.Kind)
		}
		if p.Member < 0 || p.Round < 0 || p.Step < 0 || !finite([]float64{p.Loss, p.StdErr}) {
			return fmt.Errorf("point %d is round %d, step %d, with loss %v ± %v", i, p.Round, p.Step, p.Loss, p.StdErr)
		}
	}
	if r.Importance != nil && len(r.Importance) != dim || !finite(r.Importance) {
		return fmt.Errorf("importance of %d columns, not all of them finite or not for %d dimensions", len(r.Importance), dim)
	}
	return nil
}

// ColumnImportance is a column's share in the mean squared gradient of the model by which features
// were learned.
type ColumnImportance struct {
	Column string  `json:"column"`
	Share  float64 `json:"share"`
}

// Importance returns the columns by falling share, adding up the dimensions of each; nil if
// features were not learned by gradients.
func (f *FeatureSet) Importance() []ColumnImportance {
	if f.Lineage.Learning == nil || f.Lineage.Learning.Importance == nil {
		return nil
	}
	at := map[string]int{} // of a column; several encoded ones may come from it
	var columns []ColumnImportance
	rest := f.Lineage.Learning.Importance
	for _, c := range f.Encoder.Columns {
		i, known := at[c.Name]
		if !known {
			i = len(columns)
			at[c.Name] = i
			columns = append(columns, ColumnImportance{Column: c.Name})
		}
		for _, share := range rest[:c.Width] {
			columns[i].Share += share
		}
		rest = rest[c.Width:]
	}
	slices.SortStableFunc(columns, func(a, b ColumnImportance) int { return cmp.Compare(b.Share, a.Share) })
	return columns
}
