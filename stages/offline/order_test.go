package offline_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/train"
)

// ride is a row of a file whose order a test chooses.
type ride struct {
	number int
	city   int
	hours  float64 // since 2021
	x      float64
	late   float64 // NaN in the first five sixths of the rows by number
	y      float64
}

// rides returns rows of three years. Of 30 cities each has its own level, and summers have another
// effect of x.
func rides(n int) []ride {
	r := rand.New(rand.NewPCG(26, 27))
	levels := make([]float64, 30)
	for i := range levels {
		levels[i] = 3 * r.NormFloat64()
	}
	rows := make([]ride, n)
	for i := range rows {
		one := ride{number: i, city: r.IntN(len(levels)), x: r.NormFloat64(), late: math.NaN()}
		one.hours = float64(i) * 3 * 365 * 24 / float64(n)
		season := math.Cos(2 * math.Pi * one.hours / (365.25 * 24))
		one.y = levels[one.city] + one.x + 2*season + .3*r.NormFloat64()
		if i >= 5*n/6 {
			one.late = r.NormFloat64()
			one.y += 3 * one.late
		}
		rows[i] = one
	}
	r.Shuffle(n, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// record returns the rows in their order.
func record(rows []ride) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "nr", Type: arrow.PrimitiveTypes.Int64},
		{Name: "city", Type: arrow.BinaryTypes.String},
		{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_s},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "late", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64},
	}, nil))
	defer b.Release()
	for _, row := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(10 * row.number))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("C%02d", row.city))
		b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(1609459200 + 3600*row.hours))
		b.Field(3).(*array.Float64Builder).Append(row.x)
		b.Field(4).(*array.Float64Builder).AppendValues([]float64{row.late}, []bool{!math.IsNaN(row.late)})
		b.Field(5).(*array.Float64Builder).Append(row.y)
	}
	return b.NewRecord()
}

// Sorted by label, category, date or number, and with a column that begins late, a file gives the
// same columns as shuffled, and errors within two standard errors.
func TestOrderOfAFileDoesNotMatter(t *testing.T) {
	rows := rides(12000)
	s := settings(stagestest.Regression)
	s.Events.Label = []string{"y"}
	s.Events.Passthrough = nil
	s.Exploration.Features, s.Exploration.Candidates = 60, 240
	s.Exploration.Criterion = scoring.Residual
	s.Exploration.Sigma = 0
	s.Exploration.CalibrationRows = 2000
	measure := func(rows []ride) (columns string, loss, stdErr float64) {
		t.Helper()
		rec := record(rows)
		defer rec.Release()
		batches := stagestest.Cut(t, rec, stagestest.Every(1000))
		open := explored.File(batches...)
		split, err := offline.Split(t.Context(), random, s.Events, open)
		if err != nil {
			t.Fatal(err)
		}
		found, err := offline.Explore(t.Context(), s, offline.Without(split, open), selection.Options{})
		if err != nil {
			t.Fatal(err)
		}
		config := train.Default()
		model, _, err := offline.Fit(t.Context(), found.Set, config, "file", split, open)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range found.Set.Encoder.Columns {
			names = append(names, fmt.Sprintf("%s %s %d", c.Name, c.Kind, c.Width))
		}
		held := float64(len(rows)) * random.Fraction
		loss = *model.Metrics.UnexplainedVariance
		return strings.Join(names, ", "), loss, loss * math.Sqrt(2/held) // of a mean of squares
	}
	wantColumns, want, stdErr := measure(rows)
	for name, order := range map[string]func(a, b ride) int{
		"by label":         func(a, b ride) int { return cmp.Compare(a.y, b.y) },
		"by category":      func(a, b ride) int { return cmp.Compare(a.city, b.city) },
		"by date":          func(a, b ride) int { return cmp.Compare(a.hours, b.hours) },
		"by number, last":  func(a, b ride) int { return cmp.Compare(b.number, a.number) },
		"late column last": func(a, b ride) int { return cmp.Compare(a.number, b.number) },
	} {
		sorted := slices.Clone(rows)
		slices.SortStableFunc(sorted, order)
		columns, loss, err := measure(sorted)
		if columns != wantColumns || math.Abs(loss-want) > 2*math.Hypot(stdErr, err) {
			t.Errorf("%s: %s with loss %.4f, shuffled %s with %.4f ± %.4f", name, columns, loss, wantColumns, want, stdErr)
		}
	}
	if !strings.Contains(wantColumns, "city category 30") || !strings.Contains(wantColumns, "at time 7") ||
		!strings.Contains(wantColumns, "late numeric 2") || strings.Contains(wantColumns, "nr ") {
		t.Errorf("columns %s", wantColumns)
	}
}
