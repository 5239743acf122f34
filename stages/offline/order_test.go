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
	"github.com/eerf-stream/eerf/stages/calibrate"
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

// orderSeeds is the number of explorations and splits by which an order of a file is measured.
const orderSeeds = 3

// measureOrder returns the columns of the sets that are explored on the rows, and the losses of
// their models, by seed.
func measureOrder(t *testing.T, s calibrate.Settings, rows []ride) (columns string, losses []float64) {
	t.Helper()
	rec := record(rows)
	defer rec.Release()
	open := explored.File(stagestest.Cut(t, rec, stagestest.Every(1000))...)
	for seed := range uint64(orderSeeds) {
		rule := random
		rule.Seed, s.Exploration.Seed = seed, seed
		split, err := offline.Split(t.Context(), rule, s.Events, open)
		if err != nil {
			t.Fatal(err)
		}
		found, err := offline.Explore(t.Context(), s, offline.Without(split, open), selection.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found.Set.Lineage.Split = &split.Rule
		model, _, err := offline.Fit(t.Context(), found.Set, train.Default(), "file", split, open)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range found.Set.Encoder.Columns {
			names = append(names, fmt.Sprintf("%s %s %d", c.Name, c.Kind, c.Width))
		}
		if all := strings.Join(names, ", "); seed == 0 {
			columns = all
		} else if all != columns {
			t.Errorf("columns %s with seed %d, %s with seed 0", all, seed, columns)
		}
		losses = append(losses, *model.Metrics.UnexplainedVariance)
	}
	return columns, losses
}

// Sorted by label, category, date or number, and with a column that begins late, a file gives the
// same columns as shuffled, and errors within two standard errors. The held-out rows of a seed are
// the same in every order, but samples differ.
func TestOrderOfAFileDoesNotMatter(t *testing.T) {
	rows := rides(4000)
	s := settings(stagestest.Regression)
	s.Events.Label = []string{"y"}
	s.Events.Passthrough = nil
	s.Exploration.Features, s.Exploration.Candidates = 40, 80
	s.Exploration.Criterion, s.Exploration.RefineSteps = scoring.Adaptive, 2
	s.Exploration.Sigma = 0
	s.Exploration.CalibrationRows = 2000
	wantColumns, shuffled := measureOrder(t, s, rows)
	losses := map[string][]float64{"shuffled": shuffled}
	for name, order := range map[string]func(a, b ride) int{
		"by label":        func(a, b ride) int { return cmp.Compare(a.y, b.y) },
		"by category":     func(a, b ride) int { return cmp.Compare(a.city, b.city) },
		"by number, last": func(a, b ride) int { return cmp.Compare(b.number, a.number) },
		// the column that begins late is then in the last rows
		"by date": func(a, b ride) int { return cmp.Compare(a.hours, b.hours) },
	} {
		sorted := slices.Clone(rows)
		slices.SortStableFunc(sorted, order)
		columns, of := measureOrder(t, s, sorted)
		if columns != wantColumns {
			t.Errorf("%s: %s, shuffled %s", name, columns, wantColumns)
		}
		losses[name] = of
	}
	stdErr := pairedError(losses)
	t.Logf("%.4v, standard error of a difference %.4f", losses, stdErr)
	if stdErr > 0.02*mean(shuffled) {
		t.Errorf("standard error %.4f of a difference is too large to find one: %.4v", stdErr, losses)
	}
	for name, of := range losses {
		if math.Abs(mean(of)-mean(shuffled)) > 2*stdErr {
			t.Errorf("%s: losses %.4v, shuffled %.4v; standard error %.4f", name, of, shuffled, stdErr)
		}
	}
	if !strings.Contains(wantColumns, "city category 30") || !strings.Contains(wantColumns, "at time 10") ||
		!strings.Contains(wantColumns, "late numeric 2") || strings.Contains(wantColumns, "nr ") {
		t.Errorf("columns %s", wantColumns)
	}
}

// pairedError returns the standard error of a difference of two orders, each measured with the same
// seeds: of what neither the order nor the seed explains.
func pairedError(losses map[string][]float64) float64 {
	var seeds [orderSeeds]float64
	all := 0.0
	for _, of := range losses {
		for seed, loss := range of {
			seeds[seed] += loss / float64(len(losses))
			all += loss / float64(len(losses)*orderSeeds)
		}
	}
	squares := 0.0
	for _, of := range losses {
		for seed, loss := range of {
			rest := loss - mean(of) - seeds[seed] + all
			squares += rest * rest
		}
	}
	return math.Sqrt(squares / float64((len(losses)-1)*(orderSeeds-1)) * 2 / orderSeeds)
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}
