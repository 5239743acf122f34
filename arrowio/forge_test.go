package arrowio

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The forge builds IPC messages field by field, so that tests can make claims that no writer would.

// forged is one message: its header's claims and the bytes that follow.
type forged struct {
	kind   headerType
	header func(b *flatbuffers.Builder) flatbuffers.UOffsetT
	body   []byte
	claim  int64 // claimed body length when it is not the body's own
}

// bytes frames the message.
func (m forged) bytes() []byte {
	b := flatbuffers.NewBuilder(0)
	header := m.header(b)
	claim := int64(len(m.body))
	if m.claim != 0 {
		claim = m.claim
	}
	b.StartObject(5)
	b.PrependInt16Slot(0, metadataV5, 0)
	b.PrependByteSlot(1, byte(m.kind), 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependInt64Slot(3, claim, 0)
	b.Finish(b.EndObject())
	meta := b.FinishedBytes()
	meta = append(meta, make([]byte, (8-len(meta)%8)%8)...)
	out := bytes.Clone(continuation)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(meta)))
	return append(append(out, meta...), m.body...)
}

// tableOf builds a table of int64, int32, int16, bool, byte and offset slots;
// nil leaves a slot out.
func tableOf(b *flatbuffers.Builder, slots ...any) flatbuffers.UOffsetT {
	b.StartObject(len(slots))
	for i, v := range slots {
		switch v := v.(type) {
		case int64:
			b.PrependInt64Slot(i, v, math.MinInt64+1)
		case int32:
			b.PrependInt32Slot(i, v, math.MinInt32+1)
		case int16:
			b.PrependInt16Slot(i, v, math.MinInt16+1)
		case byte:
			b.PrependByteSlot(i, v, 0)
		case bool:
			b.PrependBoolSlot(i, v, false)
		case flatbuffers.UOffsetT:
			b.PrependUOffsetTSlot(i, v, 0)
		}
	}
	return b.EndObject()
}

func offsetsOf(b *flatbuffers.Builder, offsets ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, len(offsets), 4)
	for _, o := range slices.Backward(offsets) {
		b.PrependUOffsetT(o)
	}
	return b.EndVector(len(offsets))
}

func int64sOf(b *flatbuffers.Builder, perElement int, values ...int64) flatbuffers.UOffsetT {
	b.StartVector(8, len(values), 8)
	for _, v := range slices.Backward(values) {
		b.PrependInt64(v)
	}
	return b.EndVector(len(values) / perElement)
}

// fieldOf builds a Field of the given type. build makes the type's table.
func fieldOf(
	b *flatbuffers.Builder,
	name string,
	id typeID,
	build func() flatbuffers.UOffsetT,
	children ...flatbuffers.UOffsetT,
) flatbuffers.UOffsetT {
	n, t, kids := b.CreateString(name), build(), offsetsOf(b, children...)
	return tableOf(b, n, true, byte(id), t, nil, kids)
}

// typeOf returns a builder of a type table with the given slots.
func typeOf(b *flatbuffers.Builder, slots ...any) func() flatbuffers.UOffsetT {
	return func() flatbuffers.UOffsetT { return tableOf(b, slots...) }
}

// forgeSchema builds a schema message with the fields made by build.
func forgeSchema(build func(b *flatbuffers.Builder) []flatbuffers.UOffsetT) []byte {
	return forged{kind: headerSchema, header: func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		fields := offsetsOf(b, build(b)...)
		return tableOf(b, nil, fields)
	}}.bytes()
}

// simpleSchema returns a schema with one column of each given type, without parameters.
func simpleSchema(ids ...typeID) []byte {
	return forgeSchema(func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
		var fields []flatbuffers.UOffsetT
		for _, id := range ids {
			slots := []any{}
			if id == typeFloat {
				slots = []any{int16(1)}
			}
			fields = append(fields, fieldOf(b, "x", id, typeOf(b, slots...)))
		}
		return fields
	})
}

// forgedBatch holds the claims of a record batch.
type forgedBatch struct {
	length  int64
	nodes   []int64 // length, nulls, ...
	buffers []int64 // offset, length, ...
	views   []int64
	codec   codec // codecNone-1 leaves compression out
	body    []byte
	claim   int64
}

const uncompressed = codecNone - 1

func (f forgedBatch) table(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	nodes, buffers, views := int64sOf(b, 2, f.nodes...), int64sOf(b, 2, f.buffers...), int64sOf(b, 1, f.views...)
	if f.codec == uncompressed {
		return tableOf(b, f.length, nodes, buffers, nil, views)
	}
	return tableOf(b, f.length, nodes, buffers, tableOf(b, byte(f.codec)), views)
}

func (f forgedBatch) bytes() []byte {
	return forged{kind: headerRecords, header: f.table, body: f.body, claim: f.claim}.bytes()
}

// plainBatch is a batch that is not compressed.
func plainBatch(length int64, nodes, buffers []int64, body []byte) []byte {
	return forgedBatch{length: length, nodes: nodes, buffers: buffers, body: body, codec: uncompressed}.bytes()
}

// words lays out little-endian int32, padded to 8 bytes.
func words(values ...int32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	return append(out, make([]byte, (8-len(out)%8)%8)...)
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }
