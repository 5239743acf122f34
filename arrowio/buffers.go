package arrowio

import (
	"encoding/binary"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// loader reads one batch, node by node and buffer by buffer, in the order of its schema. Until
// release it owns a reference to everything it makes; the record or the dictionary retains its own
// parts.
type loader struct {
	s       *stream
	b       batch
	node    int
	buf     int
	view    int
	claimed int64 // bytes of the buffers so far
	owned   []releaser
	slab    slab
}

type releaser interface{ Release() }

func newLoader(s *stream, b batch) *loader { return &loader{s: s, b: b} }

func (l *loader) release() {
	for i := len(l.owned) - 1; i >= 0; i-- {
		l.owned[i].Release()
	}
	l.owned = nil
}

// checkShape compares the contents of the batch with the needs of its columns, so that later reads
// cannot run out of nodes or buffers.
func (l *loader) checkShape(want shape) error {
	if l.b.nodes.n != want.nodes {
		return corrupt("%d nodes, the schema has %d", l.b.nodes.n, want.nodes)
	}
	if l.b.views.n < want.views {
		return corrupt("%d counts of view buffers, the schema needs %d", l.b.views.n, want.views)
	}
	buffers := int64(want.buffers)
	for i := range want.views {
		n := l.b.views.at(i, 0)
		if n < 0 || n > int64(l.b.buffers.n) {
			return corrupt("%d view buffers of %d buffers", n, l.b.buffers.n)
		}
		buffers += n
	}
	if int64(l.b.buffers.n) != buffers {
		return corrupt("%d buffers, the schema needs %d", l.b.buffers.n, buffers)
	}
	if err := l.s.budget.Take(int64(want.nodes) * arrayCost); err != nil {
		return err
	}
	l.slab = newSlab(want.nodes, want.buffers)
	return nil
}

// nextNode returns the length and the null count of the next array. The row
// limit is not applied here: long arrays need buffers that hold their values.
func (l *loader) nextNode() (n, nulls int, err error) {
	const most = 1<<31 - 1
	length, claimed := l.b.nodes.at(l.node, 0), l.b.nodes.at(l.node, 1)
	l.node++
	if length < 0 || length > most {
		return 0, 0, corrupt("array of %d values", length)
	}
	if claimed < 0 || claimed > length {
		return 0, 0, corrupt("%d nulls among %d values", claimed, length)
	}
	return int(length), int(claimed), nil
}

// nextRaw returns the bytes of the next buffer as they are in the body. All buffers of a batch
// together may not claim more than the body: otherwise many columns could share one buffer, and a
// small message could describe a huge table.
func (l *loader) nextRaw() ([]byte, error) {
	offset, length := l.b.buffers.at(l.buf, 0), l.b.buffers.at(l.buf, 1)
	l.buf++
	body := int64(len(l.b.body))
	switch {
	case length == 0:
		return nil, nil
	case length < 0 || offset < 0 || offset > body || length > body-offset:
		return nil, corrupt("buffer %d at %d of %d bytes in a body of %d", l.buf-1, offset, length, body)
	case length > body-l.claimed:
		return nil, corrupt("buffers of more than %d bytes in a body of %d", l.claimed, body)
	}
	l.claimed += length
	return l.b.body[offset : offset+length : offset+length], nil
}

// next returns the next buffer, decompressed, cut to the need bytes that its array will read (all
// there are if need is negative) and at an address that is a multiple of align.
func (l *loader) next(need int64, align int) (*memory.Buffer, error) {
	raw, err := l.nextRaw()
	if err != nil {
		return nil, err
	}
	if l.b.codec != codecNone && len(raw) > 0 {
		return l.decompressed(raw, need, align)
	}
	return l.plain(raw, need, align)
}

func (l *loader) plain(raw []byte, need int64, align int) (*memory.Buffer, error) {
	if need >= 0 {
		if int64(len(raw)) < need {
			return nil, corrupt("buffer %d has %d bytes, needs %d", l.buf-1, len(raw), need)
		}
		raw = raw[:need:need]
	}
	if aligned(raw, align) {
		return l.slab.wrap(raw), nil
	}
	b := l.allocate(len(raw))
	copy(b.Bytes(), raw)
	return b, nil
}

// decompressed expands a buffer: eight bytes give its length (-1: not compressed), the rest is one
// frame.
func (l *loader) decompressed(raw []byte, need int64, align int) (*memory.Buffer, error) {
	const prefix, asIs = 8, -1
	if len(raw) < prefix {
		return nil, corrupt("compressed buffer of %d bytes", len(raw))
	}
	size, rest := int64(binary.LittleEndian.Uint64(raw)), raw[prefix:]
	if size == asIs {
		return l.plain(rest, need, align)
	}
	if size < 0 || size < need {
		return nil, corrupt("buffer %d expands to %d bytes, needs %d", l.buf-1, size, need)
	}
	if err := l.s.budget.Take(size); err != nil {
		return nil, err
	}
	b := l.allocate(int(size))
	if err := l.s.d.codecs.decompress(l.b.codec, b.Bytes(), rest); err != nil {
		return nil, err
	}
	if need < 0 || need == size {
		return b, nil
	}
	return own(l, memory.SliceBuffer(b, 0, int(need))), nil
}

// allocate returns a buffer of n bytes from the decoder's allocator. The caller has charged
// whatever is not bounded by the message.
func (l *loader) allocate(n int) *memory.Buffer {
	return own(l, memory.NewBufferWithAllocator(l.s.d.mem.Allocate(n), l.s.d.mem))
}

// own gives the loader the caller's reference to r.
func own[T releaser](l *loader, r T) T {
	l.owned = append(l.owned, r)
	return r
}

func aligned(b []byte, align int) bool {
	return align <= 1 || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(align) == 0
}
