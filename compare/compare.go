package compare

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/training"
)

// Source provides the rows of each repeat; [datasets.Table] implements it.
type Source interface {
	// Fixed reports whether the source has its own test rows, the same for every seed.
	Fixed() bool
	// Split returns the encoded rows of a repeat.
	Split(o datasets.SplitOptions) (*datasets.Split, error)
}

// Progress is called with the next step and the number of steps done.
type Progress func(what string, done, total int64)

// Run compares the methods on the rows of a source; the result calls them name. When ctx ends, it
// returns the measurements so far with the error of ctx; other errors come without a result. A
// method that fails in a repeat does not stop the others: see [Line.Failure] and [Result.Failures].
func Run(ctx context.Context, name string, source Source, o Options, progress Progress) (*Result, error) {
	o.Methods = withPlain(o.Methods)
	if err := o.Validate(); err != nil {
		return nil, err
	}
	c := newComparison(name, source, o, progress)
	for number := range o.Repeats {
		if err := c.repeat(ctx, number); err != nil {
			if ctx.Err() == nil {
				return nil, fmt.Errorf("repeat %d: %w", number, err)
			}
			break
		}
	}
	c.finish()
	c.result.Complete = ctx.Err() == nil
	return c.result, ctx.Err()
}

// withPlain adds plain features in front if they were not requested.
func withPlain(methods []string) []string {
	if slices.Contains(methods, Plain) {
		return methods
	}
	return slices.Concat([]string{Plain}, methods)
}

// comparison is one call of Run.
type comparison struct {
	options  Options
	methods  []*Method
	source   Source
	progress Progress
	result   *Result

	cells    map[cellKey]*cell
	constant *cell
	split    *datasets.Split
	done     int64
}

type cellKey struct {
	method string
	m      int
}

func newComparison(name string, source Source, o Options, progress Progress) *comparison {
	c := &comparison{
		options: o, source: source, progress: progress, cells: make(map[cellKey]*cell),
		constant: &cell{fixed: source.Fixed()},
		result:   &Result{Data: Facts{Name: name, FixedSplit: source.Fixed()}, Options: o},
	}
	for _, name := range o.Methods {
		method, _ := o.Lookup(name) // Validate has checked the name
		c.methods = append(c.methods, method)
	}
	return c
}

// repeat runs every method at every M on the rows of one repeat.
func (c *comparison) repeat(ctx context.Context, number int) error {
	split, err := c.rows(number)
	if err != nil {
		return err
	}
	r, err := newRepeat(c.options, number, split)
	if err != nil {
		return err
	}
	c.note(r, split)
	for _, m := range c.options.Features {
		for _, method := range c.methods {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.try(ctx, r, method, m)
		}
	}
	return nil
}

// rows returns the split of a repeat; all repeats share a fixed split.
func (c *comparison) rows(number int) (*datasets.Split, error) {
	if c.split != nil && c.source.Fixed() {
		return c.split, nil
	}
	c.show("splitting and encoding")
	split, err := c.source.Split(datasets.SplitOptions{
		Seed: c.options.Seed + uint64(number), TestFraction: c.options.TestFraction,
		Standardize: c.options.Standardize, Clip: c.options.Clip,
	})
	if err != nil {
		return nil, err
	}
	c.split = split
	return split, nil
}

// try runs a method at one M.
func (c *comparison) try(ctx context.Context, r *repeat, method *Method, m int) {
	c.show(fmt.Sprintf("%s, M = %d, repeat %d of %d", method.Name, m, r.number+1, c.options.Repeats))
	if run, errors := r.try(ctx, method, m); ctx.Err() == nil {
		c.result.Runs = append(c.result.Runs, run)
		of := c.cell(method.Name, m)
		of.overlap = r.overlap()
		of.add(run, errors)
	}
	c.done++
}

func (c *comparison) cell(method string, m int) *cell {
	key := cellKey{method, m}
	if c.cells[key] == nil {
		c.cells[key] = &cell{fixed: c.source.Fixed()}
	}
	return c.cells[key]
}

func (c *comparison) show(what string) {
	if c.progress != nil {
		c.progress(what, c.done, int64(c.options.Repeats*len(c.options.Features)*len(c.methods)))
	}
}

// note records the warnings of a repeat.
func (c *comparison) note(r *repeat, split *datasets.Split) {
	constant := r.constant()
	c.constant.overlap = r.overlap()
	c.constant.add(Measurement{Method: Constant, Repeat: r.number, Measures: constant.Measures}, constant)
	if r.warning != "" {
		c.say("repeat %d: %s", r.number, r.warning)
	}
	if r.number > 0 {
		return
	}
	c.result.Metric = training.MeasureTitle(r.options.Measure)
	c.result.Options.Measure = r.options.Measure
	c.result.Options.Loss = r.options.Loss
	c.describe(r, split)
}

