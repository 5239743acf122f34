package arrowio

import "encoding/binary"

// flatbuffer reads one flatbuffer without trusting it. Every position is checked before it is read.
// The first fault is kept in err, and everything read after it is zero, so callers may read several
// fields and check err once, before they use the values.
type flatbuffer struct {
	buf []byte
	err error
}

// table is one table of a flatbuffer. The zero table, which stands for an absent one, has default
// values only.
type table struct {
	fb     *flatbuffer
	pos    int // where the table's inline data begins
	vtable int // where the vtable begins
	slots  int // entries in the vtable
}

// fail records the first fault.
func (f *flatbuffer) fail(what string, pos int) {
	if f.err == nil {
		f.err = corrupt("flatbuffer: %s at byte %d of %d", what, pos, len(f.buf))
	}
}

// within reports whether width bytes at pos are inside the buffer.
func (f *flatbuffer) within(pos, width int) bool {
	return pos >= 0 && width >= 0 && pos <= len(f.buf)-width
}

func (f *flatbuffer) uint16(pos int) int { return int(binary.LittleEndian.Uint16(f.buf[pos:])) }
func (f *flatbuffer) uint32(pos int) int64 {
	return int64(binary.LittleEndian.Uint32(f.buf[pos:]))
}

// root returns the table at the start of the buffer.
func (f *flatbuffer) root() table { return f.follow(0) }

// follow returns the table that the offset at pos points to.
func (f *flatbuffer) follow(pos int) table {
	pos = f.target(pos)
	if f.err != nil || !f.within(pos, 4) {
		f.fail("table outside", pos)
		return table{}
	}
	back := int64(int32(binary.LittleEndian.Uint32(f.buf[pos:])))
	vtable := int(int64(pos) - back)
	if !f.within(vtable, 4) {
		f.fail("vtable outside", vtable)
		return table{}
	}
	vsize := f.uint16(vtable)
	if vsize < 4 || vsize%2 != 0 || !f.within(vtable, vsize) {
		f.fail("vtable of impossible size", vtable)
		return table{}
	}
	// The table's size, which follows, is not checked: the Go builder lets tables of different
	// sizes share a vtable if their fields start at the same places, so it may be another table's.
	return table{fb: f, pos: pos, vtable: vtable, slots: (vsize - 4) / 2}
}

// target returns the position that the offset at pos points to. Offsets point forwards, and at
// least four bytes exist.
func (f *flatbuffer) target(pos int) int {
	if f.err != nil || !f.within(pos, 4) {
		f.fail("offset outside", pos)
		return 0
	}
	to := int64(pos) + f.uint32(pos)
	if to == int64(pos) || to > int64(len(f.buf)-4) {
		f.fail("offset points outside", pos)
		return 0
	}
	return int(to)
}

// field returns the position of a field of width bytes, or 0 if it is absent.
func (t table) field(slot, width int) int {
	if t.fb == nil || t.fb.err != nil || slot >= t.slots {
		return 0
	}
	off := t.fb.uint16(t.vtable + 4 + 2*slot)
	if off == 0 {
		return 0
	}
	if off < 4 || !t.fb.within(t.pos+off, width) {
		t.fb.fail("field outside", t.pos)
		return 0
	}
	return t.pos + off
}

func (t table) uint8(slot int) byte {
	if p := t.field(slot, 1); p != 0 {
		return t.fb.buf[p]
	}
	return 0
}

func (t table) bool(slot int) bool { return t.uint8(slot) != 0 }

func (t table) int16(slot int, def int16) int16 {
	if p := t.field(slot, 2); p != 0 {
		return int16(binary.LittleEndian.Uint16(t.fb.buf[p:]))
	}
	return def
}

func (t table) int32(slot int, def int32) int32 {
	if p := t.field(slot, 4); p != 0 {
		return int32(binary.LittleEndian.Uint32(t.fb.buf[p:]))
	}
	return def
}

func (t table) int64(slot int) int64 {
	if p := t.field(slot, 8); p != 0 {
		return int64(binary.LittleEndian.Uint64(t.fb.buf[p:]))
	}
	return 0
}

// sub returns a nested table and whether it exists.
func (t table) sub(slot int) (table, bool) {
	p := t.field(slot, 4)
	if p == 0 {
		return table{}, false
	}
	nested := t.fb.follow(p)
	return nested, nested.fb != nil
}

// vector returns the bytes of a vector of n elements, each width bytes; an
// absent vector is empty.
func (t table) vector(slot, width int) (elems []byte, n int) {
	start, n := t.span(slot, width)
	return t.bytes(start, n*width), n
}

// tables calls visit with each table of a vector of tables until there is a fault in the buffer or
// visit returns an error.
func (t table) tables(slot int, visit func(i int, sub table) error) error {
	start, n := t.span(slot, 4)
	for i := range n {
		sub := t.fb.follow(start + 4*i)
		if t.fb.err != nil {
			return t.fb.err
		}
		if err := visit(i, sub); err != nil {
			return err
		}
	}
	return nil
}

// count returns the length of a vector.
func (t table) count(slot, width int) int {
	_, n := t.span(slot, width)
	return n
}

// text returns the bytes of a string; an absent one is empty.
func (t table) text(slot int) []byte {
	start, n := t.span(slot, 1)
	return t.bytes(start, n)
}

// span locates a vector: the start and the number of its elements.
func (t table) span(slot, width int) (start, n int) {
	p := t.field(slot, 4)
	if p == 0 {
		return 0, 0
	}
	p = t.fb.target(p)
	if t.fb.err != nil {
		return 0, 0
	}
	claimed := t.fb.uint32(p)
	if claimed > int64((len(t.fb.buf)-p-4)/width) {
		t.fb.fail("vector longer than the remaining bytes", p)
		return 0, 0
	}
	return p + 4, int(claimed)
}

// bytes returns n bytes at start, a range that span has checked.
func (t table) bytes(start, n int) []byte {
	if n == 0 {
		return nil
	}
	return t.fb.buf[start : start+n]
}
