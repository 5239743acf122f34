package arrowio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
)

// small limits make a breach visible.
var small = Limits{MaxMessageBytes: 1 << 20, BudgetBytes: 1 << 20, MaxRows: 1000, MaxColumns: 100}

// refuse decodes under small limits and expects a refusal with this reason, and little memory.
func refuse(t *testing.T, stream []byte, reason string) {
	t.Helper()
	var recs int
	var err error
	taken := allocated(func() {
		d := NewDecoder(small)
		got, e := d.Decode(stream)
		recs, err = len(got), e
	})
	if Reason(err) != reason || recs != 0 {
		t.Errorf("%d records, reason %q, want %q: %v", recs, Reason(err), reason, err)
	}
	if most := uint64(small.BudgetBytes) + uint64(len(stream)) + 1<<20; taken > most {
		t.Errorf("%d bytes allocated for a stream of %d, at most %d", taken, len(stream), most)
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestFramingAttacks(t *testing.T) {
	good := readFile(t, "pyarrow", "nested.arrows")
	floats := simpleSchema(typeFloat)
	row := plainBatch(1, []int64{1, 0}, []int64{0, 0, 0, 4}, make([]byte, 8))
	tests := []struct {
		name   string
		stream []byte
		reason string
	}{
		{"nothing", nil, "not_arrow"},
		{"one byte", []byte{1}, "not_arrow"},
		{"end mark alone", []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, "not_arrow"},
		{"json", []byte(`{"feature": [1, 2, 3], "label": "yes"}`), "not_arrow"},
		{"no mark of a stream", append([]byte{16, 0, 0, 0}, bytes.Repeat([]byte{0xee}, 40)...), "not_arrow"},
		{"arrow file", append([]byte("ARROW1\x00\x00"), good...), "not_arrow"},
		{"2 GiB of metadata", []byte{0xff, 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0x7f}, "truncated"},
		{"4 GiB of metadata", append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, good...), "truncated"},
		{"half a prefix", []byte{0xff, 0xff, 0xff, 0xff, 1}, "truncated"},
		{"body of 2^40", join(floats, forgedBatch{length: 1, nodes: []int64{1, 0}, buffers: []int64{0, 0, 0, 4},
			body: make([]byte, 8), codec: uncompressed, claim: 1 << 40}.bytes()), "truncated"},
		{"negative body", join(floats, forgedBatch{length: 1, claim: -8, codec: uncompressed}.bytes()), "corrupt"},
		{"records before the schema", row, "corrupt"},
		{"two schemas", join(floats, floats), "corrupt"},
		{"two streams", join(good, good), "corrupt"},
		{
			"tensor",
			join(
				floats,
				forged{kind: headerTensor, header: func(b *flatbuffers.Builder) flatbuffers.UOffsetT { return tableOf(b) }}.bytes(),
			),
			"unsupported_type",
		},
		{
			"unknown message",
			join(
				floats,
				forged{kind: 9, header: func(b *flatbuffers.Builder) flatbuffers.UOffsetT { return tableOf(b) }}.bytes(),
			),
			"corrupt",
		},
		{"too large", make([]byte, 1<<20+1), "too_large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { refuse(t, test.stream, test.reason) })
	}
	t.Run("padding after the end is none", func(t *testing.T) {
		mustDecode(t, NewDecoder(Limits{}), append(bytes.Clone(good), make([]byte, 12)...))
	})
}

func TestSchemaAttacks(t *testing.T) {
	int8Type := func(b *flatbuffers.Builder) func() flatbuffers.UOffsetT { return typeOf(b, int32(8), true) }
	tests := []struct {
		name   string
		build  func(b *flatbuffers.Builder) []flatbuffers.UOffsetT
		reason string
	}{
		{"one field a thousand times", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, "x", typeInt, int8Type(b)), 1000)
		}, "too_large"},
		{"children shared at every level", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			f := fieldOf(b, "x", typeInt, int8Type(b))
			for range 14 {
				f = fieldOf(b, "x", typeStruct, typeOf(b), f, f, f, f)
			}
			return []flatbuffers.UOffsetT{f}
		}, "too_large"},
		{"nested too deep", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			f := fieldOf(b, "x", typeInt, int8Type(b))
			for range 60 {
				f = fieldOf(b, "x", typeList, typeOf(b), f)
			}
			return []flatbuffers.UOffsetT{f}
		}, "unsupported_type"},
		{"one long name for all", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, string(bytes.Repeat([]byte("n"), 20000)), typeInt, int8Type(b)), 90)
		}, "over_budget"},
		{"name not UTF-8", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, "\xff\xfe", typeInt, int8Type(b)), 1)
		}, "corrupt"},
		{"no type", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(tableOf(b, b.CreateString("x"), true, byte(typeInt)), 1)
		}, "corrupt"},
		{"integers of 7 bits", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, "x", typeInt, typeOf(b, int32(7), true)), 1)
		}, "unsupported_type"},
		{"decimal of scale 2^30", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, "x", typeDecimal, typeOf(b, int32(10), int32(1<<30), int32(128))), 1)
		}, "unsupported_type"},
		{"fixed-size list of -1", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, "x", typeFixedSizeList, typeOf(b, int32(-1)), fieldOf(b, "i", typeInt, int8Type(b))), 1)
		}, "unsupported_type"},
		{"fixed-size binary of 0", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, "x", typeFixedSizeBinary, typeOf(b, int32(0))), 1)
		}, "unsupported_type"},
		{"list of nothing", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, "x", typeList, typeOf(b)), 1)
		}, "corrupt"},
		{"map of numbers", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, "x", typeMap, typeOf(b), fieldOf(b, "i", typeInt, int8Type(b))), 1)
		}, "corrupt"},
		{"number with a child", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, "x", typeInt, int8Type(b), fieldOf(b, "i", typeInt, int8Type(b))), 1)
		}, "corrupt"},
		{"union", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, "x", typeUnion, typeOf(b)), 1)
		}, "unsupported_type"},
		{"type of the future", func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return repeat(fieldOf(b, "x", 99, typeOf(b)), 1)
		}, "unsupported_type"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { refuse(t, forgeSchema(test.build), test.reason) })
	}
}

