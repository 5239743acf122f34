package hostile

import (
	"bytes"
	"encoding/binary"
)

// ArrowMessage finds marks and parts in a valid stream of Arrow IPC: the sizes in front of its
// messages, every number of their metadata at its natural alignment (offsets, vtables, lengths,
// counts, types, the places of buffers), and the first numbers of buffers, which hold offsets,
// validity, indexes and the lengths of compressed parts.
func ArrowMessage(name string, stream []byte) *Message {
	m := &Message{Name: name, Bytes: stream, Order: binary.LittleEndian, Parts: []int{0}}
	for at := 0; at+8 <= len(stream); {
		prefix := 4
		if bytes.HasPrefix(stream[at:], continuation) { // not in streams of before 2019
			m.Marks = append(m.Marks, Mark{at, 4})
			prefix = 8
		}
		size := int(binary.LittleEndian.Uint32(stream[at+prefix-4:]))
		body := min(at+prefix+size, len(stream))
		next := nextMessage(stream, body)
		m.Marks = append(m.Marks, Mark{at + prefix - 4, 4})
		m.markAll(at+prefix, body, 2, 4, 8)
		for buffer := body; buffer < next; buffer += bufferAlignment {
			m.markAll(buffer, min(buffer+16, next), 4, 8)
		}
		if at = next; at < len(stream) {
			m.Parts = append(m.Parts, at)
		}
	}
	return m
}

var continuation = []byte{0xff, 0xff, 0xff, 0xff}

// bufferAlignment is how writers align buffers.
const bufferAlignment = 64

// nextMessage is where the next message after a body begins, or the end of the stream.
func nextMessage(stream []byte, body int) int {
	for at := body; at+8 <= len(stream); at += 8 {
		if size := binary.LittleEndian.Uint32(stream[at+4:]); bytes.HasPrefix(stream[at:], continuation) &&
			int64(size) <= int64(len(stream)-at-8) {
			return at
		}
	}
	return len(stream)
}

// markAll marks all aligned numbers of these widths in a range.
func (m *Message) markAll(from, to int, widths ...int) {
	for _, width := range widths {
		for at := (from + width - 1) / width * width; at+width <= to; at += width {
			m.Marks = append(m.Marks, Mark{at, width})
		}
	}
}
