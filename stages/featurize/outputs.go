package featurize

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"
)

// SpareBytes is the memory of acknowledged outputs that all partitions of a process keep for later
// ones.
const SpareBytes = 16 << 20

// outputMemory bounds the outputs of all partitions of a process until they are acknowledged. A
// partition waits for it only after its own outputs are acknowledged, and the others release memory
// with their acknowledgements. It is safe for concurrent use.
type outputMemory struct {
	total int64
	free  *semaphore.Weighted
	spares
}

func newOutputMemory(bytes int64) *outputMemory {
	return &outputMemory{total: bytes, free: semaphore.NewWeighted(bytes), spares: spares{most: SpareBytes}}
}

// charge returns the charge for an output, which is at most the total.
func (m *outputMemory) charge(bytes int64) int64 { return min(bytes, m.total) }

// try charges an output if the memory is free.
func (m *outputMemory) try(bytes int64) bool { return m.free.TryAcquire(m.charge(bytes)) }

// wait charges an output. Callers are served in the order of their calls.
func (m *outputMemory) wait(ctx context.Context, bytes int64) error {
	return m.free.Acquire(ctx, m.charge(bytes))
}

func (m *outputMemory) giveBack(charged int64) {
	if charged > 0 {
		m.free.Release(charged)
	}
}

// spares is the memory of outputs that are no longer read.
type spares struct {
	mu    sync.Mutex
	most  int64
	bytes int64
	list  [][]byte
}

// put adds the memory of an output.
func (s *spares) put(value []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if size := int64(cap(value)); s.bytes+size <= s.most {
		s.list = append(s.list, value)
		s.bytes += size
	}
}

// take returns memory for an output of a size: a spare of at most twice the size, or new memory.
func (s *spares) take(size int64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.list) - 1; i >= max(0, len(s.list)-searchedSpares); i-- {
		if value := s.list[i]; size <= int64(cap(value)) && int64(cap(value)) <= 2*size {
			s.list = slices.Delete(s.list, i, i+1)
			s.bytes -= int64(cap(value))
			return value[:0]
		}
	}
	return make([]byte, 0, size)
}

// searchedSpares is the number of spares that take considers.
const searchedSpares = 8
