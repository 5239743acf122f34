package train

import (
	"sync"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/training"
)

// Lanes bounds the lanes of a trainer for any number of partitions, because the memory of their
// sums grows with the square of the number of features.
const Lanes = 8

// lane holds the rows of some neighbouring partitions in the order in which they are added. One
// goroutine at a time adds rows.
type lane struct {
	trainer *Trainer
	mu      sync.Mutex // guards cells, from which another lane may drop rows when memory runs short
	cells   []*cell    // oldest first; the last one is open
	parts   []*Partition
}

// open returns the cell to which rows are added.
func (l *lane) open() *cell { return l.cells[len(l.cells)-1] }

// addLanes creates the lanes for a number of partitions. A lane has neighbouring partitions, so
// that the order of lanes is the order of partitions.
func (t *Trainer) addLanes(partitions int) {
	n := min(partitions, Lanes)
	for range n {
		t.lanes = append(t.lanes, &lane{trainer: t})
	}
	for number := range partitions {
		l := t.lanes[number*n/partitions]
		p := &Partition{trainer: t, lane: l, decoder: arrowio.NewDecoder(t.limits), number: int32(number)}
		l.parts, t.parts = append(l.parts, p), append(t.parts, p)
	}
	for _, l := range t.lanes {
		l.reset()
	}
}

// reset drops the rows of the lane. The counts of its partitions stay.
func (l *lane) reset() {
	l.mu.Lock()
	for _, c := range l.cells {
		for _, b := range c.data.buckets() {
			if levels := b.levels(); levels != nil {
				l.trainer.share.leave(levels)
			}
		}
	}
	l.cells = []*cell{l.trainer.newCell()}
	l.mu.Unlock()
	for _, p := range l.parts {
		p.ranges = nil
	}
}

func (t *Trainer) newEvaluation() *training.EvaluationSample {
	return training.NewEvaluationSample(t.set.Set.Features.Len(), t.outputs, t.config.EvaluationRows)
}

// keep adds the rows of a message with the given event time. If the rows of the logistic loss do
// not all fit, every lane drops the rows above the lowered threshold.
func (l *lane) keep(rows *rowBuffers, at time.Time) {
	share := l.trainer.share
	if share != nil && share.take(rows.fit.level, rows.heldOut.level, rows.seen.level) {
		for _, other := range l.trainer.lanes {
			other.thin()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.open()
	c.data.add(rows, l.trainer.level())
	if c.rows == 0 {
		c.oldest = at
	}
	c.rows += rows.len()
	c.newest = at
	l.closeCell()
}

// thin drops the rows above the threshold.
func (l *lane) thin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.cells {
		for _, b := range c.data.buckets() {
			b.thin(l.trainer.level())
		}
	}
}
