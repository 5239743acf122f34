package formats

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/internal/hostile"
)

// everyKind is an encoder with a feature of each kind, with the given names.
func everyKind(names ...string) *encoder.Encoder {
	e := &encoder.Encoder{
		Clip:        5,
		Standardize: encoder.StandardizeNumeric,
		NaN:         encoder.NaNMissing,
		Columns: []encoder.Column{
			{Kind: encoder.Numeric, Width: 1, Mean: []float64{3}, Scale: []float64{2}},
			{Kind: encoder.Numeric, Width: 2, Mean: []float64{1}, Scale: []float64{4}, Missing: true},
			{Kind: encoder.Category, Width: 3, Categories: []string{"7", "x"}, Other: true},
			{Kind: encoder.Bool, Width: 1, Mean: []float64{0.5}},
			{Kind: encoder.Vector, Width: 2, Mean: []float64{0, 1}, Scale: []float64{1, 1}},
			{Kind: encoder.Time, Width: 4, Mean: []float64{1.7e9}, Scale: []float64{1e6}, Cycles: []encoder.Cycle{encoder.Day}},
			{Kind: encoder.Clock, Width: 1, Mean: []float64{5e4}, Scale: []float64{1e4}},
		},
	}
	for i := range e.Columns {
		e.Columns[i].Name = names[i]
		e.Dim += e.Columns[i].Width
	}
	return e
}

// encoded is the result of encoding a message.
type encoded struct {
	rows   int64
	x      []float32
	row    []int32
	counts encoder.Counts
	faults []encoder.Rejection
	err    string // of the schema
}

// reading is a decoder with the encoder of its records.
type reading struct {
	*Decoder
	rows encoder.Rows
}

// encode reads a message. It returns the reason for a refusal.
func (r *reading) encode(e *encoder.Encoder, value []byte) (out encoded, reason string) {
	recs, err := r.Decode(value)
	if err != nil {
		return out, Reason(err)
	}
	defer release(recs)
	for _, rec := range recs {
		if err := e.Encode(&r.rows, rec, nil); err != nil {
			return encoded{err: err.Error()}, encoder.ReasonSchema
		}
		out.rows += rec.NumRows()
		out.x = append(out.x, r.rows.X...)
		out.row = append(out.row, r.rows.Row...)
		out.faults = append(out.faults, r.rows.Rejected...)
		out.counts.Add(r.rows.Counts)
	}
	return out, hostile.Accepted
}

// values are possible values of columns of any kind.
var values = strings.Fields(
	`1 2.5 -7e3 7 0 1700000000 9223372036854775807 1e300 null null true false "x" "7" "true" "" "été\u0041" [1,2] [1,null] [1] [] ["x"] {"a":1}
	"2023-11-14T22:13:20Z" "22:13:20" "` + strings.Repeat(
		"long",
		40,
	) + `"`,
)

// randomMessage has a few rows, most columns in one order.
func randomMessage(r *rand.Rand, names []string) []byte {
	var rows []string
	for range 1 + r.IntN(4)*r.IntN(2) {
		var cells []string
		for i, name := range names {
			switch r.IntN(12) {
			case 0:
				continue
			case 1:
				name = names[(i+1)%len(names)] + "2"
			}
			cells = append(cells, fmt.Sprintf("%q: %s", name, values[r.IntN(len(values))]))
		}
		if r.IntN(8) == 0 {
			r.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		}
		rows = append(rows, "{"+strings.Join(cells, ", ")+"}")
	}
	return []byte("[" + strings.Join(rows, ", ") + "]")
}

// TestEncodeOnlyEncodesAlike checks that earlier messages do not change the encoded rows.
func TestEncodeOnlyEncodesAlike(t *testing.T) {
	names := []string{"n", "m", "c", "b", "v", "t", "k"}
	e := everyKind(names...)
	plain, recycled := reading{
		Decoder: NewDecoder(Options{Encoder: e}),
	}, reading{
		Decoder: NewDecoder(Options{Encoder: e, EncodeOnly: true}),
	}
	r := rand.New(rand.NewPCG(5, 6))
	accepted := 0
	for range 4000 {
		message := randomMessage(r, names)
		want, reason := plain.encode(e, message)
		got, other := recycled.encode(e, message)
		if other != reason || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\n%+v %q, want\n%+v %q", message, got, other, want, reason)
		}
		if reason == hostile.Accepted {
			accepted++
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d messages were accepted", accepted)
	}
}

// TestEncodeOnlyKeepsFormatsApart checks that only text formats may give a number for a time.
func TestEncodeOnlyKeepsFormatsApart(t *testing.T) {
	const schema = `{"type": "record", "name": "E", "fields": [{"name": "t", "type": "long"}]}`
	e := &encoder.Encoder{
		Columns: []encoder.Column{{Name: "t", Kind: encoder.Time, Width: 1, Mean: []float64{0}, Scale: []float64{1}}},
		Dim:     1,
	}
	r := reading{
		Decoder: NewDecoder(Options{Encoder: e, EncodeOnly: true, Registry: schemas{7: {Format: Avro, Text: schema}}}),
	}
	for range 3 {
		if out, reason := r.encode(e, []byte(`{"t": 7}`)); reason != hostile.Accepted || out.rows != 1 {
			t.Errorf("JSON: %+v %q", out, reason)
		}
		if out, reason := r.encode(e, framed(7, []byte{14})); reason != encoder.ReasonSchema {
			t.Errorf("Avro: %+v %q", out, reason)
		}
	}
}

// TestEncodeOnlyKeepsItsSchema checks that the schema stays the same when values are missing, or
// numbers are whole.
func TestEncodeOnlyKeepsItsSchema(t *testing.T) {
	e := everyKind("n", "m", "c", "b", "v", "t", "k")
	d := NewDecoder(Options{Encoder: e, EncodeOnly: true})
	var first *arrow.Schema
	for _, message := range []string{
		`{"n": 1.5, "m": 2, "c": "x", "b": true, "v": [1, 2], "t": "2023-11-14", "k": "22:13"}`,
		`{"n": 1, "m": null, "c": null, "b": null, "v": null, "t": null, "k": null}`,
		`{"k": "22:13"}`,
		`{"other": 7, "v": [1, 2], "n": 2.5}`,
	} {
		recs, err := d.Decode([]byte(message))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = recs[0].Schema()
		}
		if recs[0].Schema() != first {
			t.Errorf("%s\n%v, want\n%v", message, recs[0].Schema(), first)
		}
		release(recs)
	}
}
