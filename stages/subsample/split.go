package subsample

import (
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
)

// split holds the rows of a batch that are not held out, in reused memory.
type split struct {
	x      []float32
	values []float32
	class  []int32
}

// trim drops the memory of a large batch.
func (s *split) trim() {
	s.x, s.values, s.class = events.Trim(s.x), events.Trim(s.values), events.Trim(s.class)
}

// kept returns the rows that are not held out, in order. They are valid until the next call.
func (s *split) kept(rows *encoder.Rows, heldOut func(row int32) bool) (x []float32, n int, targets scoring.Targets) {
	s.x, s.values, s.class = s.x[:0], s.values[:0], s.class[:0]
	t := rows.Targets
	for i, row := range rows.Row[:rows.N] {
		if heldOut(row) {
			continue
		}
		n++
		s.x = append(s.x, rows.X[i*rows.Dim:(i+1)*rows.Dim]...)
		if t.Class != nil {
			s.class = append(s.class, t.Class[i])
		} else {
			s.values = append(s.values, t.Values[i*t.Outputs:(i+1)*t.Outputs]...)
		}
	}
	targets = scoring.Targets{Outputs: t.Outputs}
	if t.Class != nil {
		targets.Class = s.class
	} else {
		targets.Values = s.values
	}
	return s.x, n, targets
}
