package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/train"
	"github.com/eerf-stream/eerf/training"
)

// backtestFlags are the flags of `trainer backtest`.
type backtestFlags struct {
	config       cli.ConfigFlags
	files        cli.FileFlags
	exploration  cli.SettingFlags
	data, out    string
	time         string
	first, every int64
	json         bool
}

func newBacktest() *cobra.Command {
	f := &backtestFlags{}
	c := &cobra.Command{
		Use:   "backtest",
		Short: "Process a file as a stream would be: predict each row, then learn from it",
		Long: `backtest takes the rows of a file in order, the oldest first. It explores the first rows for a feature set,
and then processes the others as a stream: the newest model predicts each row before anything learns from it. It does
so with forgetting and without (train.forget), and prints the errors next to those of a constant: the live errors that
a stream of these rows would have had, and the gain of forgetting.

--time names a column by which the rows must be in order; without it the order of the file counts.`,
		Example: `  trainer backtest --data rows.csv --label churned
  trainer backtest --data rows.parquet --label demand --time hour --every 500 --out curve.csv`,
		Args: cobra.NoArgs,
	}
	f.config.Add(c)
	flags := c.Flags()
	flags.StringVar(&f.data, "data", "", "file of labelled rows, the oldest first (required)")
	flags.StringVar(&f.time, "time", "", "column by which the rows must be in order; it is not used as a feature")
	flags.Int64Var(&f.first, "first", 5000, "rows at the beginning that are explored and learned from but not predicted")
	flags.Int64Var(&f.every, "every", 1000, "rows between two models")
	flags.StringVar(&f.out, "out", "", "CSV file for the errors of each interval")
	f.files.Add(c)
	f.exploration.AddExploration(c)
	cli.JSONFlag(c, &f.json)
	c.RunE = func(c *cobra.Command, _ []string) error { return f.run(c) }
	return c
}

func (f *backtestFlags) run(c *cobra.Command) error {
	if f.data == "" {
		return cli.Usagef("--data, a file of labelled rows, is required")
	}
	if f.first <= 0 || f.every <= 0 {
		return cli.Usagef("--first %d, --every %d: both must be above 0", f.first, f.every)
	}
	if err := cli.CheckOut(f.out, f.data); err != nil {
		return err
	}
	loaded, err := f.config.Load(nil, f.exploration.Overrides())
	if err != nil {
		return err
	}
	bar := cli.NewProgress(c, f.json)
	defer bar.Done()
	done, err := f.backtest(c.Context(), loaded, bar)
	bar.Done()
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := writeCurve(f.out, done.Backtested); err != nil {
			return err
		}
	}
	return cli.Print(c, f.json, done, f.print)
}

// backtestSummary is the result of a backtest, with notes for the user.
type backtestSummary struct {
	*offline.Backtested
	Warnings []string `json:"warnings,omitempty"`
}

func (f *backtestFlags) backtest(
	ctx context.Context,
	loaded *config.Config,
	bar *cli.Progress,
) (*backtestSummary, error) {
	file, err := f.files.Open(f.data, 0, bar)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	done := &backtestSummary{}
	if f.time != "" {
		done.Warnings = append(done.Warnings,
			fmt.Sprintf("column %q gives the order of the rows (--time) and is no feature", f.time))
		loaded.Stages.Events.Exclude = append(loaded.Stages.Events.Exclude, f.time)
		if err := offline.InOrder(ctx, f.time, file.Rows("checking the order of "+f.data)); err != nil {
			return nil, fmt.Errorf("--time %s: %w", f.time, err)
		}
	}
	later := &train.FileSplit{
		Rule:    wire.Split{By: wire.SplitTime},
		HeldOut: func(row int64) bool { return row >= f.first },
	}
	found, err := file.Explore(ctx, loaded, later)
	if err != nil {
		return nil, err
	}
	b := offline.Backtest{Set: found.Set, Train: loaded.Stages.Train, Skip: f.first, Every: f.every}
	b.Train.MinRows = min(b.Train.MinRows, f.first/2)
	done.Backtested, err = b.Run(ctx, file.Rows("backtesting "+f.data))
	if errors.Is(err, offline.ErrNothingCompared) {
		return nil, fmt.Errorf("%w; set --first below %d", err, f.first)
	}
	if err != nil {
		return nil, err
	}
	for _, warning := range found.Report.Warnings {
		if done.All.Forgets.UnknownClassRows == 0 || warning != found.Report.ClassNote {
			done.Warnings = append(done.Warnings, warning)
		}
	}
	done.Warnings = append(done.Warnings, unseenNotes(done.All.Forgets.UnknownClassRows, done.UnseenClasses,
		found.Set.Encoder.Label.Classes, fmt.Sprintf("every prediction for them counts as wrong. "+
			"Raise --first (%d) or list events.classes to learn them", f.first))...)
	return done, nil
}

