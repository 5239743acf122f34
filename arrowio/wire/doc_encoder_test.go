package wire

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// docEncoder is an encoder with rows for it, as JSON.
type docEncoder struct {
	Encoder *encoder.Encoder `json:"encoder"`
	Rows    []map[string]any `json:"rows"`
}

// docSchema are the columns of those rows.
var docSchema = arrow.NewSchema([]arrow.Field{
	{Name: "age", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "vip", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "ordered", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true},
	{Name: "written", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "born", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
	{Name: "opens", Type: arrow.FixedWidthTypes.Time32s, Nullable: true},
}, nil)

// docEncoders have the columns that the example's encoder lacks, under each setting.
func docEncoders() (list []docEncoder) {
	rows := []map[string]any{
		{
			"age":     40,
			"vip":     true,
			"city":    "Oslo",
			"ordered": "2024-02-29T18:30:00.125",
			"written": "2024-02-29T18:30:00.125+02:00",
			"born":    "1969-07-20",
			"opens":   "08:15:00",
		},
		{"age": nil, "vip": nil, "city": "Bern", "ordered": nil, "written": "soon", "born": nil, "opens": nil},
		{
			"age":     41,
			"vip":     false,
			"city":    nil,
			"ordered": "1601-01-01T00:00:00.000",
			"written": "2024-03-01",
			"born":    "2262-04-11",
			"opens":   "23:59:59",
		},
	}
	columns := []encoder.Column{
		{Name: "age", Kind: encoder.Numeric, Missing: true, Mean: []float64{41.3, 0.1}, Scale: []float64{10, 0.3},
			Low: []float64{40.5}, High: []float64{99}},
		{Name: "vip", Kind: encoder.Bool, Missing: true, Mean: []float64{0.25, 0.1}, Scale: []float64{0.4, 0.3}},
		{
			Name:       "city",
			Kind:       encoder.Category,
			Missing:    true,
			Categories: []string{"Oslo", "Rome"},
			Other:      true,
			Mean:       []float64{0.3, 0.2, 0.4, 0.1},
			Scale:      []float64{0.5, 0.4, 0.5, 0.3},
		},
		{
			Name:    "ordered",
			Kind:    encoder.Time,
			Missing: true,
			Cycles:  []encoder.Cycle{encoder.Day, encoder.Week, encoder.Year},
			Mean:    []float64{1.7e9, 0.1, 0.2, 0.1, 0, 0, 0.4, 0.3, 0, 0.2, 0.1},
			Scale:   []float64{1e7, 0.7, 0.7, 0.6, 0.7, 0.7, 0.6, 0.7, 0.7, 0.6, 0.3},
		},
		{
			Name:    "written",
			Kind:    encoder.Time,
			Missing: true,
			Cycles:  []encoder.Cycle{encoder.Day},
			Mean:    []float64{1.7e9, 0, 0, 0.2, 0.1},
			Scale:   []float64{1e7, 0.7, 0.7, 0.6, 0.3},
			Low:     []float64{1.69e9},
			High:    []float64{1.705e9},
		},
		{Name: "born", Kind: encoder.Time, Mean: []float64{-2e8}, Scale: []float64{1e9}},
		{
			Name:   "opens",
			Kind:   encoder.Clock,
			Cycles: []encoder.Cycle{encoder.Day},
			Mean:   []float64{4e4, 0.3, 0.2},
			Scale:  []float64{1e4, 0.7, 0.7},
		},
	}
	widths := []int{2, 2, 4, 11, 5, 1, 3}
	values := []int{1, 1, 0, 1, 1, 1, 1} // how many have a mean unless everything is standardized
	for _, setting := range []string{encoder.StandardizeNumeric, encoder.StandardizeAll, encoder.StandardizeNone} {
		e := &encoder.Encoder{Clip: 3, Standardize: setting, NaN: encoder.NaNMissing}
		if setting == encoder.StandardizeNumeric {
			e.Tail = encoder.TailLog
		}
		for i, c := range columns {
			c.Width = widths[i]
			if setting != encoder.StandardizeAll {
				c.Mean, c.Scale = c.Mean[:values[i]], c.Scale[:values[i]]
			}
			if setting == encoder.StandardizeNone || setting == encoder.StandardizeNumeric && c.Kind == encoder.Bool {
				c.Scale, c.Low, c.High = nil, nil, nil
			}
			e.Columns, e.Dim = append(e.Columns, c), e.Dim+c.Width
		}
		list = append(list, docEncoder{e, rows})
	}
	return list
}

// checkEncoders compares encoded rows.
func checkEncoders(t *testing.T, list []docEncoder, got [][][]float64) {
	t.Helper()
	for i, doc := range list {
		rec := jsonRecord(docSchema, string(must(json.Marshal(doc.Rows))))
		var x encoder.Rows
		if err := doc.Encoder.Validate(); err != nil {
			t.Fatal(err)
		}
		if err := doc.Encoder.Encode(&x, rec, nil); err != nil || x.N != len(doc.Rows) {
			t.Fatalf("%d rows encoded, %v", x.N, err)
		}
		close32(t, fmt.Sprint("encoder ", i), x.X, got[i], 1e-7)
		rec.Release()
	}
}
