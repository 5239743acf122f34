package hostile

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
)

// Message is a valid message of which mutants are made.
type Message struct {
	Name  string
	Bytes []byte
	// Order is the byte order of numbers.
	Order binary.ByteOrder
	// Marks are the numbers that describe other bytes: lengths, counts, offsets, types.
	Marks []Mark
	// Parts are the positions at which its parts begin, such as the messages of a stream,
	// ascending, the first 0.
	Parts []int
}

// Mark is a number of Width bytes, 1, 2, 4 or 8.
type Mark struct{ At, Width int }

// maxChanges bounds the places at which a mutant is changed, before its parts are.
const maxChanges = 4

// Mutate appends a mutant of m to into. others are messages that it may be spliced with; m may be
// one of them.
func (m *Message) Mutate(r *rand.Rand, into []byte, others []*Message) []byte {
	from := len(into)
	into = append(into, m.Bytes...)
	changes := 1 + r.IntN(maxChanges)
	if r.IntN(4) == 0 {
		into = m.rearrange(r, into, from, others)
		changes-- // the result may be a stream of undamaged parts
	}
	for range changes {
		if at := into[from:]; len(at) > 0 {
			m.change(r, at)
		}
	}
	if r.IntN(16) == 0 {
		into = shift(r, into, from)
	}
	return into
}

// change alters b in one place, keeping its length.
func (m *Message) change(r *rand.Rand, b []byte) {
	switch r.IntN(10) {
	case 0, 1:
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
	case 2:
		b[r.IntN(len(b))] = byte(r.Uint32())
	case 3:
		at, from := r.IntN(len(b)), r.IntN(len(b))
		copy(b[at:], b[from:min(len(b), from+1+r.IntN(64))])
	default:
		mark := m.mark(r, len(b))
		if mark.At+mark.Width <= len(b) {
			m.put(b[mark.At:], mark.Width, m.number(r, b, mark))
		}
	}
}

// mark is one of the message's, or any number that is aligned.
func (m *Message) mark(r *rand.Rand, n int) Mark {
	if len(m.Marks) > 0 && r.IntN(8) > 0 {
		return m.Marks[r.IntN(len(m.Marks))]
	}
	width := 1 << r.IntN(4)
	return Mark{r.IntN(n) &^ (width - 1), width}
}

// number is the replacement for a mark: an extreme, a little more or less than the present number,
// another mark's number, or one that fits the message too well.
func (m *Message) number(r *rand.Rand, b []byte, mark Mark) uint64 {
	was := m.get(b[mark.At:], mark.Width)
	switch r.IntN(6) {
	case 0, 1:
		return extremes[r.IntN(len(extremes))]
	case 2:
		return was + uint64(r.IntN(33)) - 16
	case 3:
		return []uint64{2 * was, was / 2, -was, ^was, was << 8, was << 32, was + 1<<31, was + 1<<32}[r.IntN(8)]
	case 4:
		if other := m.mark(r, len(b)); other.At+other.Width <= len(b) {
			return m.get(b[other.At:], other.Width)
		}
		return 0
	default:
		return uint64(r.IntN(2*len(b)+2) - 1)
	}
}

// extremes have broken readers before.
var extremes = []uint64{
	0,
	1,
	2,
	7,
	8,
	0x7f,
	0x80,
	0xff,
	0x7fff,
	0x8000,
	0xffff,
	1 << 16,
	1 << 24,
	1<<31 - 1,
	1 << 31,
	1<<32 - 1,
	1<<32 - 4,
	1<<32 - 8,
	1 << 32,
	1 << 40,
	1 << 62,
	1<<63 - 1,
	1 << 63,
	1<<63 - 4,
	1<<64 - 1,
	1<<64 - 2,
	1<<64 - 8,
	1<<64 - 1<<31,
	1<<64 - 1<<40,
}

func (m *Message) get(b []byte, width int) uint64 {
	switch width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(m.Order.Uint16(b))
	case 4:
		return uint64(m.Order.Uint32(b))
	default:
		return m.Order.Uint64(b)
	}
}

func (m *Message) put(b []byte, width int, v uint64) {
	switch width {
	case 1:
		b[0] = byte(v)
	case 2:
		m.Order.PutUint16(b, uint16(v))
	case 4:
		m.Order.PutUint32(b, uint32(v))
	default:
		m.Order.PutUint64(b, v)
	}
}

// rearrange cuts the bytes behind from, or drops, repeats, swaps or splices their parts.
func (m *Message) rearrange(r *rand.Rand, into []byte, from int, others []*Message) []byte {
	first, next := m.part(r)
	whole := into[from:]
	switch r.IntN(6) {
	case 0:
		return into[:from+r.IntN(len(whole)+1)]
	case 1: // ends with a part
		return into[:from+first]
	case 2:
		return slices.Delete(into, from+first, from+next)
	case 3:
		again := m.Bytes[first:next]
		into = into[:from+next]
		for range 1 + r.IntN(1+min(64, repeatedBytes/max(1, len(again)))) {
			into = append(into, again...)
		}
		return append(into, m.Bytes[next:]...)
	case 4: // another of its parts in place of this one
		f, n := m.part(r)
		return slices.Replace(into, from+first, from+next, m.Bytes[f:n]...)
	default: // the head of this, the tail of another
		other := others[r.IntN(len(others))]
		f, _ := other.part(r)
		if r.IntN(4) == 0 {
			f = r.IntN(len(other.Bytes) + 1)
		}
		return append(into[:from+first], other.Bytes[f:]...)
	}
}

// repeatedBytes bounds the growth of a message by repeated parts.
const repeatedBytes = 64 << 10

// part is the range of one part.
func (m *Message) part(r *rand.Rand) (first, next int) {
	if len(m.Parts) == 0 {
		first = r.IntN(len(m.Bytes) + 1)
		return first, first + r.IntN(len(m.Bytes)-first+1)
	}
	i := r.IntN(len(m.Parts))
	if i+1 == len(m.Parts) {
		return m.Parts[i], len(m.Bytes)
	}
	return m.Parts[i], m.Parts[i+1]
}

// shift inserts or removes a few bytes, so that everything after them is in the wrong place.
func shift(r *rand.Rand, into []byte, from int) []byte {
	at, n := from+r.IntN(len(into)-from+1), 1+r.IntN(16)
	if r.IntN(2) == 0 {
		return slices.Delete(into, at, min(len(into), at+n))
	}
	noise := make([]byte, n)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	return slices.Insert(into, at, noise...)
}
