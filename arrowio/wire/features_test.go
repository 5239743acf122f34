package wire

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/internal/outside"
)

var defaultAllocator = memory.DefaultAllocator

func inf32() float32 { return float32(math.Inf(1)) }

// nullBitmap is the validity bitmap of n values of which the first is null.
func nullBitmap(n int) *memory.Buffer {
	bits := make([]byte, bitutil.BytesForBits(int64(n)))
	for i := 1; i < n; i++ {
		bitutil.SetBit(bits, i)
	}
	return memory.NewBufferBytes(bits)
}

// jsonRecord makes a record of a schema from JSON rows.
func jsonRecord(schema *arrow.Schema, rows string) arrow.Record {
	rec, _, err := array.RecordFromJSON(defaultAllocator, schema, strings.NewReader(rows))
	return must(rec, err)
}

// exampleEvents are six rows of every kind of column that passes through.
func exampleEvents() arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "customer", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "age", Type: arrow.PrimitiveTypes.Float64},
		{Name: "vip", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{
			Name:     "city",
			Type:     &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
			Nullable: true,
		},
		{Name: "tags", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
		{
			Name:     "where",
			Type:     arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}),
			Nullable: true,
		},
		{Name: "pixels", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), Nullable: true},
		{Name: "income", Type: arrow.BinaryTypes.LargeString, Nullable: true},
	}, nil)
	return jsonRecord(schema, `[
		{"customer":"a","age":1,"vip":true,"city":"Oslo","tags":[1,2],"where":{"x":1},"pixels":[0,1],"income":"low"},
		{"customer":"b","age":2,"vip":null,"city":"Bern","tags":[],"where":{"x":2},"pixels":[2,3],"income":"mid"},
		{"customer":null,"age":3,"vip":false,"city":null,"tags":null,"where":null,"pixels":null,"income":null},
		{"customer":"d","age":4,"vip":true,"city":"Rome","tags":[3],"where":{"x":null},"pixels":[4,5],"income":"high"},
		{"customer":"","age":5,"vip":true,"city":"Oslo","tags":[4,5,6],"where":{"x":5},"pixels":[6,7],"income":"low"},
		{"customer":"f","age":6,"vip":false,"city":"Bern","tags":[7],"where":{"x":6},"pixels":[8,9],"income":"mid"}
	]`)
}

// exampleFeatures are rows 0, 2 and 3 of the example events with features of the example set.
func exampleFeatures(t *testing.T) []byte {
	t.Helper()
	events := exampleEvents()
	defer events.Release()
	rows := []int32{0, 2, 3}
	kept := must(GatherRows([]arrow.Record{SelectColumns(events, []string{"customer", "income"})}, rows))
	defer kept.Release()
	z := []float32{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1, -1, 0}
	return must(encodeFeatures(kept, rows, z, 4, exampleFeatureSet().ID(), []string{"income"}))
}

func exampleRejectedRows(t *testing.T) []byte {
	t.Helper()
	events := exampleEvents()
	defer events.Release()
	rows := []int32{1, 5}
	rejected := must(GatherRows([]arrow.Record{events}, rows))
	defer rejected.Release()
	return must(EncodeRejectedRows(rejected, rows, []string{"nan_feature", "inf_label"}))
}

func TestFeaturesOfNoRows(t *testing.T) {
	events := exampleEvents()
	none := must(GatherRows([]arrow.Record{events}, nil))
	bare := array.NewRecord(arrow.NewSchema(nil, nil), nil, 2)
	for name, value := range map[string][]byte{
		"no rows":    must(encodeFeatures(none, nil, nil, 4, "fs-1", nil)),
		"no columns": must(encodeFeatures(bare, []int32{1, 2}, make([]float32, 8), 4, "fs-1", nil)),
	} {
		recs := must(newDecoder().Decode(value))
		if _, _, err := DecodeFeatures(recs[0], 4); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		releaseAll(recs)
	}
}

func TestDecodeFeaturesRefusesUnusableMessages(t *testing.T) {
	value := exampleFeatures(t)
	decode := func(value []byte, m int) error {
		recs := must(newDecoder().Decode(value))
		defer releaseAll(recs)
		_, _, err := DecodeFeatures(recs[0], m)
		return err
	}
	wantError(t, decode(value, 3), ErrMalformed)
	for _, rows := range [][]int32{{0, 0, 1}, {2, 1, 3}, {-1, 0, 1}} {
		c := numbers(ColumnRow, rows)
		wantError(t, decode(replaceColumn(value, ColumnRow, &c), 4), ErrMalformed)
	}
	for _, bad := range []float32{inf32(), -inf32(), float32(math.NaN())} {
		z := make([]float32, 12)
		z[11] = bad
		c := listColumn(numbers(ColumnFeatures, z), 3, 4)
		wantError(t, decode(replaceColumn(value, ColumnFeatures, &c), 4), ErrMalformed)
	}
	wantError(t, decode(withNull(value, ColumnFeatures), 4), ErrMalformed)
	recs := must(newDecoder().Decode(must(EncodeModel(exampleModel()))))
	defer releaseAll(recs)
	_, err := ParseFeaturesInfo(recs[0].Schema())
	wantError(t, err, ErrMalformed)
}

