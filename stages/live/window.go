package live

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// The contents of a window.
const (
	ShortRows = 1_000  // the newest rows, which decide the state
	LongRows  = 10_000 // the newest rows reported next to them
	Hours     = 48     // number of hours kept
	// spreadBlocks is the number of blocks kept in any case, because errors are judged by the
	// differences of blocks.
	spreadBlocks = 24
	// maxBlocks and blockBytes bound the final blocks of the newest rows. The newest block is
	// always kept.
	maxBlocks  = 512
	blockBytes = 4 << 20
	// openBytes bounds the provisional blocks, and hourBytes the sums of hours, which have no
	// scores.
	openBytes = 1 << 20
	hourBytes = 5 << 20
	// WindowBytes bounds the memory of a window and of the blocks that a [Follower] has read ahead.
	WindowBytes = blockBytes + wire.MaxBlockBytes + openBytes + hourBytes + readBytes
)

// Window merges the blocks of all partitions.
type Window struct {
	blocks []kept // final, by time and partition
	rows   int64  // of blocks
	bytes  int64  // of blocks
	places map[int32]place
	open   map[int32]*wire.Block // provisional, by partition
	hours  map[int64]*total      // by number of the hour; without scores

	verdict verdict // as of the last final block
	alarm   *alarm  // nil = the model is not wrong
}

// kept is a block with the mean of its losses, the variance of that mean for independent rows, and
// the misclassified rows in percent.
// The measure is empty if no row has a loss.
type kept struct {
	*wire.Block
	measure     string
	loss, noise float64
	error       float64
}

// NewWindow returns a window without blocks.
func NewWindow() *Window {
	return &Window{
		verdict: verdict{state: Unknown},
		places:  map[int32]place{},
		open:    map[int32]*wire.Block{},
		hours:   map[int64]*total{},
	}
}

// Add adds a block. A block that was already added is skipped: its owner republished it without
// knowing that the first attempt succeeded. A provisional block stays until a final or newer
// provisional one of its partition replaces it.
func (w *Window) Add(b *wire.Block) {
	next := place{b.SourceLog, b.NextOffset, b.NextRow}
	if at, ok := w.places[b.Partition]; ok && at.log == b.SourceLog && !at.before(next) {
		return
	}
	if b.Provisional {
		w.open[b.Partition] = b
		w.trimOpen()
		return
	}
	delete(w.open, b.Partition)
	w.places[b.Partition] = next
	f := (&total{}).with(b).figures()
	at, _ := slices.BinarySearchFunc(w.blocks, b, func(k kept, b *wire.Block) int { return byTime(k.Block, b) })
	measured := kept{Block: b}
	if f.lossRows > 0 {
		measured = kept{b, f.Measure, f.Loss, f.variance / float64(f.lossRows), f.Error}
	}
	w.blocks = slices.Insert(w.blocks, at, measured)
	w.rows += b.Rows()
	w.bytes += b.Memory()
	for len(w.blocks) > 1 && w.dispensable() {
		w.rows -= w.blocks[0].Rows()
		w.bytes -= w.blocks[0].Memory()
		w.blocks[0] = kept{}
		w.blocks = w.blocks[1:]
	}
	w.addHour(b)
	w.judge(b)
}

// dispensable reports whether the oldest block exceeds the contents of a window.
func (w *Window) dispensable() bool {
	enough := w.rows-w.blocks[0].Rows() >= LongRows && len(w.blocks) > spreadBlocks
	return enough || len(w.blocks) > maxBlocks || w.bytes > blockBytes
}

// trimOpen drops the oldest provisional blocks beyond their memory.
func (w *Window) trimOpen() {
	blocks := w.provisional()
	var bytes int64
	for _, b := range blocks {
		bytes += b.Memory()
	}
	for _, b := range blocks {
		if bytes <= openBytes {
			return
		}
		bytes -= b.Memory()
		delete(w.open, b.Partition)
	}
}

// provisional returns the provisional blocks by time.
func (w *Window) provisional() []*wire.Block { return slices.SortedFunc(maps.Values(w.open), byTime) }

func byTime(a, b *wire.Block) int {
	return cmp.Or(
		a.To.Compare(b.To),
		cmp.Compare(a.Partition, b.Partition),
		cmp.Compare(a.FirstOffset, b.FirstOffset),
		cmp.Compare(a.FirstRow, b.FirstRow),
	)
}

// addHour adds a block to the hour in which it ends, if that is one of the newest.
func (w *Window) addHour(b *wire.Block) {
	number := b.To.Unix() / int64(time.Hour/time.Second)
	hour := w.hours[number]
	if hour == nil {
		hour = &total{}
		w.hours[number] = hour
	}
	hour.with(b)
	if len(w.hours) > Hours {
		delete(w.hours, slices.Min(slices.Collect(maps.Keys(w.hours))))
	}
}

// newest adds whole blocks with at least a number of the newest rows, or all blocks, to a total.
func (w *Window) newest(t *total, rows int64) *Figures {
	first := len(w.blocks)
	for sum := int64(0); first > 0 && sum < rows; {
		first--
		sum += w.blocks[first].Rows()
	}
	for _, k := range w.blocks[first:] {
		t.with(k.Block)
	}
	return t.figures()
}
