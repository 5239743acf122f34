package hostile

import (
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
)

// ArrowMessage finds marks and parts in a valid stream of Arrow IPC: the sizes in front of its messages, all that their
// flatbuffers say (offsets, vtables, lengths of vectors and strings, counts, types, the places of buffers) and the
// beginnings and ends of buffers, where offsets, validity, indexes and the lengths of what is compressed stand. A stream
// that is not valid panics.
func ArrowMessage(name string, stream []byte) *Message {
	m := &Message{Name: name, Bytes: stream, Order: binary.LittleEndian}
	for at := 0; at+4 <= len(stream); {
		m.Parts = append(m.Parts, at)
		m.Marks = append(m.Marks, Mark{at, 4})
		size := int(binary.LittleEndian.Uint32(stream[at:]))
		at += 4
		if size == continuation {
			m.Marks = append(m.Marks, Mark{at, 4})
			size = int(binary.LittleEndian.Uint32(stream[at:]))
			at += 4
		}
		if size == 0 {
			break
		}
		w := arrowWalk{message: m, metadata: stream[at : at+size], at: at, body: at + size}
		at = w.body + w.walk()
	}
	return m
}

// continuation stands in front of the size of a message, but not in streams of before 2019.
const continuation = 1<<32 - 1

// arrowWalk is the walk through one message of a stream. Slots are numbered as in the format's Message.fbs and
// Schema.fbs.
type arrowWalk struct {
	message  *Message
	metadata []byte
	at, body int // of metadata and body within the stream
}

// number is one field of a table that is no offset.
type number struct{ slot, width int }

// walk marks what is there and returns the length of the body.
func (w *arrowWalk) walk() (body int) {
	root := w.root()
	w.numbers(root, number{0, 2}, number{1, 1}, number{3, 8})
	if o := root.Offset(slot(3)); o != 0 {
		body = int(root.GetInt64(root.Pos + flatbuffers.UOffsetT(o)))
	}
	header := w.sub(root, 2)
	kind := byte(0)
	if o := root.Offset(slot(1)); o != 0 {
		kind = root.GetByte(root.Pos + flatbuffers.UOffsetT(o))
	}
	const schema, dictionary, records = 1, 2, 3
	switch kind {
	case schema:
		w.numbers(header, number{0, 2})
		w.tables(header, 1, w.field)
		w.tables(header, 2, w.pair)
	case dictionary:
		w.numbers(header, number{0, 8}, number{2, 1})
		w.batch(w.sub(header, 1))
	case records:
		w.batch(header)
	}
	return body
}

// slot is where the offset of a field stands in a vtable.
func slot(n int) flatbuffers.VOffsetT { return flatbuffers.VOffsetT(4 + 2*n) }

func (w *arrowWalk) mark(pos flatbuffers.UOffsetT, width int) {
	w.message.Marks = append(w.message.Marks, Mark{w.at + int(pos), width})
}

func (w *arrowWalk) root() flatbuffers.Table {
	w.mark(0, 4)
	return w.table(flatbuffers.GetUOffsetT(w.metadata))
}

// table marks a table's way to its vtable, and the vtable.
func (w *arrowWalk) table(pos flatbuffers.UOffsetT) flatbuffers.Table {
	t := flatbuffers.Table{Bytes: w.metadata, Pos: pos}
	w.mark(pos, 4)
	vtable := flatbuffers.UOffsetT(flatbuffers.SOffsetT(pos) - t.GetSOffsetT(pos))
	for i := flatbuffers.UOffsetT(0); i < flatbuffers.UOffsetT(t.GetVOffsetT(vtable)); i += 2 {
		w.mark(vtable+i, 2)
	}
	return t
}

func (w *arrowWalk) numbers(t flatbuffers.Table, fields ...number) {
	for _, f := range fields {
		if o := t.Offset(slot(f.slot)); o != 0 {
			w.mark(t.Pos+flatbuffers.UOffsetT(o), f.width)
		}
	}
}

// sub is the table that a field points to; the zero table if it is not there.
func (w *arrowWalk) sub(t flatbuffers.Table, n int) flatbuffers.Table {
	if t.Bytes == nil {
		return t
	}
	o := flatbuffers.UOffsetT(t.Offset(slot(n)))
	if o == 0 {
		return flatbuffers.Table{}
	}
	w.mark(t.Pos+o, 4)
	return w.table(t.Indirect(t.Pos + o))
}

// vector marks the way to a vector or string and its length, and returns where it begins.
func (w *arrowWalk) vector(t flatbuffers.Table, n int) (start flatbuffers.UOffsetT, length int) {
	o := flatbuffers.UOffsetT(t.Offset(slot(n)))
	if o == 0 {
		return 0, 0
	}
	start, length = t.Vector(o), t.VectorLen(o)
	w.mark(t.Pos+o, 4)
	w.mark(start-4, 4)
	return start, length
}

func (w *arrowWalk) tables(t flatbuffers.Table, n int, visit func(flatbuffers.Table)) {
	start, length := w.vector(t, n)
	for i := range flatbuffers.UOffsetT(length) {
		w.mark(start+4*i, 4)
		visit(w.table(t.Indirect(start + 4*i)))
	}
}

// field marks a column: its name, type, dictionary, children and metadata.
func (w *arrowWalk) field(t flatbuffers.Table) {
	w.vector(t, 0)
	w.numbers(t, number{1, 1}, number{2, 1})
	if typ := w.sub(t, 3); typ.Bytes != nil {
		w.numbers(typ, number{0, 4}, number{1, 4}, number{2, 4}) // what they are depends on the type
	}
	if dictionary := w.sub(t, 4); dictionary.Bytes != nil {
		w.numbers(dictionary, number{0, 8}, number{2, 1}, number{3, 2})
		if index := w.sub(dictionary, 1); index.Bytes != nil {
			w.numbers(index, number{0, 4}, number{1, 1})
		}
	}
	w.tables(t, 5, w.field)
	w.tables(t, 6, w.pair)
}

// pair marks an entry of metadata.
func (w *arrowWalk) pair(t flatbuffers.Table) {
	w.vector(t, 0)
	w.vector(t, 1)
}

// batch marks a record batch and the edges of its buffers.
func (w *arrowWalk) batch(t flatbuffers.Table) {
	w.numbers(t, number{0, 8})
	if compression := w.sub(t, 3); compression.Bytes != nil {
		w.numbers(compression, number{0, 1}, number{1, 1})
	}
	w.structs(t, 1, 2)
	w.structs(t, 4, 1)
	start, length := w.structs(t, 2, 2)
	for i := range flatbuffers.UOffsetT(length) {
		at, size := t.GetInt64(start+16*i), t.GetInt64(start+16*i+8)
		w.edges(w.body+int(at), int(size))
	}
}

// structs marks a vector of structs, each of the given count of 8-byte numbers.
func (w *arrowWalk) structs(t flatbuffers.Table, n, numbers int) (start flatbuffers.UOffsetT, length int) {
	start, length = w.vector(t, n)
	for i := range flatbuffers.UOffsetT(length * numbers) {
		w.mark(start+8*i, 8)
	}
	return start, length
}

// edges marks the first and the last numbers of a buffer.
func (w *arrowWalk) edges(at, size int) {
	const first = 4
	for i := 0; i < first && 4*i+4 <= size; i++ {
		w.message.Marks = append(w.message.Marks, Mark{at + 4*i, 4})
	}
	if size >= 8 {
		w.message.Marks = append(w.message.Marks, Mark{at, 8}, Mark{at + size - 4, 4}, Mark{at + size - 8, 8})
	}
}
