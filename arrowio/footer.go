package arrowio

import (
	"encoding/binary"
)

// Footer is the index of an Arrow IPC file. The file need not be a stream as well: writers may
// align, order and separate its messages as they like.
type Footer struct {
	// Schema is the schema as a message of a stream, with its length in front.
	Schema []byte
	// Blocks are the places of the dictionaries and then of the record batches in the file.
	Blocks []Block
}

// Block is the place of a message in an Arrow IPC file.
type Block struct {
	Offset   int64
	Metadata int64 // bytes, with the length in front
	Body     int64 // bytes
}

// Bytes is the length of the message.
func (b Block) Bytes() int64 { return b.Metadata + b.Body }

// Slots of the table Footer, and the size of the struct Block, in Arrow's File.fbs.
const (
	footerVersion      = 0
	footerSchema       = 1
	footerDictionaries = 2
	footerBatches      = 3
	blockBytes         = 24
)

// ReadFooter reads the footer of a file with this many bytes in front of it. Every block is within
// these bytes, and all blocks together are not longer.
func ReadFooter(footer []byte, before int64) (Footer, error) {
	fb := &flatbuffer{buf: footer}
	root := fb.root()
	schema, ok := root.sub(footerSchema)
	if fb.err != nil {
		return Footer{}, fb.err
	}
	if !ok {
		return Footer{}, corrupt("footer without a schema")
	}
	f := Footer{Schema: schemaMessage(footer, schema.pos, root.int16(footerVersion, 0))}
	left := before
	for _, slot := range []int{footerDictionaries, footerBatches} {
		elements, n := root.vector(slot, blockBytes)
		for i := range n {
			e := elements[i*blockBytes:]
			b := Block{
				Offset:   int64(binary.LittleEndian.Uint64(e)),
				Metadata: int64(int32(binary.LittleEndian.Uint32(e[8:]))),
				Body:     int64(binary.LittleEndian.Uint64(e[16:])),
			}
			if b.Offset < 0 || b.Metadata <= 0 || b.Body < 0 || b.Body > left-b.Metadata || b.Offset > before-b.Bytes() {
				return Footer{}, corrupt("message at byte %d with %d and %d bytes, of %d", b.Offset, b.Metadata, b.Body, before)
			}
			left -= b.Bytes()
			f.Blocks = append(f.Blocks, b)
		}
	}
	return f, fb.err
}

// schemaMessage returns a message whose header is the schema at pos within the footer. All offsets
// of a flatbuffer are relative, so a table Message in front of the whole footer suffices.
func schemaMessage(footer []byte, pos int, version int16) []byte {
	const prefix, table, head = 8, 16, 32
	m := make([]byte, prefix+head, prefix+head+len(footer)+8)
	m = append(m, footer...)
	for len(m)%8 != 0 {
		m = append(m, 0)
	}
	binary.LittleEndian.PutUint32(m, 0xffffffff)
	binary.LittleEndian.PutUint32(m[4:], uint32(len(m)-prefix))
	b := m[prefix:]
	binary.LittleEndian.PutUint32(b, table)
	for i, v := range []uint16{10, 12, 8, 10, 4} { // vtable: its size, the table's size, places of the fields
		binary.LittleEndian.PutUint16(b[4+2*i:], v)
	}
	binary.LittleEndian.PutUint32(b[table:], table-4) // back to the vtable
	binary.LittleEndian.PutUint32(b[table+4:], uint32(head+pos-(table+4)))
	binary.LittleEndian.PutUint16(b[table+8:], uint16(version))
	b[table+10] = byte(headerSchema)
	return m
}
