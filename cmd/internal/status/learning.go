package status

import (
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/stages/state"
)

// columnsShown is the number of columns listed by importance.
const columnsShown = 20

// learningOf describes how the running exploration learns features, if known, else how the features
// of the current set were learned; nil if they were not, as under criterion residual, which
// measures only its own choice.
func learningOf(now state.Snapshot, set *state.Set) *Learning {
	if spec, p := now.Running(), now.Progress; spec != nil && p != nil && p.Exploration == spec.Exploration &&
		learned(p.Points) {
		return &Learning{Exploration: p.Exploration, Points: p.Points}
	}
	if set == nil || set.Set.Lineage.Learning == nil || !learned(set.Set.Lineage.Learning.Points) {
		return nil
	}
	report, columns := set.Set.Lineage.Learning, set.Set.Importance()
	out := &Learning{
		Exploration: set.Set.Lineage.Exploration, Points: report.Points, Winner: &report.Winner,
		Rows: report.Rows, HeldOutRows: report.HeldOutRows, Columns: columns[:min(columnsShown, len(columns))],
	}
	for _, other := range columns[len(out.Columns):] {
		out.OtherColumns++
		out.OtherShare += other.Share
	}
	return out
}

// learned reports whether features were learned. Reports of earlier versions begin with a point of
// criterion residual.
func learned(points []adaptive.Point) bool {
	return len(points) > 0 && points[len(points)-1].Kind != adaptive.ByResidual
}

// spectrumUnit returns the unit of the values of a published set.
func spectrumUnit(l *wire.Lineage) string {
	switch {
	case l.Learned():
		return unitContribution
	case l.Criterion.Relative():
		return unitCriterion
	}
	return unitNorm
}
