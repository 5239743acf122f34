package offline_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/train"
	"github.com/eerf-stream/eerf/training"
)

// coins returns events with labels that a coin decides, in the given order.
func coins(order []int, values int) arrow.Record {
	var fields []arrow.Field
	for _, name := range []string{"a", "b", "c", "d"} {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
	}
	fields = append(fields, arrow.Field{Name: "y", Type: arrow.BinaryTypes.String})
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for _, n := range order {
		random := rand.New(rand.NewPCG(uint64(n), 3))
		for i := range 4 {
			v := random.NormFloat64()
			if values > 0 {
				v = float64(random.IntN(values))
			}
			b.Field(i).(*array.Float64Builder).Append(v)
		}
		b.Field(4).(*array.StringBuilder).Append([]string{"no", "yes"}[random.IntN(2)])
	}
	return b.NewRecord()
}

// shuffled returns the numbers below n, each so many times.
func shuffled(n, copies int) []int {
	order := rand.New(rand.NewPCG(9, 9)).Perm(n * copies)
	for i := range order {
		order[i] %= n
	}
	return order
}

// No model predicts a coin, however often events are copied.
func TestCopiesAreOnOneSide(t *testing.T) {
	for name, c := range map[string]struct {
		copies, values int
		identity       rowid.Rule
		want           rowid.By
		low, high      float64 // error in percent
	}{
		"once":        {1, 0, rowid.Rule{}, rowid.Content, 38, 62},
		"twice":       {2, 0, rowid.Rule{}, rowid.Content, 38, 62},
		"three times": {3, 0, rowid.Rule{}, rowid.Content, 38, 62},
		// as before there were identities
		"three times, told by place":   {3, 0, rowid.Rule{By: rowid.Place}, rowid.Place, 0, 25},
		"few categories of each label": {1, 2, rowid.Rule{}, rowid.Place, 38, 62},
	} {
		t.Run(name, func(t *testing.T) {
			rows := coins(shuffled(1000, c.copies), c.values)
			defer rows.Release()
			open := explored.File(stagestest.Cut(t, rows, stagestest.Every(500))...)
			rule := random
			rule.Identity = c.identity
			split, err := offline.Split(t.Context(), rule, labelled, open)
			if err != nil {
				t.Fatal(err)
			}
			if split.Rule.Identity.By != c.want {
				t.Fatalf("identity by %s, want %s", split.Rule.Identity.By, c.want)
			}
			s := settings(stagestest.Binary)
			s.Events.Passthrough, s.Identity = nil, split.Rule.Identity
			s.Exploration.Candidates, s.Exploration.Features, s.Exploration.SampleRate = 1200, 1200, 1
			s.Exploration.Criterion, s.Exploration.Sigma = scoring.Correlation, 0.7
			found, err := offline.Explore(t.Context(), s, offline.Without(split, open), selection.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found.Set.Lineage.Split = &split.Rule
			config := train.Default()
			config.LambdaGrid, config.Loss = "1e-9", training.LossSquared
			model, counts, err := offline.Fit(t.Context(), found.Set, config, s.EventsTopic, split, open)
			if err != nil {
				t.Fatal(err)
			}
			share := float64(model.HeldOutRows) / float64(counts.Trained)
			if e := *model.Metrics.Misclassification; e < c.low || e > c.high || share < 0.15 || share > 0.25 {
				t.Errorf("error %.1f %% on %.3f of the rows, want an error from %v to %v", e, share, c.low, c.high)
			}
		})
	}
}

// Rows of one value of the group column are on one side, by hash and by time.
func TestGroupsAreHeldOutWhole(t *testing.T) {
	const n = 1000
	for name, c := range map[string]struct {
		rule   wire.Split
		group  func(i int) int
		fails  bool
		atMost int // held out
	}{
		"by hash": {random, func(i int) int { return i % 100 }, false, 300},
		"by time": {last, func(i int) int { return i / 10 }, false, 200},
		"by time, half are earlier": {
			last,
			func(i int) int { return map[bool]int{true: i, false: i % 100}[i%2 == 0] },
			false,
			100,
		},
		"by time, all are earlier": {last, func(i int) int { return i % 100 }, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			rows := timed(upTo(n, c.group), always) // "day" is the group here
			defer rows.Release()
			grouped := labelled
			grouped.Group = "day"
			split, err := offline.Split(t.Context(), c.rule, grouped, explored.File(rows))
			if c.fails {
				if !errors.Is(err, offline.ErrTooFewRows) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			sides, held := map[int]bool{}, 0
			for i := range n {
				out := split.HeldOut(int64(i))
				if side, known := sides[c.group(i)]; known && side != out {
					t.Fatalf("row %d of group %d is on another side than an earlier one", i, c.group(i))
				}
				sides[c.group(i)] = out
				if out {
					held++
				}
			}
			if held < 90 || held > c.atMost {
				t.Errorf("%d rows held out", held)
			}
		})
	}
}

// The content of a row of a split is that of the rows that an exploration without one would tell.
func TestSplitAndPlanAgreeOnIdentity(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 800, 41, stagestest.Faults{})
	s := settings(stagestest.Regression)
	s.HeldOutSeed, s.HeldOutFraction = 5, 0.25
	found, err := offline.Explore(t.Context(), s, explored.File(rows), selection.Options{})
	if err != nil {
		t.Fatal(err)
	}
	split, err := offline.Split(
		t.Context(),
		wire.Split{By: wire.SplitRandom, Seed: 5, Fraction: 0.25},
		s.Events,
		explored.File(rows),
	)
	if err != nil {
		t.Fatal(err)
	}
	got := found.Set.Lineage.Identity
	want := split.Rule.Identity
	want.HeldOutSeed, want.HeldOutFraction = 5, 0.25
	if fmt.Sprint(got) != fmt.Sprint(want) || got.HeldOutSeed != 5 || got.HeldOutFraction != 0.25 {
		t.Errorf("identity %+v of the exploration, %+v of the split", got, want)
	}
}
