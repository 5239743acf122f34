package wire

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// asText renders a row of a record, whatever its encoding.
func asText(rec arrow.Record, row int) string {
	text := ""
	for _, c := range rec.Columns() {
		text += "|" + c.ValueStr(row)
	}
	return text
}

func TestGatherRowsOverBatches(t *testing.T) {
	whole := exampleEvents()
	defer whole.Release()
	for _, cuts := range [][]int64{{6}, {2, 6}, {1, 1, 3, 6}} {
		var recs []arrow.Record
		for i, first := 0, int64(0); i < len(cuts); i++ {
			recs = append(recs, whole.NewSlice(first, cuts[i]))
			first = cuts[i]
		}
		for _, rows := range [][]int32{nil, {0}, {5}, {0, 1, 2, 3, 4, 5}, {1, 2, 3}, {0, 2, 5}, {0, 1, 3, 4}} {
			t.Run(fmt.Sprint(cuts, rows), func(t *testing.T) {
				got := must(GatherRows(recs, rows))
				defer got.Release()
				if int(got.NumRows()) != len(rows) {
					t.Fatalf("%d rows", got.NumRows())
				}
				for i, r := range rows {
					if asText(got, i) != asText(whole, int(r)) {
						t.Errorf("row %d is %s, want %s", r, asText(got, i), asText(whole, int(r)))
					}
				}
				// Gathered rows must still be encodable.
				encoded := must(EncodeRejectedRows(got, rows, make([]string, len(rows))))
				again := must(newDecoder().Decode(encoded))
				releaseAll(again)
			})
		}
		releaseAll(recs)
	}
}

func TestGatherRowsCutsDictionariesDown(t *testing.T) {
	whole := exampleEvents()
	got := must(GatherRows([]arrow.Record{whole}, []int32{3, 4}))
	city := got.Column(3).(*array.Dictionary)
	if n := city.Dictionary().Len(); n != 2 {
		t.Errorf("%d dictionary entries for two rows of two cities", n)
	}
}

// Two batches may have different dictionaries for one column.
func TestGatherRowsJoinsDictionaries(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Nullable: true,
		Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.BinaryTypes.String}}}, nil)
	recs := []arrow.Record{
		jsonRecord(schema, `[{"c":"x"},{"c":"y"}]`), jsonRecord(schema, `[{"c":"y"},{"c":null},{"c":"z"}]`),
	}
	got := must(GatherRows(recs, []int32{1, 2, 3, 4}))
	for i, want := range []string{"y", "y", array.NullValueStr, "z"} {
		if s := got.Column(0).ValueStr(i); s != want {
			t.Errorf("row %d is %s, want %s", i, s, want)
		}
	}
}

func TestGatherRowsOfEveryIndexType(t *testing.T) {
	for _, index := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	} {
		schema := arrow.NewSchema(
			[]arrow.Field{{Name: "c", Type: &arrow.DictionaryType{IndexType: index, ValueType: arrow.PrimitiveTypes.Int64}}},
			nil,
		)
		got := must(GatherRows([]arrow.Record{jsonRecord(schema, `[{"c":7},{"c":8},{"c":9}]`)}, []int32{0, 2}))
		if a, b := got.Column(0).ValueStr(0), got.Column(0).ValueStr(1); a != "7" || b != "9" {
			t.Errorf("%v: rows %s and %s", index, a, b)
		}
	}
}

func TestGatherRowsRefusesDisorder(t *testing.T) {
	_, err := GatherRows([]arrow.Record{exampleEvents()}, []int32{2, 1})
	wantError(t, err, ErrMalformed)
	_, err = GatherRows([]arrow.Record{exampleEvents()}, []int32{6})
	wantError(t, err, ErrMalformed)
}

func sliceOf(rec arrow.Record) []arrow.Record { return []arrow.Record{rec} }
