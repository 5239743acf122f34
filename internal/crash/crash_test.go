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
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/internal/hostile"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == brokerCommand {
		fmt.Fprintln(os.Stderr, serveBroker(os.Args[2], os.Args[3], os.Args[4]))
		os.Exit(1)
	}
	flag.Parse()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if built != "" {
			_ = os.RemoveAll(built) // a temporary folder
		}
		os.Exit(code)
	}))
}

// built is the folder of the program; empty = not built yet.
var built string

// program builds the program once for all tests.
var program = sync.OnceValues(func() (path string, err error) {
	if built, err = os.MkdirTemp("", "eerf-crash-"); err != nil {
		return "", err
	}
	return build(built)
})

// The flags of TestSchedules; the Makefile sets them.
var (
	seedFlag  = flag.Uint64("seed", 0, "first seed; 0 = another one each time")
	countFlag = flag.Int("schedules", 1, "schedules to draw")
	cellsFlag = flag.Int("cells", 2, "cells of the matrix to draw; -1 = all")
	kindFlag  = flag.String("kind", "all", "the kind of the schedules; all = one kind after another")
	kafkaFlag = flag.String("kafka", "embedded",
		"embedded = a broker for each schedule, real = that of scripts/kafka.sh run")
	parallelFlag = flag.Int("at-a-time", 4, "schedules at a time, since they mostly wait; 1 on a real broker")
)

const testSession = 2 * time.Second

func TestPlansAreDeterministic(t *testing.T) {
	for _, kind := range Kinds() {
		texts := map[string]bool{}
		for seed := range uint64(200) {
			text := Draw(kind, seed, testSession).String()
			if text != Draw(kind, seed, testSession).String() {
				t.Fatalf("seed %d of %s gives different plans", seed, kind)
			}
			texts[text] = true
		}
		if len(texts) != 200 {
			t.Errorf("only %d different plans of 200 seeds of %s", len(texts), kind)
		}
	}
}

func TestMatrixCoversEveryPointAndAction(t *testing.T) {
	hits := map[string]int{}
	for _, cell := range Matrix(testSession) {
		for _, t := range cell.Hits {
			hits[fmt.Sprint(t.Point, t.Action)]++
		}
	}
	for _, point := range failpoint.All() {
		for _, action := range []failpoint.Action{failpoint.Kill, failpoint.Stop} {
			if n := hits[fmt.Sprint(point, action)]; n == 0 {
				t.Errorf("no cell combines %s and %s", point, action)
			}
		}
	}
}

// TestSchedules runs cells of the matrix and random plans, several at a time. The logs and data of
// failed schedules are kept.
func TestSchedules(t *testing.T) {
	if testing.Short() {
		t.Skip("runs processes for minutes")
	}
	if hostile.RaceDetector {
		t.Skip("the processes are built without the race detector")
	}
	t.Parallel()
	dir, err := os.MkdirTemp("", "eerf-schedules-") //nolint:usetesting // kept after a failure
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(dir) }() // fails if it is not empty
	program, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cells := drawCells(t)
	limit := make(chan struct{}, *parallelFlag)
	outcomes := make([]chan outcome, len(cells))
	for i, cell := range cells {
		outcomes[i] = make(chan outcome, 1)
		go func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			outcomes[i] <- runCell(t.Context(), cell, program, filepath.Join(dir, strings.ReplaceAll(cell.Name, "/", "-")))
		}()
	}
	var sets, models, rows int64
	for i, cell := range cells {
		t.Run(cell.Name, func(t *testing.T) {
			o := <-outcomes[i]
			o.report(t, cell)
			if o.err == nil {
				sets += o.result.Sets
				models += o.result.Models
				rows += o.result.Foreign
			}
		})
	}
	t.Logf("%d schedules; recomputed %d feature sets and %d models; another consumer counted %d rows", len(cells),
		sets, models, rows)
}

// drawCells draws the cells to run.
func drawCells(t *testing.T) []Cell {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64N(1e9)
	}
	t.Logf("seed %d", seed)
	cells := Matrix(testSession)
	if n := *cellsFlag; n >= 0 && n < len(cells) {
		drawn := rand.New(rand.NewPCG(seed, 0))
		drawn.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		cells = cells[:n]
	}
	chosen := slices.DeleteFunc(Kinds(), func(k Kind) bool {
		return *kindFlag != "all" && string(k) != *kindFlag || *kafkaFlag == "real" && !k.OnKafka()
	})
	if len(chosen) == 0 {
		t.Fatalf("unknown kind %q; want one of %v", *kindFlag, Kinds())
	}
	for i := range uint64(*countFlag) {
		kind := chosen[(seed+i)%uint64(len(chosen))]
		cells = append(cells, Cell{Name: fmt.Sprintf("%s/%d", kind, seed+i), Plan: Draw(kind, seed+i, testSession)})
	}
	return cells
}

// outcome is the outcome of a cell; dir holds its logs and data.
type outcome struct {
	dir    string
	result *Result
	err    error
}

func runCell(ctx context.Context, cell Cell, program, dir string) outcome {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return outcome{err: err}
	}
	options := Options{
		Program: program,
		Session: testSession,
		Dir:     dir,
		Name:    fmt.Sprintf("s%d", rand.Uint64N(1e12)),
		Nudge:   4*testSession + 2*time.Second, // longer than a rebalance takes after a death
		Broker:  func(ctx context.Context, dir string) (Broker, error) { return startEmbedded(ctx, dir, testSession) },
	}
	if *kafkaFlag == "real" {
		options.Nudge = 0
		options.Broker = func(context.Context, string) (Broker, error) { return realKafka() }
	}
	result, err := Run(ctx, cell.Plan, options)
	return outcome{dir, result, err}
}

func (o outcome) report(t *testing.T, cell Cell) {
	t.Helper()
	if o.err != nil {
		t.Fatalf("%v; logs and data are in %s", o.err, o.dir)
	}
	r := o.result
	for _, fault := range append(r.Faults, cell.missed(r)...) {
		t.Error(fault)
	}
	t.Logf("points %v, actions %v, %d rows, %d of them repeats, %d blocks of live errors, %v", r.Hits, r.Done, r.Foreign,
		r.Duplicates, r.Blocks, r.Took.Round(10*time.Millisecond))
	if t.Failed() {
		log, _ := os.ReadFile(filepath.Join(o.dir, "schedule.log"))
		t.Logf("logs and data are in %s\n%s", o.dir, log)
		return
	}
	if err := os.RemoveAll(o.dir); err != nil {
		t.Error(err)
	}
}
