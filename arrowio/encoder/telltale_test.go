package encoder_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// guessed is a row with three numbers that may be missing (NaN), a word and a label.
type guessed struct {
	a, b, c float64
	word    string
	y       any // float64 or string
}

// telltalesOf returns the telltales of generated rows.
func telltalesOf(t *testing.T, n int, row func(r *rand.Rand) guessed) []encoder.Telltale {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	label := arrow.Field{Name: "y", Type: arrow.BinaryTypes.String}
	if _, ok := row(random).y.(float64); ok {
		label.Type = arrow.PrimitiveTypes.Float64
	}
	number := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64, Nullable: true}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		number("a"), number("b"), number("c"), {Name: "word", Type: arrow.BinaryTypes.String, Nullable: true}, label,
	}, nil))
	defer b.Release()
	for range n {
		g := row(random)
		for j, v := range []float64{g.a, g.b, g.c} {
			b.Field(j).(*array.Float64Builder).AppendValues([]float64{v}, []bool{!math.IsNaN(v)})
		}
		b.Field(3).(*array.StringBuilder).AppendValues([]string{g.word}, []bool{g.word != ""})
		switch y := g.y.(type) {
		case float64:
			b.Field(4).(*array.Float64Builder).Append(y)
		case string:
			b.Field(4).(*array.StringBuilder).Append(y)
		}
	}
	rec := b.NewRecord()
	learn := encoder.NewCalibrator(encoder.Options{Label: []string{"y"}, Clip: 5})
	if err := learn.Add(rec); err != nil {
		t.Fatal(err)
	}
	enc, report, err := learn.Encoder()
	if err != nil {
		t.Fatal(err)
	}
	look := encoder.NewReview(enc)
	if err := look.Add(rec, nil); err != nil {
		t.Fatal(err)
	}
	look.Report(&report)
	return report.Telltales
}

func yes(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

// Columns whose thresholds, categories or missing values give the label away are found, and useful
// columns are not.
func TestTelltales(t *testing.T) {
	noise := func(r *rand.Rand) guessed {
		return guessed{a: r.NormFloat64(), b: r.Float64(), c: r.ExpFloat64(), word: []string{"x", "y", "z"}[r.IntN(3)]}
	}
	for name, c := range map[string]struct {
		row  func(r *rand.Rand) guessed
		want string // columns
		says string
	}{
		"0 for no, 1 to 30 for yes": {func(r *rand.Rand) guessed {
			g := noise(r)
			left := g.a+r.NormFloat64() > 0.5
			g.b = 0
			if left {
				g.b = float64(1 + r.IntN(30))
			}
			g.y = yes(left)
			return g
		}, "b", "by its values"},
		"filled for 93 % of the positives": {func(r *rand.Rand) guessed {
			g := noise(r)
			left := g.a+r.NormFloat64() > 1
			if !left || r.Float64() > 0.93 {
				g.c = math.NaN()
			}
			g.y = yes(left)
			return g
		}, "c", "by whether it is filled"},
		"a word for each class": {func(r *rand.Rand) guessed {
			g := noise(r)
			left := g.a+r.NormFloat64() > 0
			g.word = []string{"closed by phone", "closed by mail"}[r.IntN(2)]
			if !left {
				g.word = []string{"open", "new", ""}[r.IntN(3)]
			}
			g.y = yes(left)
			return g
		}, "word", "by its values"},
		"an interval in the middle": {func(r *rand.Rand) guessed {
			g := noise(r)
			g.y = yes(math.Abs(g.a) < 0.7)
			return g
		}, "a", "by its values"},
		"a curve of the label": {func(r *rand.Rand) guessed {
			g := noise(r)
			y := 3*g.b + r.NormFloat64()
			g.c, g.y = math.Exp(y/3), y
			return g
		}, "c", "variance unexplained"},
		"two columns together": {func(r *rand.Rand) guessed {
			g := noise(r)
			g.a, g.b = float64(r.IntN(4)), float64(r.IntN(4))
			g.y = yes(g.a == g.b)
			return g
		}, "a b", "predict the label together"},
		"a difference": {func(r *rand.Rand) guessed {
			g := noise(r)
			g.a, g.c = 1000*g.c, 1000*g.c+g.a*5
			g.y = yes(g.c > g.a)
			return g
		}, "a c", "predict the label together"},
		"a product of numbers": {func(r *rand.Rand) guessed {
			g := noise(r)
			g.c++
			g.y = g.b * g.c
			return g
		}, "b c", "variance unexplained"},
		"useful columns": {func(r *rand.Rand) guessed {
			g := noise(r)
			g.y = yes(2*g.a+g.b+0.7*r.NormFloat64() > 0)
			return g
		}, "", ""},
		"useful columns of numbers": {func(r *rand.Rand) guessed {
			g := noise(r)
			g.y = 5*g.a + math.Sin(6*g.b) + 0.4*g.c + 0.3*r.NormFloat64()
			return g
		}, "", ""},
		"a rare class that nothing predicts": {func(r *rand.Rand) guessed {
			g := noise(r)
			g.y = yes(r.Float64() < 0.02)
			return g
		}, "", ""},
	} {
		for _, n := range []int{400, 2000} {
			found := telltalesOf(t, n, c.row)
			var columns []string
			for _, tell := range found {
				columns = append(columns, tell.Columns...)
			}
			if len(columns) > 1 && columns[0] > columns[1] {
				columns[0], columns[1] = columns[1], columns[0]
			}
			if got := strings.Join(columns, " "); got != c.want || !strings.Contains(fmt.Sprint(found), c.says) {
				t.Errorf("%s, %d rows: %v, want %q with %q", name, n, found, c.want, c.says)
			}
		}
	}
}
