package arrowio

import (
	"math"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	flatbuffers "github.com/google/flatbuffers/go"
)

// dictionarySchema has one column of int8 indexes into dictionary 0 of strings.
func dictionarySchema() []byte {
	return forgeSchema(func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
		index := tableOf(b, int32(8), true)
		enc := tableOf(b, int64(0), index)
		name, typ := b.CreateString("w"), tableOf(b)
		return []flatbuffers.UOffsetT{tableOf(b, name, true, byte(typeUtf8), typ, enc)}
	})
}

// dictionaryBatch holds n one-letter words for this dictionary ID.
func dictionaryBatch(id int64, n int, delta bool) []byte {
	offsets := make([]int32, n+1)
	for i := range offsets {
		offsets[i] = int32(i)
	}
	body := words(offsets...)
	at := int64(len(body))
	for range (n + 7) / 8 * 8 {
		body = append(body, 'w')
	}
	batch := forgedBatch{length: int64(n), nodes: []int64{int64(n), 0},
		buffers: []int64{0, 0, 0, int64(4 * (n + 1)), at, int64(n)}, codec: uncompressed}
	return forged{kind: headerDictionary, body: body, header: func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		return tableOf(b, id, batch.table(b), delta)
	}}.bytes()
}

// indexBatch is one row of the given index.
func indexBatch(index byte) []byte {
	return plainBatch(1, []int64{1, 0}, []int64{0, 0, 0, 1}, []byte{index, 0, 0, 0, 0, 0, 0, 0})
}

// listSchema has one list or vector column of float32.
func listSchema(id typeID, slots ...any) []byte {
	return forgeSchema(func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
		item := fieldOf(b, "item", typeFloat, typeOf(b, int16(1)))
		return []flatbuffers.UOffsetT{fieldOf(b, "x", id, typeOf(b, slots...), item)}
	})
}

