package files

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Bounds on an Arrow schema. Tables inside it may be shared, so a small schema can expand to any
// size; these bound the expanded size.
const (
	maxSchemaNodes = 1 << 18 // fields and metadata entries together
	maxSchemaDepth = 32
)

// Slots of the tables of Arrow's Message.fbs and Schema.fbs, and the header type
// of a schema message.
const (
	messageHeaderType, messageHeader, messageBodyLength = 1, 2, 3
	schemaFields, schemaMetadata                        = 1, 2
	fieldName, fieldChildren, fieldMetadata             = 0, 5, 6
	entryKey, entryValue                                = 0, 1

	headerIsSchema = 1
)

var errFlatbuffer = errors.New("an offset or length in the metadata points outside it")

// flatTable is a table of a flatbuffer, read with every offset checked.
type flatTable struct {
	buf []byte
	at  int
}

// messageTable is the metadata of one Arrow message.
type messageTable struct {
	flatTable
	bodyBytes int64
}

// readMessageTable reads the root of a message's metadata.
func readMessageTable(meta []byte) (messageTable, error) {
	root, err := flatTable{buf: meta}.follow(0)
	if err != nil {
		return messageTable{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	m := messageTable{flatTable: flatTable{buf: meta, at: root}}
	at, ok, err := m.slot(messageBodyLength, 8)
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if ok {
		m.bodyBytes = int64(binary.LittleEndian.Uint64(meta[at:]))
	}
	return m, nil
}

// checkSchema checks that the message is a schema whose every field, child and
// metadata entry lies in the buffer.
func (m messageTable) checkSchema() error {
	err := m.walkSchema()
	if errors.Is(err, errFlatbuffer) || errors.Is(err, errNotSchema) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

var errNotSchema = errors.New("the first message is not a schema")

func (m messageTable) walkSchema() error {
	at, ok, err := m.slot(messageHeaderType, 1)
	if err != nil {
		return err
	}
	if !ok || m.buf[at] != headerIsSchema {
		return errNotSchema
	}
	schema, ok, err := m.table(messageHeader)
	if err != nil {
		return err
	}
	if !ok {
		return errNotSchema
	}
	w := schemaWalk{}
	if err := w.entries(schema, schemaMetadata); err != nil {
		return err
	}
	return w.fields(schema, schemaFields, 1)
}

// schemaWalk counts what a schema expands to.
type schemaWalk struct {
	nodes int
	bytes int
}

func (w *schemaWalk) count(nodes int) error {
	if w.nodes += nodes; w.nodes > maxSchemaNodes {
		return fmt.Errorf("%w: a schema of more than %d fields and metadata entries", ErrTooLarge, maxSchemaNodes)
	}
	return nil
}

// fields checks the vector of fields in a slot of t, and the children of these fields.
func (w *schemaWalk) fields(t flatTable, slot, depth int) error {
	start, n, err := t.vector(slot, 4)
	if err != nil || n == 0 {
		return err
	}
	if depth > maxSchemaDepth {
		return fmt.Errorf("%w: types nested more than %d deep", ErrTooLarge, maxSchemaDepth)
	}
	if err := w.count(n); err != nil {
		return err
	}
	for i := range n {
		at, err := t.follow(start + 4*i)
		if err != nil {
			return err
		}
		field := flatTable{buf: t.buf, at: at}
		if err := w.text(field, fieldName); err != nil {
			return err
		}
		if err := w.entries(field, fieldMetadata); err != nil {
			return err
		}
		if err := w.fields(field, fieldChildren, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// entries checks the vector of metadata entries in a slot of t.
func (w *schemaWalk) entries(t flatTable, slot int) error {
	start, n, err := t.vector(slot, 4)
	if err != nil {
		return err
	}
	if err := w.count(n); err != nil {
		return err
	}
	for i := range n {
		at, err := t.follow(start + 4*i)
		if err != nil {
			return err
		}
		entry := flatTable{buf: t.buf, at: at}
		if err := errors.Join(w.text(entry, entryKey), w.text(entry, entryValue)); err != nil {
			return err
		}
	}
	return nil
}

// text checks the string in a slot of t. Strings can be shared, so their sum is
// bounded, not only each by the buffer.
func (w *schemaWalk) text(t flatTable, slot int) error {
	_, n, err := t.vector(slot, 1)
	if err != nil {
		return err
	}
	if w.bytes += n; w.bytes > maxMetadataBytes {
		return fmt.Errorf("%w: a schema of more than %d MiB of text", ErrTooLarge, maxMetadataBytes>>20)
	}
	return nil
}

// slot returns where the value of a slot is, given its size; false if the table does not have it.
func (t flatTable) slot(slot, size int) (at int, ok bool, err error) {
	if !t.holds(t.at, 4) {
		return 0, false, errFlatbuffer
	}
	vtable := t.at - int(int32(binary.LittleEndian.Uint32(t.buf[t.at:])))
	if !t.holds(vtable, 4) {
		return 0, false, errFlatbuffer
	}
	// Same comparison as in the library: an odd length, which cuts an entry in half, includes that
	// entry.
	if 4+2*slot >= int(binary.LittleEndian.Uint16(t.buf[vtable:])) {
		return 0, false, nil
	}
	if !t.holds(vtable+4+2*slot, 2) {
		return 0, false, errFlatbuffer
	}
	offset := int(binary.LittleEndian.Uint16(t.buf[vtable+4+2*slot:]))
	if offset == 0 {
		return 0, false, nil
	}
	if !t.holds(t.at+offset, size) {
		return 0, false, errFlatbuffer
	}
	return t.at + offset, true, nil
}

// table returns the table that a slot refers to.
func (t flatTable) table(slot int) (flatTable, bool, error) {
	at, ok, err := t.slot(slot, 4)
	if err != nil || !ok {
		return flatTable{}, false, err
	}
	target, err := t.follow(at)
	return flatTable{buf: t.buf, at: target}, err == nil, err
}

// vector returns where the elements of a slot's vector start, and their number; 0 if the table does
// not have it.
func (t flatTable) vector(slot, elementSize int) (start, n int, err error) {
	at, ok, err := t.slot(slot, 4)
	if err != nil || !ok {
		return 0, 0, err
	}
	target, err := t.follow(at)
	if err != nil {
		return 0, 0, err
	}
	n = int(binary.LittleEndian.Uint32(t.buf[target:]))
	if !t.holds(target+4, n*elementSize) {
		return 0, 0, errFlatbuffer
	}
	return target + 4, n, nil
}

// follow returns where the offset stored at a position points; the caller has checked that four
// bytes are there.
func (t flatTable) follow(at int) (int, error) {
	if !t.holds(at, 4) {
		return 0, errFlatbuffer
	}
	target := at + int(binary.LittleEndian.Uint32(t.buf[at:]))
	if !t.holds(target, 4) {
		return 0, errFlatbuffer
	}
	return target, nil
}

// holds reports whether size bytes from a position on are in the buffer.
func (t flatTable) holds(at, size int) bool {
	return at >= 0 && size >= 0 && at <= len(t.buf) && size <= len(t.buf)-at
}
