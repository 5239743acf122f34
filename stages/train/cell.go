package train

import (
	"slices"
	"time"

	"github.com/eerf-stream/eerf/training"
)

const (
	// cellRows is the number of rows of a cell when it closes. Older cells have twice as many, then
	// four times as many, and so on: an exponential histogram (Datar, Gionis, Indyk, Motwani, SIAM
	// Journal on Computing 31 (2002)).
	cellRows = 512
	// newestRows is the least number of the newest held-out rows that judge a model, and recentRows
	// that number for a model with a half-life. Soon after a change, older rows still follow the
	// old relation.
	newestRows, recentRows = 1000, 400
	// maxLevel bounds the size of cells: beyond four times the longest half-life, age does not
	// matter.
	maxLevel = 10
	// MaxCells bounds the cells of a lane.
	MaxCells = 2*maxLevel + 4
	// MaxJudging bounds the cells that are not folded, with the usual share of held-out rows.
	MaxJudging = 8
)

// cell holds consecutive rows of a lane.
type cell struct {
	data dataset
	// evaluation samples the held-out rows, seenEvaluation the held-out rows that the exploration
	// may have seen, nil if no rows taught the features. Both are nil once the cell is folded.
	evaluation, seenEvaluation *training.EvaluationSample
	rows                       int64
	level                      int       // number of times that its rows were merged
	oldest, newest             time.Time // event times of its first and last rows
}

func (t *Trainer) newCell() *cell {
	c := &cell{data: t.newDataset(), evaluation: t.newEvaluation()}
	if c.data.seen != nil {
		c.seenEvaluation = t.newEvaluation()
	}
	return c
}

// folded reports whether the held-out rows of the cell were moved to the rows to fit on.
func (c *cell) folded() bool { return c.evaluation == nil }

// fold moves the held-out rows to the rows to fit on, because newer rows judge.
func (c *cell) fold() {
	c.data.fit.absorb(c.data.heldOut)
	if c.data.seen != nil {
		c.data.fit.absorb(c.data.seen)
		c.data.seen = bucket{}
	}
	c.data.heldOut = bucket{}
	c.evaluation, c.seenEvaluation = nil, nil
}

// absorb adds the rows of the next newer cell. Either both cells are folded or none.
func (c *cell) absorb(newer *cell) {
	c.data.fit.absorb(newer.data.fit)
	if !c.folded() {
		c.data.heldOut.absorb(newer.data.heldOut)
		c.evaluation.Merge(newer.evaluation)
		if c.data.seen != nil {
			c.data.seen.absorb(newer.data.seen)
			c.seenEvaluation.Merge(newer.seenEvaluation)
		}
	}
	c.rows += newer.rows
	c.newest = newer.newest
	c.level = min(c.level+1, maxLevel)
	c.settle()
}

// settle releases memory that is needed only while rows are added.
func (c *cell) settle() {
	c.data.fit.settle()
	c.data.heldOut.settle()
	if c.data.seen != nil {
		c.data.seen.settle()
	}
}

// heldOutRows returns the number of rows of the cell that can judge, with or without rows that the
// exploration may have seen.
func (c *cell) heldOutRows(withSeen bool) int {
	n := c.evaluation.Len()
	if withSeen && c.seenEvaluation != nil {
		n += c.seenEvaluation.Len()
	}
	return n
}

// closeCell begins a new cell if the open one is full. Of three neighbours on the same level, the
// older two are merged.
func (l *lane) closeCell() {
	open := l.cells[len(l.cells)-1]
	if open.rows < cellRows {
		return
	}
	open.settle()
	if l.trainer.ages {
		l.foldOld()
	}
	for i := len(l.cells) - 1; i >= 2; i-- {
		a, b := l.cells[i-2], l.cells[i-1]
		if a.level == b.level && (b.level == l.cells[i].level || b.level == maxLevel) && a.folded() == b.folded() {
			a.absorb(b)
			l.cells = slices.Delete(l.cells, i-1, i)
		}
	}
	next := l.trainer.newCell()
	next.newest = open.newest // the age of the lane until the new cell has rows
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
	age float64 // newer rows of the stream and half of the rows of the cell
}

// agedCells returns the cells of all lanes, newest first. Within a lane they keep the order of
// their rows, regardless of times.
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