func TestBatchAttacks(t *testing.T) {
	floats, text, list := simpleSchema(typeFloat), simpleSchema(typeUtf8), listSchema(typeList)
	body16, huge := make([]byte, 16), int64(1)<<40
	textBatch := func(nulls int64, validity byte, data string, offsets ...int32) []byte {
		body := words(offsets...)
		at := int64(len(body))
		body = append(body, make([]byte, 16)...)
		copy(body[at:], data)
		body[at+8] = validity
		n, bitmap := int64(len(offsets)-1), min(nulls, 1)
		return plainBatch(n, []int64{n, nulls}, []int64{at + 8, bitmap, 0, 4 * (n + 1), at, int64(len(data))}, body)
	}
	tests := []struct {
		name   string
		stream []byte
		reason string
	}{
		{"2^40 rows", join(floats, plainBatch(huge, []int64{huge, 0}, []int64{0, 0, 0, 8}, body16)), "too_large"},
		{"-1 rows", join(floats, plainBatch(-1, []int64{1, 0}, []int64{0, 0, 0, 8}, body16)), "corrupt"},
		{"2^40 values", join(floats, plainBatch(2, []int64{huge, 0}, []int64{0, 0, 0, 8}, body16)), "corrupt"},
		{"-1 values", join(floats, plainBatch(2, []int64{-1, 0}, []int64{0, 0, 0, 8}, body16)), "corrupt"},
		{"fewer values than rows", join(floats, plainBatch(2, []int64{1, 0}, []int64{0, 0, 0, 8}, body16)), "corrupt"},
		{"more values than rows", join(floats, plainBatch(1, []int64{2, 0}, []int64{0, 0, 0, 8}, body16)), "corrupt"},
		{"-1 nulls", join(floats, plainBatch(2, []int64{2, -1}, []int64{0, 1, 8, 8}, body16)), "corrupt"},
		{"more nulls than values", join(floats, plainBatch(2, []int64{2, 3}, []int64{0, 1, 8, 8}, body16)), "corrupt"},
		{"nulls without bitmap", join(floats, plainBatch(2, []int64{2, 1}, []int64{0, 0, 8, 8}, body16)), "corrupt"},
		{"bitmap says other nulls", join(floats, plainBatch(2, []int64{2, 1}, []int64{0, 1, 8, 8}, body16)), "corrupt"},
		{"values too few", join(floats, plainBatch(3, []int64{3, 0}, []int64{0, 0, 0, 8}, body16)), "corrupt"},
		{"buffer beyond the body", join(floats, plainBatch(2, []int64{2, 0}, []int64{0, 0, 12, 8}, body16)), "corrupt"},
		{"buffer at -8", join(floats, plainBatch(2, []int64{2, 0}, []int64{0, 0, -8, 8}, body16)), "corrupt"},
		{"buffer of -8", join(floats, plainBatch(2, []int64{2, 0}, []int64{0, 0, 8, -8}, body16)), "corrupt"},
		{
			"offset and length that overflow",
			join(floats, plainBatch(2, []int64{2, 0}, []int64{0, 0, 1<<63 - 4, 8}, body16)),
			"corrupt",
		},
		{"no nodes", join(floats, plainBatch(2, nil, []int64{0, 0, 0, 8}, body16)), "corrupt"},
		{"two nodes", join(floats, plainBatch(2, []int64{2, 0, 2, 0}, []int64{0, 0, 0, 8}, body16)), "corrupt"},
		{"one buffer", join(floats, plainBatch(2, []int64{2, 0}, []int64{0, 8}, body16)), "corrupt"},
		{"three buffers", join(floats, plainBatch(2, []int64{2, 0}, []int64{0, 0, 0, 8, 0, 0}, body16)), "corrupt"},
		{"columns that share a buffer", join(simpleSchema(typeFloat, typeFloat, typeFloat),
			plainBatch(2, []int64{2, 0, 2, 0, 2, 0}, []int64{0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 8}, body16)), "corrupt"},
		{"offsets that fall", join(text, textBatch(0, 0, "abcd", 0, 3, 1)), "corrupt"},
		{"offset below zero", join(text, textBatch(0, 0, "abcd", -1, 3, 4)), "corrupt"},
		{"offset beyond the data", join(text, textBatch(0, 0, "abcd", 0, 3, 5)), "corrupt"},
		{"text not UTF-8", join(text, textBatch(0, 0, "a\xff", 0, 1, 2)), "corrupt"},
		{"text cut within a character", join(text, textBatch(0, 0, "ü", 0, 1, 2)), "corrupt"},
		{
			"list beyond its values",
			join(list, plainBatch(1, []int64{1, 0, 2, 0}, []int64{0, 0, 0, 8, 0, 0, 8, 8}, append(words(0, 3), body16...))),
			"corrupt",
		},
		{"vectors of 2^31-1", join(listSchema(typeFixedSizeList, int32(1<<31-1)),
			plainBatch(2, []int64{2, 0, 4, 0}, []int64{0, 0, 0, 0, 0, 16}, body16)), "corrupt"},
		{"vectors too short", join(listSchema(typeFixedSizeList, int32(3)),
			plainBatch(2, []int64{2, 0, 4, 0}, []int64{0, 0, 0, 0, 0, 16}, body16)), "corrupt"},
		{"nulls beyond the row limit in a vector", join(forgeSchema(func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return []flatbuffers.UOffsetT{
				fieldOf(b, "x", typeFixedSizeList, typeOf(b, int32(1<<30)), fieldOf(b, "i", typeNull, typeOf(b))),
			}
		}), plainBatch(1, []int64{1, 0, 1 << 30, 0}, []int64{0, 0}, nil)), "too_large"},
		{"empty structs beyond the row limit", join(forgeSchema(func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return []flatbuffers.UOffsetT{
				fieldOf(b, "x", typeFixedSizeList, typeOf(b, int32(1<<30)), fieldOf(b, "i", typeStruct, typeOf(b))),
			}
		}), plainBatch(1, []int64{1, 0, 1 << 30, 0}, []int64{0, 0, 0, 0}, nil)), "too_large"},
		{"struct with children of other length", join(forgeSchema(func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
			return []flatbuffers.UOffsetT{
				fieldOf(b, "x", typeStruct, typeOf(b), fieldOf(b, "i", typeFloat, typeOf(b, int16(1)))),
			}
		}), plainBatch(2, []int64{2, 0, 1, 0}, []int64{0, 0, 0, 0, 0, 8}, body16)), "corrupt"},
		{"index beyond the dictionary", join(dictionarySchema(), dictionaryBatch(0, 3, false), indexBatch(3)), "corrupt"},
		{"index below zero", join(dictionarySchema(), dictionaryBatch(0, 3, false), indexBatch(0xff)), "corrupt"},
		{"index without a dictionary", join(dictionarySchema(), indexBatch(0)), "corrupt"},
		{"dictionary that the schema lacks", join(dictionarySchema(), dictionaryBatch(7, 3, false)), "corrupt"},
		{"delta", join(dictionarySchema(), dictionaryBatch(0, 3, false), dictionaryBatch(0, 3, true)), "unsupported_type"},
		{"dictionary beyond the row limit", join(dictionarySchema(), dictionaryBatch(0, 1001, false)), "too_large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { refuse(t, test.stream, test.reason) })
	}
}

