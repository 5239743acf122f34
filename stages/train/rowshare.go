package train

import (
	"sync"
	"sync/atomic"

	"github.com/eerf-stream/eerf/training"
)

// rowShare decides which rows the logistic loss keeps, so that they fit into memory: those whose hash is below a threshold, which
// goes down as rows come. Which rows these are in the end depends on the rows alone, not on the order in which partitions are read:
// a lower threshold is taken only when more rows than fit are below the one before. It is shared by the partitions of a trainer.
type rowShare struct {
	seed uint64
	most int64 // rows that fit

	level atomic.Int32 // of the threshold

	mu     sync.Mutex
	counts [shareLevels]int64 // rows met, by the lowest threshold that they are below; those above the present one may be missing
}

// shareTag keeps the hash apart from that of [training.HeldOut] under the same seed.
const shareTag = 0x726f77735f6b6570

// shareLevels is the number of thresholds; the last leaves about one row in 20 million.
const shareLevels = 128

// thresholds fall from 2⁶⁴ on by an eighth each, so that seven eighths of the memory are used or more.
var thresholds = func() (t [shareLevels]uint64) {
	t[0] = 1<<64 - 1
	for i := 1; i < shareLevels; i++ {
		t[i] = t[i-1] - t[i-1]/8
	}
	return t
}()

func newRowShare(seed uint64, most int64) *rowShare {
	return &rowShare{seed: seed ^ shareTag, most: max(most, 1)}
}

// levelOf returns the number of the lowest threshold that a row is below.
func (s *rowShare) levelOf(id training.RowID) uint8 {
	hash := id.Hash(s.seed)
	low, high := 0, shareLevels-1
	for low < high {
		middle := (low + high + 1) / 2
		if hash <= thresholds[middle] {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return uint8(low)
}

// share is the share of the rows that are kept.
func (s *rowShare) share() float64 { return float64(thresholds[s.level.Load()]) / (1 << 64) }

// take counts rows that came, and lowers the threshold as far as it takes for those below it to fit; lowered reports that it did.
func (s *rowShare) take(levels ...[]uint8) (lowered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, part := range levels {
		for _, level := range part {
			s.counts[level]++
		}
	}
	for s.kept() > s.most && s.level.Load() < shareLevels-1 {
		s.level.Add(1)
		lowered = true
	}
	return lowered
}

// leave takes rows out of the counts that are no longer there.
func (s *rowShare) leave(levels []uint8) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, level := range levels {
		s.counts[level]--
	}
}

// kept is the number of rows below the threshold. The lock is held.
func (s *rowShare) kept() (rows int64) {
	for _, n := range s.counts[s.level.Load():] {
		rows += n
	}
	return rows
}

// Kept is the number of rows below the threshold.
func (s *rowShare) Kept() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept()
}

// keptRows are rows in memory, each with its level of a rowShare.
type keptRows struct {
	*training.Rows
	levels []uint8
}

// add takes those of some rows that are above a level.
func (k *keptRows) add(b *rowBuffer, level uint8) {
	m := len(b.z) / max(b.rows, 1)
	for first := 0; first < b.rows; first++ {
		next := first
		for next < b.rows && b.level[next] >= level {
			next++
		}
		k.Add(b.z[first*m:next*m], b.class[first:next])
		k.levels = append(k.levels, b.level[first:next]...)
		first = next
	}
}

// thin drops the rows below a level.
func (k *keptRows) thin(level uint8) {
	k.Keep(func(row int) bool { return k.levels[row] >= level })
	kept := k.levels[:0]
	for _, l := range k.levels {
		if l >= level {
			kept = append(kept, l)
		}
	}
	k.levels = kept
}
