package crash

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/internal/failpoint"
)

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

var (
	seedFlag  = flag.Uint64("seed", 0, "first seed of TestSchedules; 0 = another one each time")
	countFlag = flag.Int("schedules", 2, "schedules that TestSchedules draws")
	cellsFlag = flag.Int("cells", 6, "cells of the matrix that TestSchedules draws; 0 = all")
)

const (
	testSession  = 2 * time.Second
	testParallel = 4 // schedules mostly wait
)

func TestAPlanIsAFunctionOfItsSeed(t *testing.T) {
	for _, kind := range Kinds() {
		texts := map[string]bool{}
		for seed := range uint64(200) {
			text := Draw(kind, seed, testSession).String()
			if text != Draw(kind, seed, testSession).String() {
				t.Fatalf("seed %d of %s gives two plans", seed, kind)
			}
			texts[text] = true
		}
		if len(texts) != 200 {
			t.Errorf("%d plans of 200 seeds of %s", len(texts), kind)
		}
	}
}

func TestTheMatrixHasEveryPointAndAction(t *testing.T) {
	hits := map[string]int{}
	for _, cell := range Matrix(testSession) {
		for _, t := range cell.Hits {
			hits[fmt.Sprint(t.Point, t.Action)]++
		}
	}
	for _, point := range failpoint.All() {
		for _, action := range []failpoint.Action{failpoint.Kill, failpoint.Stop} {
			if n := hits[fmt.Sprint(point, action)]; n == 0 {
				t.Errorf("%s and %s are together in no cell", point, action)
			}
		}
	}
}

// TestSchedules runs some cells of the matrix and a few random plans of each kind in turn, in parallel. `soak schedules --matrix` runs
// all cells.
func TestSchedules(t *testing.T) {
	if testing.Short() {
		t.Skip("runs processes for minutes")
	}
	if raceEnabled {
		t.Skip("the processes are built without the race detector")
	}
	programs, err := Build(t.Context(), t.TempDir(), WithFailpoints)
	if err != nil {
		t.Fatal(err)
	}
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64N(1e9)
	}
	cells := Matrix(testSession)
	if n := *cellsFlag; n > 0 && n < len(cells) {
		drawn := rand.New(rand.NewPCG(seed, 0))
		drawn.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		cells = cells[:n]
	}
	for i := range *countFlag {
		seed := seed + uint64(i)
		kind := Kinds()[seed%uint64(len(Kinds()))]
		cells = append(cells, Cell{Name: fmt.Sprintf("%s/%d", kind, seed), Plan: Draw(kind, seed, testSession)})
	}
	limit := make(chan struct{}, testParallel)
	results := make([]chan func(*testing.T), len(cells))
	for i, cell := range cells {
		results[i] = make(chan func(*testing.T), 1)
		dir := filepath.Join(t.TempDir(), strings.ReplaceAll(cell.Name, "/", "-"))
		go func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			results[i] <- runCell(t.Context(), cell, programs, dir)
		}()
	}
	for i, cell := range cells {
		t.Run(cell.Name, func(t *testing.T) { (<-results[i])(t) })
	}
}

// runCell runs a plan and returns a function that reports the result.
func runCell(ctx context.Context, cell Cell, programs Programs, dir string) func(*testing.T) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return func(t *testing.T) { t.Fatal(err) }
	}
	result, err := Run(ctx, cell.Plan, Options{
		Programs: programs, Session: testSession, Dir: dir, Name: "crash", Nudge: EmbeddedNudge(testSession),
		Broker: func(ctx context.Context, dir string) (Broker, error) {
			return StartEmbedded(ctx, programs, dir, testSession)
		},
	})
	if err != nil {
		return func(t *testing.T) { t.Fatal(err) }
	}
	log, _ := os.ReadFile(filepath.Join(dir, "schedule.log"))
	return func(t *testing.T) {
		for _, fault := range append(result.Faults, cell.Missed(result, dir)...) {
			t.Error(fault)
		}
		if t.Failed() {
			t.Logf("%s", log)
		}
	}
}

func TestTheRuleForDuplicates(t *testing.T) {
	at := func(offset int64, first, count, of int32) feature {
		var f feature
		f.SourceOffset, f.FirstRow, f.RowCount, f.SourceRows = offset, first, count, of
		return f
	}
	var d deduplicator
	for _, c := range []struct {
		message feature
		rows    []int32
		want    []int32
	}{
		{at(0, 0, 4, 8), []int32{0, 1, 3}, []int32{0, 1, 3}},
		{at(0, 2, 4, 8), []int32{2, 3, 5}, []int32{5}},
		{at(0, 6, 2, 8), []int32{6, 7}, []int32{6, 7}},
		{at(0, 0, 4, 8), []int32{0, 1, 3}, nil},
		{at(2, 0, 4, 4), []int32{1}, []int32{1}},
		{at(1, 0, 4, 4), []int32{1}, nil},
		{at(3, 0, 1, 1), []int32{0}, []int32{0}},
	} {
		if got := d.fresh(c.message, c.rows); !slices.Equal(got, c.want) {
			t.Errorf("%+v: rows %v are new, want %v", c.message.FeatureBatch, got, c.want)
		}
	}
}

func TestJudge(t *testing.T) {
	soak := func(grows func(i int, s *Sample)) []Sample {
		var samples []Sample
		for i := range 30 {
			s := Sample{
				Resident: map[string]int64{"trainer": 100 << 20}, Goroutines: map[string]int64{"trainer": 40},
				Lag: map[string]int64{"featurize": 100},
			}
			grows(i, &s)
			samples = append(samples, s)
		}
		return samples
	}
	for _, c := range []struct {
		name  string
		grows func(int, *Sample)
		want  string
	}{
		{"steady", func(int, *Sample) {}, ""},
		{"grows at first", func(i int, s *Sample) { s.Resident["trainer"] += int64(min(i, 10)) << 20 }, ""},
		{"memory", func(i int, s *Sample) { s.Resident["trainer"] += int64(i) << 21 }, "resident set"},
		{"goroutines", func(i int, s *Sample) { s.Goroutines["trainer"] += int64(i) }, "goroutines"},
		{"lag", func(i int, s *Sample) { s.Lag["featurize"] *= int64(i) }, "lag"},
	} {
		t.Run(c.name, func(t *testing.T) {
			switch err := Judge(soak(c.grows)); {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