// TestRowLimit adds up the rows of all batches.
func TestRowLimit(t *testing.T) {
	batch := plainBatch(400, []int64{400, 0}, []int64{0, 0, 0, 1600}, make([]byte, 1600))
	stream := join(simpleSchema(typeFloat), batch, batch)
	if got := mustDecode(t, NewDecoder(small), stream); len(got) != 2 {
		t.Errorf("%d records", len(got))
	}
	refuse(t, join(stream, batch), "too_large")
	nulls := plainBatch(400, []int64{400, 400}, nil, nil)
	refuse(t, join(simpleSchema(typeNull), nulls, nulls, nulls), "too_large")
	none := plainBatch(400, nil, nil, nil)
	refuse(t, join(simpleSchema(), none, none, none), "too_large")
}

// TestNullsTakeBudget has columns with very many values and no bytes in the body.
func TestNullsTakeBudget(t *testing.T) {
	const rows, columns = 1 << 20, 16
	limits := Limits{BudgetBytes: columns*rows/8 + 1<<16, MaxRows: rows}
	for _, what := range []typeID{typeNull, typeStruct} {
		stream := func(columns int) []byte {
			var types []typeID
			var nodes, buffers []int64
			for range columns {
				types, nodes = append(types, what), append(nodes, rows, 0)
				if what == typeStruct {
					buffers = append(buffers, 0, 0)
				}
			}
			return join(simpleSchema(types...), plainBatch(rows, nodes, buffers, nil))
		}
		if got := mustDecode(t, NewDecoder(limits), stream(columns)); got[0].NumRows() != rows {
			t.Errorf("%d rows", got[0].NumRows())
		}
		if _, err := NewDecoder(limits).Decode(stream(columns + 1)); Reason(err) != "over_budget" {
			t.Errorf("type %d: %v", what, err)
		}
	}
}

// TestTinyBatches has many empty batches: their headers cost as well.
func TestTinyBatches(t *testing.T) {
	stream := simpleSchema(typeFloat)
	for range 3000 {
		stream = append(stream, plainBatch(0, []int64{0, 0}, []int64{0, 0, 0, 0}, nil)...)
	}
	refuse(t, stream, "over_budget")
}

