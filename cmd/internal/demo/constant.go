package demo

import (
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/train"
)

// constant measures on test rows the predictors that look at no feature: what a model is to be better than.
type constant struct {
	class    map[int32]int64 // rows of each class
	rows     int64
	squares  float64 // Σy² of coded labels
	residual float64 // Σ(y−m)² of coded labels, m the mean over the calibration rows
}

// measureConstant goes through the labelled test rows.
func (r *run) measureConstant(set *wire.FeatureSet) (constant, error) {
	c := constant{class: map[int32]int64{}}
	var rows encoder.Rows
	for _, batch := range r.test {
		if err := set.Encoder.Encode(&rows, batch, nil); err != nil {
			return c, fmt.Errorf("test rows: %w", err)
		}
		for i := range rows.N {
			if rows.Labelled[i] {
				c.add(set, rows.Targets, i)
			}
		}
	}
	return c, nil
}

func (c *constant) add(set *wire.FeatureSet, targets scoring.Targets, row int) {
	c.rows++
	switch set.Task {
	case scoring.MultiClass:
		c.class[targets.Class[row]]++
	case scoring.Binary:
		c.class[int32(targets.Values[row])]++ // -1 or 1
	case scoring.Regression:
		coding := train.LabelCoding(set)
		for k := range targets.Outputs {
			residual := coding.Gain[k] * float64(targets.Values[row*targets.Outputs+k])
			y := residual + coding.Offset[k]
			c.residual += residual * residual
			c.squares += y * y
		}
	}
}

// percent is the error of the best class for all rows, or the relative squared error of the mean; nil where there is none.
func (c *constant) percent() *float64 {
	var v float64
	switch {
	case c.rows > 0 && len(c.class) > 0:
		var most int64
		for _, n := range c.class {
			most = max(most, n)
		}
		v = 100 * float64(c.rows-most) / float64(c.rows)
	case c.squares > 0:
		v = 100 * c.residual / c.squares
	default:
		return nil
	}
	return &v
}