// describe fills in the facts of the first repeat's rows.
func (c *comparison) describe(r *repeat, split *datasets.Split) {
	facts := &c.result.Data
	facts.Task = r.train.task.String()
	facts.Classes = split.Train.Classes
	facts.Outputs = r.train.outputs
	facts.TrainRows = r.train.rows
	facts.TestRows = r.test.rows
	facts.Dim = r.train.dim
	facts.SampleRows = c.options.sampleSize(r.train.rows)
	facts.Candidates = r.pool.candidates.Count
	facts.Sigma = r.pool.candidates.Sigma
	facts.Constant = split.Report.Constant
	facts.Columns = split.Report.Columns
	facts.Copies = split.Copies
	facts.Unlabelled = split.TrainLeftOut.Unlabelled + split.TestLeftOut.Unlabelled
	facts.UnknownClasses = split.TestUnknown
	facts.UnknownClassTestRows = split.TestLeftOut.UnknownClass
	facts.UnknownClass = split.TrainLeftOut.UnknownClass + facts.UnknownClassTestRows
	facts.Rejected = split.TrainLeftOut.Rejected + split.TestLeftOut.Rejected
	c.result.Telltales = split.Report.Telltales
	many, few := encoder.Notes(split.Tallies)
	c.result.Warnings = many
	c.result.Notes = slices.Concat(many, c.result.Notes, split.Report.Warnings, few)
	c.describeClasses(r)
	if wanted := int(c.options.Sample * float64(r.train.rows)); facts.SampleRows > wanted+1 {
		c.say("--sample %v of %d training rows is too few for scoring; using %d rows",
			c.options.Sample, r.train.rows, facts.SampleRows)
	}
	if n := facts.Candidates; n < c.options.Candidates {
		c.say("--candidates %d lowered to %d: the linear map has one candidate per column", c.options.Candidates, n)
	}
	if m := slices.Max(c.options.Features); m > r.train.rows {
		c.say("fewer training rows (%d) than features (%d): many models fit all rows, "+
			"and only the penalty λ decides between them",
			r.train.rows, m)
	}
}

// namedClasses bounds the classes that a note names.
const namedClasses = 5

// describeClasses names the test rows of the first repeat that no method can predict.
func (c *comparison) describeClasses(r *repeat) {
	if unknown := c.result.Data.UnknownClasses; r.unknown > 0 {
		var named []string
		for _, of := range unknown[:min(len(unknown), namedClasses)] {
			named = append(named, fmt.Sprintf("%q in %d rows", of.Class, of.Rows))
		}
		if len(unknown) > namedClasses {
			named = append(named, "and others")
		}
		c.say("%d of %d test rows have a class that is not learned: %s. They are misclassified by every method, and a log "+
			"loss does not contain them", r.unknown, r.unknown+r.test.rows, strings.Join(named, ", "))
	}
	taught, judged := map[int32]int{}, map[int32]int{}
	for _, class := range r.train.class {
		taught[class]++
	}
	for _, class := range r.test.class {
		judged[class]++
	}
	var late []string
	for _, class := range slices.Sorted(maps.Keys(judged)) {
		if taught[class] == 0 {
			name := strconv.Itoa(int(class))
			if int(class) < len(r.classNames) {
				name = r.classNames[class]
			}
			late = append(late, fmt.Sprintf("%q in %d rows", name, judged[class]))
		}
	}
	if len(late) > 0 {
		c.say("test rows have classes that no training row has, so every prediction for them is wrong: %s",
			strings.Join(late, ", "))
	}
}

func (c *comparison) say(format string, args ...any) {
	c.result.Notes = append(c.result.Notes, fmt.Sprintf(format, args...))
}

// finish makes the tables from the measurements.
func (c *comparison) finish() {
	for _, m := range c.options.Features {
		table := Table{M: m, Metric: c.result.Metric}
		if len(c.constant.runs) > 0 {
			table.Constant, table.ConstantMeasures = c.constant.error().Mean, c.constant.measures()
		}
		for _, method := range c.methods {
			if cell := c.cells[cellKey{method.Name, m}]; cell != nil && len(cell.runs) > 0 {
				table.Lines = append(table.Lines, cell.line(method.Name, c.cells[cellKey{Plain, m}]))
			}
		}
		cellOf := func(method string) *cell {
			if method == Constant {
				return c.constant
			}
			return c.cells[cellKey{method, m}]
		}
		table.judge(func(a, b string) bool { return clearlyWorse(cellOf(a), cellOf(b)) })
		c.result.Tables = append(c.result.Tables, table)
	}
}

// RowMicroseconds returns the time per test row of a method at one M in its fastest repeat, because
// other load on the machine only adds to it; +Inf if it was not measured.
func (r *Result) RowMicroseconds(method string, m int) float64 {
	least := math.Inf(1)
	for _, run := range r.Runs {
		if run.Method == method && run.M == m && run.RowMicroseconds > 0 {
			least = math.Min(least, run.RowMicroseconds)
		}
	}
	return least
}

// Failures lists the failed methods by M, each with its first reason.
func (r *Result) Failures() []string {
	var all []string
	for _, table := range r.Tables {
		for _, l := range table.Lines {
			if l.Failure != "" {
				all = append(all, fmt.Sprintf("%s at M = %d: %s", l.Method, table.M, l.Failure))
			}
		}
	}
	return all
}
