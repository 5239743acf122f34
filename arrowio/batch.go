package arrowio

import "encoding/binary"

// batch holds the claims of a RecordBatch flatbuffer about a body. Only the framing of its entries
// has been checked; see loader.
type batch struct {
	length  int64
	nodes   entries // length, null count
	buffers entries // offset, length
	views   entries // buffer counts of the view columns
	codec   codec
	body    []byte
}

// entries is a vector of fixed-size structs of int64.
type entries struct {
	raw    []byte
	n      int // structs
	fields int // int64 per struct
}

func (e entries) at(i, field int) int64 {
	return int64(binary.LittleEndian.Uint64(e.raw[8*(i*e.fields+field):]))
}

// codec names how the buffers of a body are compressed.
type codec int8

const (
	codecLZ4  codec = 0 // LZ4 frames
	codecZstd codec = 1
	codecNone codec = -1
)

// readBatch reads a RecordBatch table.
func readBatch(fb *flatbuffer, t table, body []byte) (batch, error) {
	b := batch{length: t.int64(0), codec: codecNone, body: body}
	vector := func(slot, fields int) entries {
		raw, n := t.vector(slot, 8*fields)
		return entries{raw: raw, n: n, fields: fields}
	}
	b.nodes, b.buffers, b.views = vector(1, 2), vector(2, 2), vector(4, 1)
	method := byte(0)
	if c, ok := t.sub(3); ok {
		b.codec, method = codec(c.uint8(0)), c.uint8(1)
	}
	switch {
	case fb.err != nil:
		return b, fb.err
	case method != 0:
		return b, unsupported("compression method %d", method)
	case b.codec != codecNone && b.codec != codecLZ4 && b.codec != codecZstd:
		return b, unsupported("compression codec %d", b.codec)
	}
	return b, nil
}
