package train

import (
	"slices"
	"time"

	"github.com/eerf-stream/eerf/training"
)

const (
	// cellRows is how many rows of a lane a cell has when it closes. Cells that are older have twice as many, and twice
	// that, and so on: an exponential histogram (Datar, Gionis, Indyk, Motwani, SIAM Journal on Computing 31 (2002)).
	cellRows = 512
	// newestRows is how many of the newest held-out rows models are judged by, at least, and recentRows by how many those
	// that forget: soon after a change, older ones are of the world before.
	newestRows, recentRows = 1000, 400
	// maxLevel is how often cells become larger: beyond four times the longest half-life ages tell nothing.
	maxLevel = 10
	// MaxCells bounds the cells of a lane.
	MaxCells = 2*maxLevel + 4
	// MaxJudging bounds those that are not folded, with as many held-out rows as usual.
	MaxJudging = 8
)

// cell holds what rows of a lane that arrived one after another contribute to a fit.
type cell struct {
	data dataset
	// evaluation samples the held-out rows; seenEvaluation those that the exploration may have seen, nil if nothing was
	// learned. Both are nil once the cell is folded.
	evaluation, seenEvaluation *training.EvaluationSample
	rows                       int64
	level                      int       // how often its rows were merged
	oldest, newest             time.Time // of the events of its first and last rows
}

func (t *Trainer) newCell() *cell {
	c := &cell{data: t.newDataset(), evaluation: t.newEvaluation()}
	if c.data.seen != nil {
		c.seenEvaluation = t.newEvaluation()
	}
	return c
}

// folded reports whether the held-out rows of the cell were moved to those to fit on.
func (c *cell) folded() bool { return c.evaluation == nil }

// fold moves the held-out rows to those to fit on: newer ones judge.
func (c *cell) fold() {
	c.data.fit.absorb(c.data.heldOut)
	if c.data.seen != nil {
		c.data.fit.absorb(*c.data.seen)
		*c.data.seen = bucket{}
	}
	c.data.heldOut, c.evaluation, c.seenEvaluation = bucket{}, nil, nil
}

// absorb adds the rows of the next newer cell, which is as folded.
func (c *cell) absorb(newer *cell) {
	c.data.fit.absorb(newer.data.fit)
	if !c.folded() {
		c.data.heldOut.absorb(newer.data.heldOut)
		c.evaluation.Merge(newer.evaluation)
		if c.data.seen != nil {
			c.data.seen.absorb(*newer.data.seen)
			c.seenEvaluation.Merge(newer.seenEvaluation)
		}
	}
	c.rows += newer.rows
	c.newest = newer.newest
	c.level = min(c.level+1, maxLevel)
	c.settle()
}

// settle gives back memory that is needed only while rows are added.
func (c *cell) settle() {
	c.data.fit.settle()
	c.data.heldOut.settle()
	if c.data.seen != nil {
		c.data.seen.settle()
	}
}

// heldOutRows is how many rows of the cell can judge, with or without those that the exploration may have seen.
func (c *cell) heldOutRows(withSeen bool) int {
	n := c.evaluation.Len()
	if withSeen && c.seenEvaluation != nil {
		n += c.seenEvaluation.Len()
	}
	return n
}

// closeCell begins a new cell if the open one is full. Of three neighbours of a level the older two become one.
func (l *lane) closeCell() {
	open := l.cells[len(l.cells)-1]
	if open.rows < cellRows {
		return
	}
	open.settle()
	if l.ages {
		l.foldOld()
	}
	for i := len(l.cells) - 1; i >= 2; i-- {
		a, b := l.cells[i-2], l.cells[i-1]
		if a.level == b.level && (b.level == l.cells[i].level || b.level == maxLevel) && a.folded() == b.folded() {
			a.absorb(b)
			l.cells = slices.Delete(l.cells, i-1, i)
		}
	}
	next := l.newCell()
	next.newest = open.newest // until it has rows of its own, the lane is as new as its last ones
	l.cells = append(l.cells, next)
}

// foldOld folds the cells that are too old to judge.
func (l *lane) foldOld() {
	judging := 0
	for i, c := range slices.Backward(l.cells) {
		if c.folded() {
			break
		}
		if judging >= newestRows {
			l.cells[i].fold()
			continue
		}
		judging += c.heldOutRows(false)
	}
}

// aged is a cell with its age.
type aged struct {
	*cell
	age float64 // newer rows of the stream, and half its own
}

// agedCells returns the cells of all lanes, the newest first. Within a lane they are in the order in which their rows
// came, whatever their times.
func (t *Trainer) agedCells() []aged {
	left := make([][]*cell, len(t.lanes))
	for i, l := range t.lanes {
		left[i] = l.cells
	}
	var all []aged
	newer := 0.0
	for {
		next := -1
		for i, cells := range left {
			if len(cells) > 0 && (next < 0 || cells[len(cells)-1].newest.After(left[next][len(left[next])-1].newest)) {
				next = i
			}
		}
		if next < 0 {
			return all
		}
		c := left[next][len(left[next])-1]
		left[next] = left[next][:len(left[next])-1]
		all = append(all, aged{c, newer + float64(c.rows)/2})
		newer += float64(c.rows)
	}
}
