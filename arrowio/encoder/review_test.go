package encoder_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// table has three columns of values that its row function returns: a number, a text, and the label.
func table(rows int, label arrow.DataType, row func(i int, r *rand.Rand) (x float64, word string, y any)) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{
			Name: "x",
			Type: arrow.PrimitiveTypes.Float64,
		}, {Name: "word", Type: arrow.BinaryTypes.String}, {Name: "y", Type: label},
	}, nil))
	defer b.Release()
	r := rand.New(rand.NewPCG(3, 4))
	for i := range rows {
		x, word, y := row(i, r)
		b.Field(0).(*array.Float64Builder).Append(x)
		b.Field(1).(*array.StringBuilder).Append(word)
		switch y := y.(type) {
		case float64:
			b.Field(2).(*array.Float64Builder).Append(y)
		case string:
			b.Field(2).(*array.StringBuilder).Append(y)
		}
	}
	return b.NewRecord()
}

func TestClippedColumnsAreNamed(t *testing.T) {
	rec := table(4000, arrow.PrimitiveTypes.Float64, func(i int, r *rand.Rand) (float64, string, any) {
		x := r.NormFloat64()
		if i%100 == 0 {
			x = 30 // 1 % of the rows, ten standard deviations away
		}
		return x, string(rune('a' + i%2)), r.NormFloat64()
	})
	learn := encoder.NewCalibrator(encoder.Options{Label: []string{"y"}, Clip: 5})
	if err := learn.Add(rec); err != nil {
		t.Fatal(err)
	}
	enc, report, err := learn.Encoder()
	if err != nil {
		t.Fatal(err)
	}
	found := encoder.NewReview(enc)
	if err := found.Add(rec, nil); err != nil {
		t.Fatal(err)
	}
	found.Report(&report)
	if x := report.Columns[0]; x.Clipped != 0.01 ||
		x.Reason != "1 % of values are more than 5 standard deviations from the mean and continue as logarithms (clip)" {
		t.Errorf("%+v", x)
	}
	if word := report.Columns[1]; word.Clipped != 0 || word.Reason != "" {
		t.Errorf("%+v", word)
	}
}

func TestReviewNamesColumnsThatEqualTheLabel(t *testing.T) {
	text, number := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64
	colour := func(i int) string { return []string{"red", "green", "blue"}[i%3] }
	for name, c := range map[string]struct {
		label arrow.DataType
		rows  int
		row   func(i int, r *rand.Rand) (float64, string, any)
		want  string // columns
	}{
		"nothing": {
			number,
			500,
			func(i int, r *rand.Rand) (float64, string, any) { return r.NormFloat64(), colour(i), r.NormFloat64() },
			"",
		},
		"related": {number, 500, func(i int, r *rand.Rand) (float64, string, any) {
			v := r.NormFloat64()
			return v, colour(i), v + 0.3*r.NormFloat64()
		}, ""},
		"the label in other units": {number, 500, func(i int, r *rand.Rand) (float64, string, any) {
			v := 1e6 + r.ExpFloat64()*r.ExpFloat64()*1000 // far beyond the bound on values
			return 30 - 0.01*v, colour(i), v
		}, "x"},
		"two classes": {text, 500, func(i int, r *rand.Rand) (float64, string, any) {
			word := []string{"open", "closed"}[r.IntN(2)]
			return r.NormFloat64(), word, map[string]string{"open": "no", "closed": "yes"}[word]
		}, "word"},
		"one class of three": {
			text,
			500,
			func(i int, r *rand.Rand) (float64, string, any) { return float64(i % 3 / 2), "a", colour(i) },
			"x",
		},
		"a rare class": {
			text,
			500,
			func(i int, r *rand.Rand) (float64, string, any) { return float64(i / 495), "a", fmt.Sprint(i/495 > 0) },
			"",
		},
		"too few rows to say": {
			number,
			40,
			func(i int, r *rand.Rand) (float64, string, any) { return float64(i * i), colour(i), float64(i * i) },
			"",
		},
	} {
		rec := table(c.rows, c.label, c.row)
		learn := encoder.NewCalibrator(encoder.Options{Label: []string{"y"}, Clip: 5})
		if err := learn.Add(rec); err != nil {
			t.Fatal(name, err)
		}
		enc, report, err := learn.Encoder()
		if err != nil {
			t.Fatal(name, err)
		}
		found := encoder.NewReview(enc)
		for _, part := range []arrow.Record{rec.NewSlice(0, 17), rec.NewSlice(17, int64(c.rows))} {
			if err := found.Add(part, nil); err != nil {
				t.Fatal(name, err)
			}
		}
		found.Report(&report)
		var warnings []string
		for _, tell := range report.Telltales {
			warnings = append(warnings, tell.String())
		}
		if c.want == "" && len(warnings) > 0 || c.want != "" && (len(warnings) != 1 || !strings.Contains(
			warnings[0],
			fmt.Sprintf("column %q all but equals the label", c.want),
		)) {
			t.Errorf("%s: %q, want column %q", name, warnings, c.want)
		}
	}
}