func repeat(f flatbuffers.UOffsetT, n int) []flatbuffers.UOffsetT {
	all := make([]flatbuffers.UOffsetT, n)
	for i := range all {
		all[i] = f
	}
	return all
}

func TestForeignByteOrder(t *testing.T) {
	schema := forged{kind: headerSchema, header: func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		return tableOf(b, int16(1), offsetsOf(b))
	}}
	refuse(t, schema.bytes(), "unsupported_type")
}

// bomb returns n zeros in one zstd frame.
func bomb(t *testing.T, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for ; n > 0; n -= len(zeros) {
		if _, err := w.Write(zeros[:min(n, len(zeros))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// lz4Bomb is a frame whose one block expands 255 times: a run of zeros.
func lz4Bomb(blocks, size int) []byte {
	block := append([]byte{0x1f, 0, 1, 0}, bytes.Repeat([]byte{255}, size)...)
	block = append(block, 0, 0x50, 0, 0, 0, 0, 0)
	out := binary.LittleEndian.AppendUint32(nil, lz4Magic)
	out = append(out, lz4Version|lz4BlocksAlone, 0x70, 0)
	for range blocks {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(block)))
		out = append(out, block...)
	}
	return binary.LittleEndian.AppendUint32(out, 0)
}

// zstdWindow is a frame that asks for a window of 2^n bytes but only holds an empty block.
func zstdWindow(n byte) []byte {
	return []byte{0x28, 0xb5, 0x2f, 0xfd, 0, (n - 10) << 3, 1, 0, 0}
}

func TestDecompressionBombs(t *testing.T) {
	gigabyte := bomb(t, 1<<30)
	lz4Big := lz4Bomb(100, 1000)
	tests := []struct {
		codec  codec
		claim  int64
		frame  []byte
		reason string
	}{
		{codecZstd, 1 << 30, gigabyte, "over_budget"},
		{codecZstd, 1 << 40, gigabyte, "over_budget"},
		{codecZstd, 1 << 62, gigabyte, "over_budget"},
		{codecZstd, -2, gigabyte, "corrupt"},
		{codecZstd, 0, gigabyte, "corrupt"},
		{codecZstd, 400, gigabyte, "corrupt"},
		{codecZstd, 1 << 19, gigabyte, "corrupt"},
		{codecZstd, 1 << 19, nil, "corrupt"},
		{codecZstd, 1 << 19, gigabyte[:20], "corrupt"},
		{codecZstd, 400, zstdWindow(26), "corrupt"},
		{codecZstd, 400, zstdWindow(29), "corrupt"},
		{codecZstd, 400, zstdWindow(41), "corrupt"},
		{codecLZ4, 1 << 40, lz4Big, "over_budget"},
		{codecLZ4, 400, lz4Big, "corrupt"},
		{codecLZ4, 1 << 19, lz4Big, "corrupt"},
		{codecLZ4, 1 << 19, nil, "corrupt"},
		{codecLZ4, 1 << 19, lz4Big[:30], "corrupt"},
		{codecLZ4, 1 << 19, bytes.Repeat([]byte{0xff}, 64), "corrupt"},
		{5, 400, lz4Big, "unsupported_type"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("codec %d claims %d of %d", test.codec, test.claim, len(test.frame)), func(t *testing.T) {
			body := append(binary.LittleEndian.AppendUint64(nil, uint64(test.claim)), test.frame...)
			refuse(t, join(simpleSchema(typeFloat), forgedBatch{
				length: 100, nodes: []int64{100, 0}, buffers: []int64{0, 0, 0, int64(len(body))},
				codec: test.codec, body: body,
			}.bytes()), test.reason)
		})
	}
}

// TestManyBombs spreads over many buffers what one may not claim.
func TestManyBombs(t *testing.T) {
	frame := bomb(t, 4000)
	body := append(binary.LittleEndian.AppendUint64(nil, 4000), frame...)
	one := forgedBatch{
		length:  1,
		nodes:   []int64{1, 0},
		buffers: []int64{0, 0, 0, int64(len(body))},
		codec:   codecZstd,
		body:    body,
	}
	stream := simpleSchema(typeFloat)
	for range 500 {
		stream = append(stream, one.bytes()...)
	}
	refuse(t, stream, "over_budget")
}
