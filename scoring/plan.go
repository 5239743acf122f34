package scoring

import (
	"runtime"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// DefaultMemory is what a bank may take when nothing else is said.
const DefaultMemory = 512 << 20

// BankPlan is what a bank makes of its memory. All candidates are kept where they fit. Otherwise a quarter of the memory
// goes to waiting rows, since drawing a candidate costs about as much as scoring it against 1500 rows; the buffers that
// are drawn into take a fixed size, and as many candidates as fit into the rest are kept. Where the memory is less than
// what the buffers and a few hundred rows of each partition take, the bank takes those.
type BankPlan struct {
	// Kept and Drawn are numbers of candidates: those packed once, and those drawn again for every block of rows.
	Kept, Drawn int
	// KeptBytes is the memory of the kept candidates, BufferBytes that of all buffers for drawn ones.
	KeptBytes, BufferBytes int64
	// Rows is how many rows of a partition wait, at most, to be scored together, RowBytes their memory.
	Rows     int
	RowBytes int64

	shardPanels int // panels of a shard; the last one may have fewer
	shardLen    int // candidates of a shard
	shards      int
	keptShards  int
}

// PlanBank returns what [NewBank] would keep and draw of candidates of the description; only Map, Sampler, Dim and
// Count are read.
func PlanBank(c Candidates, o BankOptions) BankPlan {
	return planBank(c, o.Memory, o.Partitions, runtime.GOMAXPROCS(0))
}

const (
	// shardBytes is about the size of a shard: with a block of rows it stays in the second-level cache.
	shardBytes = 1 << 20
	// waitingBytes and waitingRows bound the rows that wait when nothing is drawn: so many that reading the
	// candidates from memory does not count beside the arithmetic.
	waitingBytes = 1 << 20
	waitingRows  = 256
	// drawnRows is how many rows are worth waiting for when candidates are drawn: drawing is then some 5 % of the time.
	drawnRows = 1 << 15
)

// planBank is PlanBank for a number of processors.
func planBank(c Candidates, memory int64, partitions, procs int) BankPlan {
	if c.scoredByTransform() {
		return planStructuredBank(c)
	}
	if memory == 0 {
		memory = DefaultMemory
	}
	partitions = max(partitions, 1)
	panels := (c.Count + kernel.Width - 1) / kernel.Width
	panelBytes, rowBytes := int64(kernel.Width*4*(c.Dim+1)), int64(4*c.Dim)
	p := BankPlan{Kept: c.Count, KeptBytes: int64(panels) * panelBytes}
	p.Rows = int(min(max(waitingBytes/rowBytes, 1), waitingRows))
	if c.Map == MapLinear { // a coordinate is four bytes
		p.KeptBytes = int64(panels * kernel.Width * 4)
		p.cut(c.Count, panels)
	} else {
		p.cut(c.Count, min(max(int(shardBytes/panelBytes), 1), panels))
	}
	if c.Map != MapLinear && p.KeptBytes > memory {
		p.BufferBytes = int64(procs*p.shardPanels) * 2 * panelBytes
		share := min(memory/4, memory-p.BufferBytes) / int64(partitions)
		p.Rows = max(p.Rows, int(min(share/rowBytes, drawnRows)))
		p.keep(memory-p.BufferBytes-int64(partitions)*int64(p.Rows)*rowBytes, panelBytes)
	}
	p.RowBytes = int64(p.Rows) * rowBytes
	p.Drawn = c.Count - p.Kept
	return p
}

// cut makes shards of so many panels and keeps all.
func (p *BankPlan) cut(count, panels int) {
	p.shardPanels, p.shardLen = panels, panels*kernel.Width
	p.shards = (count + p.shardLen - 1) / p.shardLen
	p.keptShards = p.shards
}

// keep lets the plan keep the shards that fit into so many bytes.
func (p *BankPlan) keep(bytes, panelBytes int64) {
	p.keptShards = int(min(max(bytes, 0)/(int64(p.shardPanels)*panelBytes), int64(p.shards-1)))
	p.Kept = p.keptShards * p.shardLen
	p.KeptBytes = int64(p.keptShards*p.shardPanels) * panelBytes
}
