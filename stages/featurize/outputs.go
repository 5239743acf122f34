package featurize

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// SpareBytes is how much memory of acknowledged outputs all partitions of a process keep for later ones.
const SpareBytes = 16 << 20

// outputMemory bounds the outputs of all partitions of a process, from when they are made until they are acknowledged.
// A partition waits for it only after its own outputs are acknowledged, so what others hold comes back with their
// acknowledgements. It is safe for concurrent use.
type outputMemory struct {
	total int64
	free  *semaphore.Weighted
	spares
}

func newOutputMemory(bytes int64) *outputMemory {
	return &outputMemory{total: bytes, free: semaphore.NewWeighted(bytes), spares: spares{most: SpareBytes}}
}

// charge is what an output is charged: one that is larger than everything takes all of it.
func (m *outputMemory) charge(bytes int64) int64 { return min(bytes, m.total) }

// try charges an output if that is possible at once.
func (m *outputMemory) try(bytes int64) bool { return m.free.TryAcquire(m.charge(bytes)) }

// wait charges an output, after those who have waited longer.
func (m *outputMemory) wait(ctx context.Context, bytes int64) error {
	return m.free.Acquire(ctx, m.charge(bytes))
}

func (m *outputMemory) giveBack(charged int64) {
	if charged > 0 {
		m.free.Release(charged)
	}
}

// spares holds the memory of outputs that are no longer read.
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

// take returns spare memory, or nil.
func (s *spares) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 {
		return nil
	}
	last := len(s.list) - 1
	value := s.list[last]
	s.list[last] = nil
	s.list = s.list[:last]
	s.bytes -= int64(cap(value))
	return value
}
