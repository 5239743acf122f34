package scoring

import (
	"fmt"
	"runtime"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// DefaultMemory is what a bank may take by default.
const DefaultMemory = 512 << 20

// BankPlan says how a bank uses its memory. If all candidates fit, all are kept. Otherwise a quarter of the memory goes
// to waiting rows, because drawing a candidate costs about as much as scoring it against 1500 rows. Buffers to draw
// into, one for each processor, take at most half of the memory, and as many candidates as fit into the rest are kept.
// If the memory is less than one buffer and a few hundred rows of each partition take, the bank takes that anyway; if
// that is more than all candidates take, it keeps all.
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
	buffers     int // shards that can be drawn at the same time
}

// PlanBank returns what [NewBank] would keep and draw of candidates of the description; only Map, Dim and Count
// are read. It panics when Dim or Count is not positive or an option is negative.
func PlanBank(c Candidates, o BankOptions) BankPlan {
	if c.Dim < 1 || c.Count < 1 {
		panic(fmt.Sprintf("scoring: plan for %d candidates of %d numbers", c.Count, c.Dim))
	}
	o.check()
	return planBank(c, o.Memory, o.Partitions, runtime.GOMAXPROCS(0))
}

const (
	// shardBytes is about the size of a shard: with a block of rows it stays in the second-level cache.
	shardBytes = 1 << 20
	// waitingBytes and waitingRows bound the waiting rows when nothing is drawn: enough that reading the candidates
	// from memory is negligible beside the arithmetic.
	waitingBytes = 1 << 20
	waitingRows  = 256
	// drawnRows is how many rows are worth waiting for when candidates are drawn: drawing is then some 5 % of the time.
	drawnRows = 1 << 15
)

// planBank is PlanBank for a number of processors.
func planBank(c Candidates, memory int64, partitions, procs int) BankPlan {
	if memory == 0 {
		memory = DefaultMemory
	}
	partitions = max(partitions, 1)
	panels := (c.Count + kernel.Width - 1) / kernel.Width
	panelBytes, rowBytes := int64(kernel.Width*4*(c.Dim+1)), int64(4*c.Dim)
	p := BankPlan{KeptBytes: int64(panels) * panelBytes, Rows: int(min(max(waitingBytes/rowBytes, 1), waitingRows))}
	p.RowBytes = int64(p.Rows) * rowBytes
	if c.Map.Coordinates() { // a coordinate is four bytes
		p.KeptBytes = int64(panels * kernel.Width * 4)
		p.cut(c.Count, panels, procs)
		return p
	}
	p.cut(c.Count, min(max(int(shardBytes/panelBytes), 1), panels), procs)
	if p.KeptBytes <= memory {
		return p
	}
	if d := p.draw(memory, partitions, int64(p.shardPanels)*panelBytes); d.bytes(partitions) < p.bytes(partitions) {
		return d
	}
	return p
}

// bytes is the memory of a bank with that of its accumulators, one for each partition.
func (p *BankPlan) bytes(partitions int) int64 {
	return p.KeptBytes + p.BufferBytes + int64(partitions)*p.RowBytes
}

// draw returns the plan, which keeps all, with as many shards kept as there is room for. shard is the bytes of one.
func (p BankPlan) draw(memory int64, partitions int, shard int64) BankPlan {
	buffer := 2 * shard // for the candidates as they are drawn, and packed
	p.buffers = int(min(max(memory/2/buffer, 1), int64(p.buffers)))
	p.BufferBytes = int64(p.buffers) * buffer
	share, rowBytes := min(memory/4, memory-p.BufferBytes)/int64(partitions), p.RowBytes/int64(p.Rows)
	p.Rows = max(p.Rows, int(min(share/rowBytes, drawnRows)))
	p.RowBytes = int64(p.Rows) * rowBytes
	room := max(memory-p.BufferBytes-int64(partitions)*p.RowBytes, 0)
	p.keptShards = int(min(room/shard, int64(p.shards-1)))
	p.KeptBytes = int64(p.keptShards) * shard
	p.Drawn = p.Kept - p.keptShards*p.shardLen
	p.Kept -= p.Drawn
	return p
}

// cut makes shards of the given number of panels and keeps all. There is one buffer for each processor, but no more
// than shards.
func (p *BankPlan) cut(count, panels, procs int) {
	p.shardPanels, p.shardLen = panels, panels*kernel.Width
	p.shards = (count + p.shardLen - 1) / p.shardLen
	p.Kept, p.Drawn, p.keptShards = count, 0, p.shards
	p.buffers = min(procs, p.shards)
}
