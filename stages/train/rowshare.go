package train

import (
	"sync"
	"sync/atomic"

	"github.com/eerf-stream/eerf/training"
)

// rowShare decides which rows the logistic loss keeps so that they fit into memory: the rows with a
// hash below a threshold, which falls as rows arrive. It only falls when too many rows are below
// it, so the remaining rows depend on the rows alone, not on the order in which partitions are
// read. The lanes of a trainer share it.
type rowShare struct {
	seed uint64
	most int64 // number of rows that fit

	level atomic.Int32 // of the threshold

	mu     sync.Mutex
	counts [shareLevels]int64 // rows by the lowest threshold above them; incomplete above the current threshold
}

// shareTag separates the hash from the one of [training.HeldOut] with the same seed.
const shareTag = 0x726f77735f6b6570

// shareLevels is the number of thresholds. The last leaves about one row in 20 million.
const shareLevels = 128

// thresholds fall by an eighth each, from 2⁶⁴, so that at least seven eighths of the memory are
// used.
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

// levelOf returns the number of the lowest threshold above a row.
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

// share returns the share of rows that are kept.
func (s *rowShare) share() float64 { return float64(thresholds[s.level.Load()]) / (1 << 64) }

// take counts new rows and lowers the threshold until the rows below it fit; lowered reports
// whether it did.
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

// leave removes dropped rows from the counts.
func (s *rowShare) leave(levels []uint8) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, level := range levels {
		s.counts[level]--
	}
}

// kept returns the number of rows below the threshold. The caller holds the lock.
func (s *rowShare) kept() (rows int64) {
	for _, n := range s.counts[s.level.Load():] {
		rows += n
	}
	return rows
}

// Kept returns the number of rows below the threshold.
func (s *rowShare) Kept() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept()
}

// keptRows are rows in memory, each with its level in a rowShare.
type keptRows struct {
	*training.Rows
	levels []uint8
}

// add adds the given features, all if they are nil, of the rows at or above a level.
func (k *keptRows) add(b *rowBuffer, features []int32, level uint8) {
	z := b.of(features)
	m := len(z) / max(b.rows, 1)
	for first := 0; first < b.rows; first++ {
		next := first
		for next < b.rows && b.level[next] >= level {
			next++
		}
		k.Add(z[first*m:next*m], b.class[first:next])
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
