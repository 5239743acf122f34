package offline_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/train"
)

var (
	random = wire.Split{By: wire.SplitRandom, Fraction: 0.2, Seed: 1}
	last   = wire.Split{By: wire.SplitTime, Fraction: 0.2}
)

// timed returns a row for each day. A row with a negative day has no time, a row with the label ""
// no label.
func timed(days []int, label func(i int) string) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "word", Type: arrow.BinaryTypes.String}, {Name: "y", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil))
	defer b.Release()
	for i, day := range days {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Date32Builder).AppendValues([]arrow.Date32{arrow.Date32(day)}, []bool{day >= 0})
		b.Field(2).(*array.StringBuilder).Append("a")
		b.Field(3).(*array.StringBuilder).AppendValues([]string{label(i)}, []bool{label(i) != ""})
	}
	return b.NewRecord()
}

// labelled names the label.
var labelled = events.Config{Columns: events.Columns{Label: []string{"y"}}}

func always(int) string { return "yes" }

func upTo(n int, day func(i int) int) []int {
	days := make([]int, n)
	for i := range days {
		days[i] = day(i)
	}
	return days
}

// idsOf reads the ids of the rows.
func idsOf(t *testing.T, open func() (events.RowReader, error)) (ids []int64) {
	t.Helper()
	err := events.EachBatch(t.Context(), open, func(_ int64, batch arrow.Record) error {
		ids = append(ids, batch.Column(0).(*array.Int64).Int64Values()...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// Each row is either held out or left to learn from, regardless of batches. A split by time holds
// out the last rows.
func TestSplitDividesRows(t *testing.T) {
	const n = 1000
	backwards := func(i int) int { return n - i }
	for name, c := range map[string]struct {
		rule wire.Split
		days []int
		out  func(i int) bool // nil = about a fifth
	}{
		"random": {random, upTo(n, backwards), nil},
		"order":  {last, upTo(n, backwards), func(i int) bool { return i >= 800 }},
		"column": {
			wire.Split{By: wire.SplitTime, Column: "day", Fraction: 0.2},
			upTo(n, backwards),
			func(i int) bool { return i < 200 },
		},
		"number": {
			wire.Split{By: wire.SplitTime, Column: "id", Fraction: 0.1},
			upTo(n, backwards),
			func(i int) bool { return i >= 900 },
		},
		"equal times": {
			wire.Split{By: wire.SplitTime, Column: "day", Fraction: 0.2},
			upTo(n, func(i int) int { return i / 300 }),
			func(i int) bool { return i >= 600 },
		},
		"mostly equal": {
			wire.Split{By: wire.SplitTime, Column: "day", Fraction: 0.2},
			upTo(n, func(i int) int { return i / 900 }),
			func(i int) bool { return i >= 900 },
		},
		"some missing": {wire.Split{By: wire.SplitTime, Column: "day", Fraction: 0.2}, upTo(n, func(i int) int {
			if i%2 == 0 {
				return -1
			}
			return i
		}), func(i int) bool { return i >= 800 && i%2 == 1 }},
	} {
		rec := timed(c.days, always)
		for _, size := range []int{1, 64, n} {
			open := explored.File(stagestest.Cut(t, rec, stagestest.Every(size))...)
			split, err := offline.Split(t.Context(), c.rule, labelled, open)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			left := idsOf(t, offline.Without(split, open))
			held := 0
			for i := range n {
				out := split.HeldOut(int64(i))
				if out == slices.Contains(left, int64(i)) || c.out != nil && out != c.out(i) {
					t.Fatalf("%s, batches of %d: row %d is held out: %v; left are %v", name, size, i, out, left)
				}
				if out {
					held++
				}
			}
			if c.out == nil && (held < 150 || held > 250) {
				t.Errorf("%s: %d of %d rows are held out", name, held, n)
			}
		}
	}
}

// Rows without a label do not count as last rows.
func TestSplitByTimeCountsLabels(t *testing.T) {
	rec := timed(upTo(1000, func(i int) int { return i }), func(i int) string {
		if i >= 500 {
			return ""
		}
		return "yes"
	})
	split, err := offline.Split(t.Context(), last, labelled, explored.File(rec))
	if err != nil || split.HeldOut(399) || !split.HeldOut(400) || !split.HeldOut(999) {
		t.Errorf("rows are not held out from 400 on; %v", err)
	}
}

func TestSplitRefusesUnusableRules(t *testing.T) {
	some := timed(upTo(500, func(i int) int { return i }), always)
	for says, c := range map[string]struct {
		rule wire.Split
		rows arrow.Record
	}{
		"would split 100 rows with a label and a time into 80 to learn from and 20 held out": {
			last,
			timed(upTo(100, func(i int) int { return i }), always),
		},
		"too few rows to split by time: the last 20 % of the rows by column \"day\" would split": {
			wire.Split{By: wire.SplitTime, Column: "day", Fraction: 0.2},
			timed(upTo(500, func(int) int { return 3 }), always),
		},
		"no row has a label and a time": {
			last,
			timed(upTo(500, func(i int) int { return i }), func(int) string { return "" }),
		},
		`column "when", which`:              {wire.Split{By: wire.SplitTime, Column: "when", Fraction: 0.2}, some},
		`column "word" of type utf8 cannot`: {wire.Split{By: wire.SplitTime, Column: "word", Fraction: 0.2}, some},
	} {
		if split, err := offline.Split(t.Context(), c.rule, labelled, explored.File(c.rows)); err == nil ||
			split != nil || !strings.Contains(err.Error(), says) {
			t.Errorf("split %v, %v; want %q", split, err, says)
		}
	}
}

func TestSortedTime(t *testing.T) {
	for name, c := range map[string]struct {
		day  func(i int) int
		want string
	}{
		"rising":     {func(i int) int { return i / 3 }, "day"},
		"falling":    {func(i int) int { return 100 - i }, "day"},
		"unordered":  {func(i int) int { return i % 7 }, ""},
		"one value":  {func(int) int { return 5 }, ""},
		"few gaps":   {func(i int) int { return max(i, 1) - 1 - i%50/49*1000 }, "day"},
		"many gaps":  {func(i int) int { return i/3 - i%10/9*1000 }, ""},
		"a day late": {func(i int) int { return i/3 - i%7/6 + 1 }, "day"},
		"days late":  {func(i int) int { return i/3 - 2*(i%7/6) + 2 }, ""},
	} {
		rec := timed(upTo(100, c.day), always)
		got, err := offline.SortedTime(t.Context(), rec.Schema(),
			explored.File(stagestest.Cut(t, rec, stagestest.Every(9))...))
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// Files are sorted by day if the rows of a day are in any order, in whatever unit times are.
func TestSortedByDay(t *testing.T) {
	for _, unit := range []arrow.TimeUnit{arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond} {
		for _, c := range []struct {
			days  int
			order func(day int) int
			want  string
		}{
			{30, func(day int) int { return day }, "at"},
			{30, func(day int) int { return 29 - day }, "at"},
			{30, func(day int) int { return day * 7 % 30 }, ""},
			{1, func(day int) int { return day }, ""},
		} {
			kind, rng := &arrow.TimestampType{Unit: unit}, rand.New(rand.NewPCG(1, 2))
			b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "at", Type: kind}}, nil))
			for i := range 300 {
				hours := 24*c.order(i*c.days/300) + rng.IntN(24)
				b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(time.Duration(hours) * time.Hour / unit.Multiplier()))
			}
			rec := b.NewRecord()
			b.Release()
			if got, err := offline.SortedTime(t.Context(), rec.Schema(), explored.File(rec)); err != nil || got != c.want {
				t.Errorf("%v, %d days: %q, %v; want %q", unit, c.days, got, err, c.want)
			}
		}
	}
}

// Held-out rows teach nothing: other labels there change neither the set nor the judged weights.
func TestHeldOutRowsDoNotChangeSetOrJudgedWeights(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 800, 41, stagestest.Faults{})
	for _, rule := range []wire.Split{random, last} {
		split, err := offline.Split(t.Context(), rule, labelled, explored.File(rows))
		if err != nil {
			t.Fatal(err)
		}
		model, set := learnedWithout(t, split, rows)
		for name, at := range map[string]func(row int64) bool{
			"held out": split.HeldOut, "learned from": func(row int64) bool { return !split.HeldOut(row) },
		} {
			again, other := learnedWithout(t, split, turned(rows, at))
			same := set.ID() == other.ID() && slices.Equal(model.Judged.Theta, again.Judged.Theta)
			if same != (name == "held out") {
				t.Errorf("%v: with labels turned where rows are %s, the same is learned: %v", rule, name, same)
			}
		}
		if model.Split == nil || !reflect.DeepEqual(model.Split, &split.Rule) ||
			model.Metrics.MeasuredRows != model.HeldOutRows ||
			model.Metrics.Seen != nil ||
			model.NotHeldOut != nil {
			t.Errorf("split %v, %d of %d measured, seen %v, not held out %v", model.Split, model.Metrics.MeasuredRows,
				model.HeldOutRows, model.Metrics.Seen, model.NotHeldOut)
		}
	}
}

