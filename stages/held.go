package stages

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// heldRows are the scored rows of a partition as the first pass of an exploration by residual took them, so that later passes
// need not read them again. A nil value holds nothing.
type heldRows struct {
	limit   int64 // bytes; beyond it nothing is held
	dim     int
	x       []float32
	targets scoring.Targets
	rows    int
	bytes   *atomic.Int64 // others read them
	// nextOrdinal is that of the first row not looked at.
	nextOrdinal int64
	overflown   bool
}

// add copies rows to the end.
func (h *heldRows) add(x []float32, rows int, t scoring.Targets) {
	if h == nil || h.overflown {
		return
	}
	if h.bytes.Add(4*int64(len(x)+len(t.Values)+len(t.Class))) > h.limit {
		h.bytes.Store(0)
		*h = heldRows{limit: h.limit, bytes: h.bytes, overflown: true}
		return
	}
	h.dim, h.targets.Outputs = len(x)/rows, t.Outputs
	h.x = append(h.x, x...)
	h.targets.Values, h.targets.Class = append(h.targets.Values, t.Values...), append(h.targets.Class, t.Class...)
	h.rows += rows
}

// passed notes that all rows of lower ordinals were looked at.
func (h *heldRows) passed(nextOrdinal int64) {
	if h != nil {
		h.nextOrdinal = nextOrdinal
	}
}

// feed gives the rows to a pass.
func (h *heldRows) feed(p *pass) {
	const step = 4096
	for first := 0; first < h.rows; first += step {
		next := min(first+step, h.rows)
		p.Add(h.x[first*h.dim:next*h.dim], next-first, sliceTargets(h.targets, first, next))
	}
}

// holder holds the rows of the partitions that a process owns, for one exploration at a time.
type holder struct {
	limit int64 // bytes

	mu          sync.Mutex
	exploration string
	partitions  map[int32]*heldRows
}

// start returns the memory for the rows of a partition that is to be read from its start in the first pass, nil when nothing
// is to be held.
func (h *holder) start(spec *wire.Spec, partition int32) *heldRows {
	if spec.Criterion != scoring.Residual || spec.Pass > 0 || h.limit <= 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.exploration != spec.Exploration {
		h.exploration, h.partitions = spec.Exploration, map[int32]*heldRows{}
	}
	rows := &heldRows{limit: h.limit / int64(len(spec.Partitions)), bytes: new(atomic.Int64)}
	h.partitions[partition] = rows
	return rows
}

// of returns the rows that a later pass takes from a partition, nil when they are not held from the first to the last one.
func (h *holder) of(spec *wire.Spec, partition int32) *heldRows {
	if spec.Pass == 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	rows := h.partitions[partition]
	at := slices.IndexFunc(spec.FirstPass.Partitions, func(p wire.LineagePartition) bool { return p.Partition == partition })
	if h.exploration != spec.Exploration || rows == nil || rows.overflown || at < 0 ||
		rows.nextOrdinal != spec.FirstPass.Partitions[at].ClosingOrdinal {
		return nil
	}
	return rows
}

// release forgets all rows but those of the exploration that runs, if one does.
func (h *holder) release(running *wire.Spec) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if running == nil || running.Exploration != h.exploration {
		h.exploration, h.partitions = "", nil
	}
}

// bytes is what all rows take.
func (h *holder) bytes() (sum int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, rows := range h.partitions {
		sum += rows.bytes.Load()
	}
	return sum
}