// shownIntervals is the approximate number of lines of the table.
const shownIntervals = 20

func (f *backtestFlags) print(w io.Writer, done *backtestSummary) {
	all, by := done.All, judgeOf(done.Backtested)
	measure, _, _ := by.figures(all.Forgets)
	fmt.Fprintf(w, "%s of the rows of each interval:\n", training.MeasureTitle(measure))
	t := cli.NewTable(w, "", "up to row", "forgets", "never forgets", "a constant", "half-life")
	step := max(1, len(done.Intervals)/shownIntervals)
	for i := step - 1; i < len(done.Intervals); i += step {
		at := done.Intervals[i]
		t.AppendRow([]any{
			at.Rows,
			by.text(at.Forgets),
			by.text(at.Never),
			by.constant(at.Forgets),
			halfLifeText(at.HalfLife),
		})
	}
	t.Render()
	fmt.Fprintf(w, "%d rows predicted before anything learned from them, with a new model every %d rows\n",
		all.Forgets.Rows, f.every)
	fmt.Fprintf(w, "%s: %s with forgetting, %s without, a constant %s\n", training.MeasureTitle(measure),
		by.text(all.Forgets), by.text(all.Never), by.constant(all.Forgets))
	if all.Forgets.RMSE == nil && measure != training.MeasureMisclassification {
		fmt.Fprintf(w, "misclassification: %s %% with forgetting, %s %% without, a constant %s %%\n",
			figure(all.Forgets.Error), figure(all.Never.Error), figure(all.Forgets.ConstantError))
	}
	if a, b := all.Forgets.AUC, all.Never.AUC; a != nil && b != nil {
		fmt.Fprintf(w, "AUC: %.3f with forgetting, %.3f without, a constant 0.500\n", *a, *b)
	}
	fmt.Fprintf(w, "processor time: %s with forgetting, %s without, featurizing included\n",
		seconds(done.ForgetsSeconds), seconds(done.NeverSeconds))
	cli.WriteNotes(w, done.Warnings)
	if f.out != "" {
		fmt.Fprintf(w, "errors of each interval written to %s\n", f.out)
	}
}

func figure(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Millisecond).String()
}

func halfLifeText(h float64) string {
	if h == 0 {
		return "none"
	}
	return fmt.Sprintf("%.0f rows", h)
}

// judge chooses the measure by which a backtest is judged. Only the misclassification contains rows
// of classes that the feature set does not know.
type judge struct{ unknownClasses bool }

func judgeOf(done *offline.Backtested) judge { return judge{done.All.Forgets.UnknownClassRows > 0} }

// figures returns the measure with its value and a constant's.
func (j judge) figures(f *live.Figures) (measure string, value, constant float64) {
	switch {
	case f.RMSE != nil:
		return training.MeasureUnexplainedVariance, f.Error, f.ConstantError
	case f.Measure == wire.LiveLogLoss && f.Constant != nil && !j.unknownClasses:
		return training.MeasureLogLoss, f.Loss, *f.Constant
	}
	return training.MeasureMisclassification, f.Error, f.ConstantError
}

func (j judge) text(f *live.Figures) string {
	measure, value, _ := j.figures(f)
	return training.MeasureText(measure, value)
}

func (j judge) constant(f *live.Figures) string {
	measure, _, constant := j.figures(f)
	return training.MeasureText(measure, constant)
}

// cell returns the value of the measure for a file.
func (j judge) cell(f *live.Figures) string {
	_, value, _ := j.figures(f)
	return strconv.FormatFloat(value, 'f', 4, 64)
}

// writeCurve writes the intervals as CSV.
func writeCurve(name string, done *offline.Backtested) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w, by := csv.NewWriter(file), judgeOf(done)
	lines := [][]string{{"row", "rows", "forgets", "never_forgets", "constant", "half_life"}}
	for _, at := range done.Intervals {
		_, _, constant := by.figures(at.Forgets)
		lines = append(lines, []string{
			strconv.FormatInt(at.Rows, 10),
			strconv.FormatInt(at.Forgets.Rows, 10),
			by.cell(at.Forgets),
			by.cell(at.Never),
			strconv.FormatFloat(constant, 'f', 4, 64),
			figure(at.HalfLife),
		})
	}
	return w.WriteAll(lines)
}
