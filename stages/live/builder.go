package live

import (
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// A block closes by its contents alone, so that it is a function of the log: with enough compared
// rows, or earlier if the messages that it spans are so large that rereading them would take long.
const (
	blockRows = 250
	// BlockBytes bounds the features messages that an open block spans.
	BlockBytes = 16 << 20
)

// Message is a message of features as a [Builder] sees it.
type Message struct {
	Rows  wire.FeatureBatch // the covered rows
	Live  *wire.LiveSums    // nil = no row was compared
	Time  time.Time         // of its event, in milliseconds; blocks report it but do not depend on it
	Bytes int
}

// Builder cuts the messages of one partition into blocks.
type Builder struct {
	Pipeline  string
	Partition int32

	open  *wire.Block // nil = none; it begins with a message that has sums
	bytes int         // of the messages of the open block
	place place       // after the last message
}

// place is a position in a log of events.
type place struct {
	log    string
	offset int64
	row    int32
}

// after returns the place after a message.
func after(rows wire.FeatureBatch) place {
	p := place{rows.SourceLog, rows.SourceOffset, rows.FirstRow + rows.RowCount}
	if rows.Last() {
		p.offset, p.row = rows.SourceOffset+1, 0
	}
	return p
}

// before reports whether a place precedes another of the same log.
func (p place) before(other place) bool {
	return p.offset < other.offset || p.offset == other.offset && p.row < other.row
}

// After makes the builder continue after a final block of the topic.
func (b *Builder) After(last *wire.Block) {
	b.open, b.place = nil, place{last.SourceLog, last.NextOffset, last.NextRow}
}

// Covers reports whether a message is part of a closed block or was already added.
func (b *Builder) Covers(rows wire.FeatureBatch) bool {
	return rows.SourceLog == b.place.log && !b.place.before(after(rows))
}

// Add adds the next message of the partition and returns the blocks that it closes, oldest first. A
// message that was already added is skipped.
func (b *Builder) Add(m Message) (closed []*wire.Block) {
	if b.Covers(m.Rows) {
		return nil
	}
	if b.open != nil && (m.Rows.SourceLog != b.open.SourceLog || m.Live != nil && !b.open.Fits(m.Live)) {
		closed = append(closed, b.close())
	}
	b.place = after(m.Rows)
	b.include(m)
	if b.open != nil && (b.open.Rows() >= blockRows || b.bytes >= BlockBytes) {
		closed = append(closed, b.close())
	}
	return closed
}

// include puts a message into the open block, or begins one with it.
func (b *Builder) include(m Message) {
	if b.open == nil {
		if m.Live == nil {
			return
		}
		b.bytes = 0
		b.open = &wire.Block{
			Pipeline:    b.Pipeline,
			Partition:   b.Partition,
			SourceLog:   m.Rows.SourceLog,
			FirstOffset: m.Rows.SourceOffset,
			FirstRow:    m.Rows.FirstRow,
			From:        m.Time,
			To:          m.Time,
		}
	}
	b.bytes += m.Bytes
	b.open.NextOffset, b.open.NextRow = b.place.offset, b.place.row
	if m.Time.Before(b.open.From) {
		b.open.From = m.Time
	}
	if m.Time.After(b.open.To) {
		b.open.To = m.Time
	}
	if m.Live != nil {
		b.open.Add(m.Live)
	}
}

// Provisional returns the open block as a provisional one; nil without one. It shares memory with
// the builder and is valid until the next call of Add.
func (b *Builder) Provisional() *wire.Block {
	if b.open == nil {
		return nil
	}
	block := *b.open
	block.Provisional = true
	return &block
}

func (b *Builder) close() *wire.Block {
	closed := b.open
	b.open = nil
	return closed
}
