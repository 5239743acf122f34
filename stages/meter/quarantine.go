package meter

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Quarantine is a partition whose work failed persistently. This process retries it at intervals.
type Quarantine struct {
	Stage     Stage
	Partition int
	Cause     string
	Since     time.Time
	Tries     int // number of failures
	RetryAt   time.Time
}

// SetQuarantine reports that a partition was quarantined, or failed again.
func (m *Meter) SetQuarantine(q Quarantine) {
	m.update(func() { m.quarantined[place{q.Stage, q.Partition}] = q })
}

// EndQuarantine reports that a partition is no longer quarantined.
func (m *Meter) EndQuarantine(stage Stage, partition int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.quarantined, place{stage, partition})
}

// quarantines lists the quarantined partitions. The caller holds the lock.
func (m *Meter) quarantines() []Quarantine {
	return slices.SortedFunc(maps.Values(m.quarantined), func(a, b Quarantine) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), a.Partition-b.Partition)
	})
}
