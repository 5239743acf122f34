package meter

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Aside is a partition whose work failed for good: this process has set it aside and tries it again.
type Aside struct {
	Stage     string
	Partition int
	Cause     string
	Since     time.Time
	Tries     int // that failed
	RetryAt   time.Time
}

// SetAside reports that a partition is set aside, or failed again.
func (m *Meter) SetAside(a Aside) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.aside[place{a.Stage, a.Partition}] = a
}

// EndAside reports that a partition is not set aside any more.
func (m *Meter) EndAside(stage string, partition int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.aside, place{stage, partition})
}

// partitionsAside lists the partitions that are set aside. The caller holds the lock.
func (m *Meter) partitionsAside() []Aside {
	return slices.SortedFunc(maps.Values(m.aside), func(a, b Aside) int {
		order := Stages()
		return cmp.Or(slices.Index(order, a.Stage)-slices.Index(order, b.Stage), a.Partition-b.Partition)
	})
}
