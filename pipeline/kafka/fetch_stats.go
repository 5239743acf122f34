package kafka

import (
	"sync"
	"time"
)

// leastAsked is the smallest size of a fetch, regardless of the number of partitions.
const leastAsked = 64 << 10

// forgottenAfter is how long an unused partition still counts among the partitions that share the
// memory.
const forgottenAfter = time.Minute

type partitionKey struct {
	topic     string
	partition int
}

// fetchStats are estimates from the last fetches of a partition. Wrong ones cost time, not memory.
type fetchStats struct {
	end    int64   // of the partition
	growth float64 // bytes that decoding took per byte of a set
	read   bool    // growth is known
	batch  int     // bytes of a batch that exceeded the requested size
	cold   bool    // the last fetch returned no records
	asked  time.Time
}

// unknownGrowth is assumed of a partition that has not been read.
const unknownGrowth = 1

// statsTable holds the stats of each partition being read.
type statsTable struct {
	mu     sync.Mutex // guards the two fields below
	of     map[partitionKey]fetchStats
	pruned time.Time
}

func newStatsTable() *statsTable { return &statsTable{of: map[partitionKey]fetchStats{}} }

// begin returns the stats of a partition that is about to be fetched, and the number of partitions
// being read.
func (t *statsTable) begin(key partitionKey) (known fetchStats, partitions int) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.pruned) > forgottenAfter {
		for other, of := range t.of {
			if now.Sub(of.asked) > forgottenAfter {
				delete(t.of, other)
			}
		}
		t.pruned = now
	}
	known, ok := t.of[key]
	if !ok {
		known.growth = unknownGrowth
	}
	known.asked = now
	t.of[key] = known
	return known, len(t.of)
}

// count is the number of partitions being read.
func (t *statsTable) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.of)
}

// learn changes the stats of a partition.
func (t *statsTable) learn(key partitionKey, change func(*fetchStats)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.of[key]
	change(&known)
	t.of[key] = known
}

// grew records the memory for decoding a set. The estimate falls slowly, because the next set may
// be like earlier ones.
func (s *fetchStats) grew(set int, decoded int64) {
	growth := float64(decoded) / float64(set)
	if s.read {
		growth = max(growth, (3*s.growth+growth)/4)
	}
	s.growth, s.read = growth, true
}