// TestViewAttacks points views outside their buffers, and many views at the
// same bytes.
func TestViewAttacks(t *testing.T) {
	schema := simpleSchema(typeUtf8View)
	view := func(n, buffer, offset int32) []byte { return words(n, 0, buffer, offset) }
	stream := func(rows int, v []byte, data int, counts ...int64) []byte {
		var body []byte
		for range rows {
			body = append(body, v...)
		}
		at := int64(len(body))
		buffers := []int64{0, 0, 0, at}
		for range counts {
			buffers = append(buffers, at, int64(data))
		}
		return join(schema, forgedBatch{length: int64(rows), nodes: []int64{int64(rows), 0}, buffers: buffers,
			views: counts, codec: uncompressed, body: append(body, make([]byte, data)...)}.bytes())
	}
	tests := []struct {
		name   string
		stream []byte
		reason string
	}{
		{"length -1", stream(1, view(-1, 0, 0), 64, 1), "corrupt"},
		{"length beyond the buffer", stream(1, view(65, 0, 0), 64, 1), "corrupt"},
		{"offset beyond the buffer", stream(1, view(20, 0, 50), 64, 1), "corrupt"},
		{"offset -1", stream(1, view(20, 0, -1), 64, 1), "corrupt"},
		{"buffer 1 of 1", stream(1, view(20, 1, 0), 64, 1), "corrupt"},
		{"buffer -1", stream(1, view(20, -1, 0), 64, 1), "corrupt"},
		{"no buffers", stream(1, view(20, 0, 0), 64, 0), "corrupt"},
		{"no count of buffers", stream(1, view(20, 0, 0), 64), "corrupt"},
		{"2^40 buffers", join(schema, forgedBatch{length: 1, nodes: []int64{1, 0}, buffers: []int64{0, 0, 0, 16},
			views: []int64{1 << 40}, codec: uncompressed, body: make([]byte, 16)}.bytes()), "corrupt"},
		{"900 views of the same 64 KiB", stream(900, view(1<<16, 0, 0), 1<<16, 1), "over_budget"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { refuse(t, test.stream, test.reason) })
	}
}

// TestDictionaryLeftOut accepts a column of nulls whose dictionary is never sent.
func TestDictionaryLeftOut(t *testing.T) {
	batch := plainBatch(2, []int64{2, 2}, []int64{0, 1, 8, 2}, append(make([]byte, 8), 9, 0xff, 0, 0, 0, 0, 0, 0))
	recs := mustDecode(t, NewDecoder(small), join(dictionarySchema(), batch))
	if col := recs[0].Column(0).(*array.Dictionary); col.NullN() != 2 || col.Dictionary().Len() != 0 {
		t.Errorf("got %v", col)
	}
	touch(recs)
}

// TestTextUnderNulls accepts bytes under a null that are not text.
func TestTextUnderNulls(t *testing.T) {
	body := append(words(0, 1, 3), 'a', 0xff, 0xfe, 0, 0, 0, 0, 0)
	body = append(body, 1, 0, 0, 0, 0, 0, 0, 0)
	batch := plainBatch(2, []int64{2, 1}, []int64{24, 1, 0, 12, 16, 3}, body)
	recs := mustDecode(t, NewDecoder(small), join(simpleSchema(typeUtf8), batch))
	if col := recs[0].Column(0); render(col, 0) != "a" || render(col, 1) != nil {
		t.Errorf("got %v", col)
	}
}

// TestOffsetsMayBeginAnywhere has text and lists whose first value is not the first in the body,
// and passes them on.
func TestOffsetsMayBeginAnywhere(t *testing.T) {
	body := append(words(1, 3, 4), "abcdefgh"...)
	text := plainBatch(2, []int64{2, 0}, []int64{0, 0, 0, 12, 16, 8}, body)
	lists := plainBatch(
		2,
		[]int64{2, 0, 4, 0},
		[]int64{0, 0, 0, 12, 0, 0, 16, 16},
		append(words(1, 3, 4), words(5, 6, 7, 8)...),
	)
	for _, c := range []struct {
		stream []byte
		want   [2]any
	}{
		{join(simpleSchema(typeUtf8), text), [2]any{"bc", "d"}},
		{join(listSchema(typeList), lists), [2]any{[]any{float64(math.Float32frombits(6)), float64(math.Float32frombits(7))},
			[]any{float64(math.Float32frombits(8))}}},
	} {
		recs := mustDecode(t, NewDecoder(small), c.stream)
		if err := writeAgain(recs[0].Schema(), recs); err != nil {
			t.Error(err)
		}
		if got := [2]any{render(recs[0].Column(0), 0), render(recs[0].Column(0), 1)}; !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
}
