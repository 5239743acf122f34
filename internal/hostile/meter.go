package hostile

import (
	"fmt"
	"runtime"
	"runtime/metrics"
)

// Meter compares the memory that decoding allocates with its budget.
type Meter struct {
	samples   []metrics.Sample
	fault     error
	at        int // the mutant at hand
	seen      int64
	largest   int64
	largestAt int

	holds     int64 // live bytes at the first call of Held
	heldCalls int
}

func newMeter() *Meter {
	return &Meter{samples: []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}}
}

// Within runs decode and reports a fault if it allocates more than most bytes. decode may run
// twice: the runtime's running count, which costs a microsecond, may be off by a span of each size
// class. So a result above all earlier ones is measured again between two exact counts, which stop
// the world.
func (m *Meter) Within(most int64, decode func()) {
	before := m.allocated()
	decode()
	about := m.allocated() - before
	if about <= m.seen && about <= most {
		return
	}
	m.seen = max(m.seen, about)
	taken := exactly(decode)
	if taken > m.largest {
		m.largest, m.largestAt = taken, m.at
	}
	if taken > most && m.fault == nil {
		m.fault = fmt.Errorf("%d bytes allocated, at most %d are allowed", taken, most)
	}
}

// heldEvery is how many calls of Held there are for each one that measures, because measuring
// collects all garbage.
const heldEvery = 512

// Held reports a fault if more than most bytes are live beyond those at its first call: the memory
// that a decoder keeps of the mutants so far.
func (m *Meter) Held(most int64) {
	if m.heldCalls++; m.heldCalls%heldEvery != 1 {
		return
	}
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	live := int64(now.HeapAlloc)
	if m.holds == 0 {
		m.holds = live
	}
	if live-m.holds > most && m.fault == nil {
		m.fault = fmt.Errorf("%d bytes held after the mutants so far; at most %d are allowed", live-m.holds, most)
	}
}

// allocated is the number of bytes allocated so far, all spans held by a processor taken for free.
func (m *Meter) allocated() int64 {
	metrics.Read(m.samples)
	return int64(m.samples[0].Value.Uint64())
}

// exactly is the number of bytes that f allocates.
func exactly(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}