func TestReservedColumnNames(t *testing.T) {
	wantError(t, CheckFeatureColumns([]string{"a", "row"}), ErrReservedColumn)
	if err := CheckFeatureColumns([]string{"a", "Row"}); err != nil {
		t.Error(err)
	}
	schema := arrow.NewSchema(
		[]arrow.Field{
			{Name: "features", Type: arrow.PrimitiveTypes.Int8},
			{Name: "eerf_row", Type: arrow.PrimitiveTypes.Int8},
		},
		nil,
	)
	rec := jsonRecord(schema, `[{"features":1,"eerf_row":1}]`)
	_, err := encodeFeatures(rec, []int32{0}, []float32{1}, 1, "fs-1", nil)
	wantError(t, err, ErrReservedColumn)
	_, err = EncodeRejectedRows(rec, []int32{0}, []string{"nan_feature"})
	wantError(t, err, ErrReservedColumn)
}

func TestFeatureHeadersRoundTrip(t *testing.T) {
	b := FeatureBatch{
		"fs-1",
		"events",
		3,
		outside.LastCount,
		4096,
		100,
		4196,
		"uPvT3E8vSBa3o1N2bWcKzA.1",
		BatchMark{7, math.MaxUint32},
	}
	if !b.Last() {
		t.Error("the last part is not known as such")
	}
	headers := append([]Header{{"user", nil}, {"user", nil}}, b.Headers()...)
	diff(t, b, must(ParseFeatureHeaders(headers)))
	// A source message may have headers of our own, as a replayed one does: ours come last and
	// count.
	foreign := FeatureBatch{"fs-2", "other", 1, 1, 1, 1, 9, "", BatchMark{}}.Headers()
	diff(t, b, must(ParseFeatureHeaders(append(foreign, b.Headers()...))))
	if err := b.CheckRows([]int32{4096, 4195}); err != nil {
		t.Error(err)
	}
	wantError(t, b.CheckRows([]int32{4095}), ErrMalformed)
	wantError(t, b.CheckRows([]int32{4100, 4196}), ErrMalformed)
}

func TestFeatureHeadersRefuseNonsense(t *testing.T) {
	good := FeatureBatch{"fs-1", "events", 3, 9, 0, 100, 100, "", BatchMark{}}.Headers()
	for i := range good {
		without := append(append([]Header(nil), good[:i]...), good[i+1:]...)
		_, err := ParseFeatureHeaders(without)
		wantError(t, err, ErrHeaders)
	}
	for key, values := range map[string][]string{
		HeaderFeatureSet: {""}, HeaderSourcePartition: {"", "x", "-1", "2147483648", "1.0", strings.Repeat("9", 1000)},
		HeaderSourceOffset: {"9223372036854775808"}, HeaderRowCount: {"101"}, HeaderFirstRow: {"1"},
	} {
		for _, v := range values {
			headers := append([]Header(nil), good...)
			for i := range headers {
				if headers[i].Key == key {
					headers[i].Value = []byte(v)
				}
			}
			_, err := ParseFeatureHeaders(headers)
			wantError(t, err, ErrHeaders)
		}
	}
}

func TestDeadLetterHeadersRoundTrip(t *testing.T) {
	d := DeadLetter{"subsample", "truncated", strings.Repeat("é", 600), "events", 3, 12, noon, 0}
	want := d
	want.Detail, want.Time = strings.Repeat("é", 512), noon.UTC()
	diff(t, want, must(ParseDeadLetterHeaders(append(d.Headers(), Header{"traceparent", []byte("00-1")}))))
	d.Rows, want.Rows = 7, 7
	diff(t, want, must(ParseDeadLetterHeaders(d.Headers())))
	for i := range d.Headers() {
		headers := d.Headers()
		headers = append(headers[:i], headers[i+1:]...)
		_, err := ParseDeadLetterHeaders(headers)
		wantError(t, err, ErrHeaders)
	}
}

func TestKeysRoundTrip(t *testing.T) {
	pipeline, id, ok := ParseRequestKey(RequestKey("income", "rq/1"))
	if pipeline != "income" || id != "rq/1" || !ok {
		t.Errorf("request key gives %q, %q, %v", pipeline, id, ok)
	}
	if _, _, ok := ParseRequestKey(SpecKey("income")); ok {
		t.Error("a spec key passes for a request")
	}
	if _, id, current, ok := ParseSetKey(SetKey("income", "fs-1")); id != "fs-1" || current || !ok {
		t.Error("set key does not parse")
	}
	if p, _, current, ok := ParseSetKey(CurrentKey("income")); p != "income" || !current || !ok {
		t.Error("current key does not parse")
	}
	for _, bad := range []string{"", "income", "/x", "income/", "a/b/c"} {
		if _, _, _, ok := ParseSetKey([]byte(bad)); ok {
			t.Errorf("key %q parses", bad)
		}
	}
}

func TestReserveFeaturesWritesOverAnyMemory(t *testing.T) {
	events := exampleEvents()
	defer events.Release()
	rows := []int32{0, 2, 3}
	kept := must(GatherRows([]arrow.Record{SelectColumns(events, []string{"customer", "tags", "vip"})}, rows))
	defer kept.Release()
	z := []float32{.1, .2, .3, .4, .5, .6, .7, .8, .9, 1, -1, 0}
	want := must(encodeFeatures(kept, rows, z, 4, "fs-1", nil))
	for _, capacity := range []int{0, 1, 47, 48, 49, 500, 17 << 10, 1 << 20} {
		memory := bytes.Repeat([]byte{0xAA}, capacity)
		body, err := ReserveFeatures(memory, kept, rows, FeaturesLayout{FeatureSet: "fs-1", Features: 4})
		if err != nil {
			t.Fatal(err)
		}
		value := body.Value
		if used := capacity > 0 && &value[0] == &memory[0]; used != (capacity >= 17<<10) {
			t.Errorf("%d bytes of memory: used %v", capacity, used)
		}
		copy(body.Features, z)
		if !bytes.Equal(value, want) {
			t.Errorf("%d bytes of memory give another message", capacity)
		}
	}
}
