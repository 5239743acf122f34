package live

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// What a window covers.
const (
	ShortRows = 1_000  // the newest rows by which a state is decided
	LongRows  = 10_000 // the newest rows that are reported beside them
	Hours     = 48     // hours that are kept
	// spreadBlocks is how many blocks are kept in any case, because errors are judged by how blocks differ.
	spreadBlocks = 24
	// maxBlocks and blockBytes bound the blocks kept for the newest rows.
	maxBlocks  = 512
	blockBytes = 4 << 20
	// WindowBytes bounds the memory of a window: blocks, hours, and what comes next.
	WindowBytes = 2 * blockBytes
)

// Window merges the blocks of all partitions.
type Window struct {
	blocks []kept // by time and partition
	rows   int64  // of blocks
	bytes  int64  // of blocks
	places map[int32]place
	hours  map[int64]*total // by number of the hour; without scores

	verdict verdict // as of the block that was added last
	alarm   *alarm  // nil = the model is not wrong
}

// kept is a block with the mean of its losses, and what its variance would be if rows were independent.
type kept struct {
	*wire.Block
	measure     string
	loss, noise float64
}

// NewWindow returns a window without blocks.
func NewWindow() *Window {
	return &Window{verdict: verdict{state: Unknown}, places: map[int32]place{}, hours: map[int64]*total{}}
}

// Add adds a block. One that was added before is skipped: it was published again because nobody knew whether it had
// been.
func (w *Window) Add(b *wire.Block) {
	if at, ok := w.places[b.Partition]; ok && at.log == b.SourceLog && !at.before(place{b.SourceLog, b.NextOffset, b.NextRow}) {
		return
	}
	w.places[b.Partition] = place{b.SourceLog, b.NextOffset, b.NextRow}
	f := (&total{}).with(b).figures()
	at, _ := slices.BinarySearchFunc(w.blocks, b, func(k kept, b *wire.Block) int { return byTime(k.Block, b) })
	w.blocks = slices.Insert(w.blocks, at, kept{b, f.Measure, f.Loss, f.variance / float64(f.Rows)})
	w.rows, w.bytes = w.rows+b.Rows(), w.bytes+memoryOf(b)
	for len(w.blocks) > 0 && w.dispensable() {
		w.rows, w.bytes = w.rows-w.blocks[0].Rows(), w.bytes-memoryOf(w.blocks[0].Block)
		w.blocks[0] = kept{}
		w.blocks = w.blocks[1:]
	}
	w.addHour(b)
	w.judge(b)
}

// dispensable reports whether the oldest block is more than is kept.
func (w *Window) dispensable() bool {
	enough := w.rows-w.blocks[0].Rows() >= LongRows && len(w.blocks) > spreadBlocks
	return enough || len(w.blocks) > maxBlocks || w.bytes > blockBytes
}

// memoryOf is about what a block takes.
func memoryOf(b *wire.Block) int64 {
	const fixed = 400 // of a block or of the sums of a model, with names
	bytes := int64(fixed)
	for i := range b.Models {
		s := &b.Models[i]
		bytes += fixed + int64(8*len(s.Classes)+40*len(s.Outputs)+16*len(s.Scores[0])+16*len(s.Scores[1]))
	}
	return bytes
}

func byTime(a, b *wire.Block) int {
	return cmp.Or(a.To.Compare(b.To), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.FirstOffset, b.FirstOffset), cmp.Compare(a.FirstRow, b.FirstRow))
}

// addHour adds a block to the hour in which it ends, if that is among the newest.
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

// newest adds the whole blocks that make up at least that many of the newest rows, or all there are, to a total.
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
