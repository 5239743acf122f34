package hostile

import (
	"fmt"
	"runtime"
	"runtime/metrics"
)

// Meter compares what decoding allocates with its budget.
type Meter struct {
	samples   []metrics.Sample
	fault     error
	at        int // the mutant at hand
	seen      int64
	largest   int64
	largestAt int
}

func newMeter() *Meter {
	return &Meter{samples: []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}}
}

// Within runs decode and reports a fault if it allocates more than most bytes. decode may run twice: the runtime's
// running count, which costs a microsecond, may be off by a span of each size class. So a result above all earlier
// ones is measured again between two exact counts, which stop the world.
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

// allocated is the number of bytes allocated so far, all spans in use by a processor taken for free.
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
