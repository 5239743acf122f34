package kafka

import (
	"sync"
	"time"
)

// leastAsked is the fewest bytes that a fetch asks for, whatever the number of partitions.
const leastAsked = 64 << 10

// forgottenAfter is how long an unused partition still counts among those that share the memory.
const forgottenAfter = time.Minute

type partitionKey struct {
	topic     string
	partition int
}

// habit is what the last fetches of a partition were like. A wrong one costs time, not memory.
type habit struct {
	end    int64   // of the partition
	growth float64 // bytes that decoding took per byte of a set
	read   bool    // growth is known
	batch  int     // bytes of a batch that exceeded the requested size
	cold   bool    // the last fetch waited for nothing
	asked  time.Time
}

// unknownGrowth is assumed of a partition that has not been read.
const unknownGrowth = 1

// habits holds the habit of each partition being read.
type habits struct {
	mu     sync.Mutex // guards the two fields below
	of     map[partitionKey]habit
	pruned time.Time
}

func newHabits() *habits { return &habits{of: map[partitionKey]habit{}} }

// ask returns the habit of a partition that is about to be fetched, and how many are being read.
func (h *habits) ask(key partitionKey) (known habit, partitions int) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if now.Sub(h.pruned) > forgottenAfter {
		for other, of := range h.of {
			if now.Sub(of.asked) > forgottenAfter {
				delete(h.of, other)
			}
		}
		h.pruned = now
	}
	known, ok := h.of[key]
	if !ok {
		known.growth = unknownGrowth
	}
	known.asked = now
	h.of[key] = known
	return known, len(h.of)
}

// count is how many partitions are being read.
func (h *habits) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.of)
}

// learn changes the habit of a partition.
func (h *habits) learn(key partitionKey, change func(*habit)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.of[key]
	change(&known)
	h.of[key] = known
}

// grew records what decoding a set took. The estimate falls slowly, because the next set may be like the earlier ones.
func (h *habit) grew(set int, decoded int64) {
	growth := float64(decoded) / float64(set)
	if h.read {
		growth = max(growth, (3*h.growth+growth)/4)
	}
	h.growth, h.read = growth, true
}
