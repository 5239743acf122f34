package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/internal/crash"
)

// schedules are the flags and counts of the command.
type schedules struct {
	count, parallel int
	seed            uint64
	kind            string
	kafka           string
	matrix, keep    bool
	session         time.Duration
	cell            string
	dir, programs   string
	temporary       bool // dir is a temporary one

	kinds   []crash.Kind
	options crash.Options
	mu      sync.Mutex
	total   totals
}

type totals struct {
	schedules, failed, duplicates, mixed int
	nudges, unfinished                   int
	rows, letters, models, sets          int64
	hits                                 map[string]int
	done                                 map[crash.Act]int
	failedNames                          []string
}

func newSchedules() *cobra.Command {
	s := &schedules{total: totals{hits: map[string]int{}, done: map[crash.Act]int{}}}
	c := &cobra.Command{
		Use:   "schedules",
		Short: "Run schedules of crashes drawn from seeds, or the matrix of every point and action",
		Example: `  soak schedules --count 200 --parallel 4
  soak schedules --seed 1234 --count 1 --keep     run the schedule of a seed again
  soak schedules --kind all --count 30            one kind of schedules after another
  scripts/kafka.sh run soak schedules --kafka real --count 30`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return s.run(c.Context()) },
	}
	c.Flags().IntVar(&s.count, "count", 20, "schedules to run, of the seeds from --seed on")
	c.Flags().IntVar(&s.parallel, "parallel", 2, "schedules at a time; 1 on a real broker")
	c.Flags().Uint64Var(&s.seed, "seed", 0, "first seed; 0 = from the clock")
	c.Flags().StringVar(&s.kind, "kind", string(crash.KindCrashes), "what the schedules have beside crashes: "+kindNames()+"; all = one kind after another")
	c.Flags().StringVar(&s.kafka, "kafka", "embedded", "embedded = a broker for each schedule, real = that of scripts/kafka.sh run")
	c.Flags().BoolVar(&s.matrix, "matrix", false, "run the matrix instead")
	c.Flags().StringVar(&s.cell, "cell", "", "with --matrix: only this cell, such as kill/3")
	c.Flags().BoolVar(&s.keep, "keep", false, "keep logs and data of all schedules, not only of those that fail")
	c.Flags().DurationVar(&s.session, "session", 3*time.Second, "session timeout of the consumer groups")
	c.Flags().StringVar(&s.dir, "dir", "", "folder for logs and data; empty = a temporary one")
	c.Flags().StringVar(&s.programs, "programs", "", "folder with featurizer, trainer and soak, built with the tag failpoints; empty = build them")
	return c
}

func (s *schedules) run(ctx context.Context) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.parallel)
	for _, cell := range s.cells() {
		group.Go(func() error { return s.one(ctx, cell) })
	}
	err := group.Wait()
	s.total.print(time.Since(began))
	if err != nil {
		return err
	}
	if s.temporary && s.total.failed == 0 && !s.keep {
		return os.RemoveAll(s.dir)
	}
	if s.total.failed > 0 {
		return fmt.Errorf("%d of %d schedules failed: %s", s.total.failed, s.total.schedules, strings.Join(s.total.failedNames, ", "))
	}
	return nil
}

// chooseKinds parses --kind.
func (s *schedules) chooseKinds() error {
	s.kinds = crash.Kinds()
	if s.kind == "all" {
		s.kinds = slices.DeleteFunc(s.kinds, func(k crash.Kind) bool { return s.kafka == "real" && !k.OnKafka() })
		return nil
	}
	if s.kinds = slices.DeleteFunc(s.kinds, func(k crash.Kind) bool { return string(k) != s.kind }); len(s.kinds) == 0 {
		return fmt.Errorf("--kind is one of %s, or all: %q", kindNames(), s.kind)
	}
	return nil
}