// learnedWithout explores the rows that a split leaves, and fits all.
func learnedWithout(t *testing.T, split *train.FileSplit, rows arrow.Record) (*wire.Model, *wire.FeatureSet) {
	t.Helper()
	s := settings(stagestest.Regression)
	s.Exploration.Criterion, s.Exploration.RefineSteps, s.Exploration.SampleRate = scoring.Adaptive, 2, 1
	found, err := offline.Explore(t.Context(), s, offline.Without(split, explored.File(rows)), selection.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found.Set.Lineage.Split = &split.Rule
	config := train.Default()
	config.LambdaGrid = "0.001"
	model, _, err := offline.Fit(t.Context(), found.Set, config, s.EventsTopic, split, explored.File(rows))
	if err != nil {
		t.Fatal(err)
	}
	return model, found.Set
}

// turned changes the sign of the labels of some rows.
func turned(rows arrow.Record, which func(row int64) bool) arrow.Record {
	at := rows.Schema().FieldIndices("y")[0]
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i, v := range rows.Column(at).(*array.Float64).Float64Values() {
		if which(int64(i)) {
			v = -v
		}
		b.Append(v)
	}
	columns := slices.Clone(rows.Columns())
	columns[at] = b.NewArray()
	return array.NewRecord(rows.Schema(), columns, rows.NumRows())
}
