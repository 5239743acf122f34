package train

import (
	"sync"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/training"
)

// Lanes is how many sums a trainer keeps at most, whatever the number of partitions: their memory grows with the square
// of the number of features.
const Lanes = 8

// lane holds what some neighbouring partitions contribute to a fit, in the order in which their rows are added. One
// goroutine at a time adds to it.
type lane struct {
	*Trainer
	mu    sync.Mutex // guards cells, from which another lane may drop rows when memory runs short
	cells []*cell    // the oldest first; the last one is open
	parts []*Partition
}

// open returns the cell to which rows are added.
func (l *lane) open() *cell { return l.cells[len(l.cells)-1] }

// addLanes makes the lanes for a number of partitions. Each lane has neighbours, so that lanes in order are partitions
// in order.
func (t *Trainer) addLanes(partitions int) {
	n := min(partitions, Lanes)
	for range n {
		t.lanes = append(t.lanes, &lane{Trainer: t})
	}
	for number := range partitions {
		l := t.lanes[number*n/partitions]
		p := &Partition{lane: l, decoder: arrowio.NewDecoder(t.limits), number: int32(number)}
		l.parts, t.parts = append(l.parts, p), append(t.parts, p)
	}
	for _, l := range t.lanes {
		l.reset()
	}
}

// reset drops the rows of the lane; the counts of its partitions stay.
func (l *lane) reset() {
	l.mu.Lock()
	for _, c := range l.cells {
		for _, rows := range c.data.kept() {
			l.share.leave(rows.levels)
		}
	}
	l.cells = []*cell{l.newCell()}
	l.mu.Unlock()
	for _, p := range l.parts {
		p.ranges = nil
	}
}

func (t *Trainer) newEvaluation() *training.EvaluationSample {
	return training.NewEvaluationSample(t.set.Set.Features.Len(), t.outputs, t.config.EvaluationRows)
}

// keep adds the rows of a message whose event happened at a time. If the rows of the logistic loss do not all fit, every lane drops those above the
// lower threshold.
func (l *lane) keep(rows *rowBuffers, at time.Time) {
	if l.share != nil && l.share.take(rows.fit.level, rows.heldOut.level, rows.seen.level) {
		for _, other := range l.lanes {
			other.thin()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.open()
	c.data.add(rows, l.level())
	if c.rows == 0 {
		c.oldest = at
	}
	c.rows += rows.len()
	c.newest = at
	l.closeCell()
}

// thin drops rows that are no longer kept.
func (l *lane) thin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.cells {
		for _, rows := range c.data.kept() {
			rows.thin(l.level())
		}
	}
}