func kindNames() string {
	var names []string
	for _, kind := range crash.Kinds() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

func (s *schedules) prepare(ctx context.Context) (err error) {
	if err := s.chooseKinds(); err != nil {
		return err
	}
	if s.cell != "" && len(s.cells()) == 0 {
		return fmt.Errorf("the matrix has no cell %q", s.cell)
	}
	if s.seed == 0 {
		s.seed = rand.Uint64N(1e9)
	}
	if s.dir == "" {
		if s.dir, err = os.MkdirTemp("", "eerf-soak-"); err != nil {
			return err
		}
		s.temporary = true
	}
	programs := crash.Programs(s.programs)
	if programs == "" {
		bin := filepath.Join(s.dir, "bin")
		if err := os.MkdirAll(bin, 0o700); err != nil {
			return err
		}
		if programs, err = crash.Build(ctx, bin, crash.WithFailpoints); err != nil {
			return err
		}
	}
	s.options = crash.Options{Programs: programs, Session: s.session}
	s.options.Broker = func(ctx context.Context, dir string) (crash.Broker, error) {
		return crash.StartEmbedded(ctx, programs, dir, s.session)
	}
	if s.kafka == "embedded" {
		s.options.Nudge = crash.EmbeddedNudge(s.session)
		return nil
	}
	if s.kafka != "real" || s.parallel != 1 {
		return errors.New("--kafka is embedded or real, and real wants --parallel 1")
	}
	root, err := crash.Root(ctx)
	if err != nil {
		return err
	}
	s.options.Broker = func(context.Context, string) (crash.Broker, error) { return crash.RealKafka(root) }
	return nil
}

// cells lists the plans to run.
func (s *schedules) cells() []crash.Cell {
	if s.matrix {
		return slices.DeleteFunc(crash.Matrix(s.session), func(c crash.Cell) bool { return s.cell != "" && c.Name != s.cell })
	}
	var cells []crash.Cell
	for i := range s.count {
		kind, seed := s.kinds[i%len(s.kinds)], s.seed+uint64(i)
		cells = append(cells, crash.Cell{Name: fmt.Sprintf("%s %d", kind, seed), Plan: crash.Draw(kind, seed, s.session)})
	}
	return cells
}

// one runs a plan and prints its outcome.
func (s *schedules) one(ctx context.Context, cell crash.Cell) error {
	options := s.options
	options.Name = fmt.Sprintf("s%d", rand.Uint64N(1e12)) // a real broker still has the topics of the last run
	options.Dir = filepath.Join(s.dir, strings.NewReplacer(" ", "-", "/", "-").Replace(cell.Name))
	if err := os.MkdirAll(options.Dir, 0o700); err != nil {
		return err
	}
	result, err := crash.Run(ctx, cell.Plan, options)
	if err != nil {
		return fmt.Errorf("%s, log in %s: %w", cell.Name, options.Dir, err)
	}
	result.Faults = append(result.Faults, cell.Missed(result, options.Dir)...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total.add(cell.Name, result)
	fmt.Printf("%s: %s, %d failpoints hit, actions %v, %d duplicate rows, %v\n",
		cell.Name, verdict(result), sum(result.Hits), result.Done, result.Duplicates, result.Took.Round(10*time.Millisecond))
	for _, fault := range result.Faults {
		fmt.Println("  ", fault)
	}
	if len(result.Faults) > 0 {
		fmt.Println("   logs and data are in", options.Dir)
		return nil
	}
	if s.keep {
		return nil
	}
	return os.RemoveAll(options.Dir)
}

func verdict(r *crash.Result) string {
	if len(r.Faults) > 0 {
		return "FAILED"
	}
	return "ok"
}

func sum(counts map[string]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}

func (t *totals) add(name string, r *crash.Result) {
	t.schedules++
	if len(r.Faults) > 0 {
		t.failed++
		t.failedNames = append(t.failedNames, name)
	}
	if r.Duplicates > 0 {
		t.duplicates++
	}
	if r.Mixed > 0 {
		t.mixed++
	}
	t.nudges += r.Nudges
	t.unfinished += r.Unfinished
	t.rows += r.Rows
	t.letters += r.Letters
	t.models += r.Models
	t.sets += r.Sets
	for trigger, n := range r.Hits {
		point, rest, _ := strings.Cut(trigger, "@")
		_, action, _ := strings.Cut(rest, "=")
		t.hits[point+" "+action] += n
	}
	for act, n := range r.Done {
		t.done[act] += n
	}
}

func (t *totals) print(took time.Duration) {
	fmt.Printf("\n%d schedules in %v, %d failed; %d had duplicate rows, %d messages of two sets; %d rows of input, %d dead letters; computed again: %d feature sets, %d models\n",
		t.schedules, took.Round(time.Second), t.failed, t.duplicates, t.mixed, t.rows, t.letters, t.sets, t.models)
	fmt.Printf("actions: %v; ends with work in hand: %d; nudges of the embedded broker: %d\nfailpoints hit:\n", t.done, t.unfinished, t.nudges)
	var names []string
	for name := range t.hits {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Printf("  %-24s %d\n", name, t.hits[name])
	}
}
