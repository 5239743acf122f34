package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// noisy returns a CSV file of rows ordered by day, with a label that depends on ten numbers and
// much noise. After the share turn of the rows, the label is the opposite.
func noisy(rows int, seed uint64, turn float64) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	b.WriteString("day,a0,a1,a2,a3,a4,a5,a6,a7,a8,a9,y\n")
	for i := range rows {
		b.WriteString(time.Date(2026, 1, 1+i/10, 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
		sum := 2 * r.NormFloat64()
		for range 10 {
			v := r.NormFloat64()
			sum += math.Cos(2 * v)
			fmt.Fprintf(&b, ",%.4f", v)
		}
		if float64(i) >= turn*float64(rows) {
			sum = -sum
		}
		fmt.Fprintf(&b, ",%.4f\n", sum)
	}
	return b.String()
}

// coins returns a CSV file of rows with twenty numbers, two of which slightly predict a class.
func coins(rows int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 8))
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "a%d,", i)
	}
	b.WriteString("y\n")
	for range rows {
		sum := 2 * r.NormFloat64()
		for i := range 20 {
			v := r.NormFloat64()
			if i < 2 {
				sum += math.Cos(2 * v)
			}
			fmt.Fprintf(&b, "%.4f,", v)
		}
		fmt.Fprintf(&b, "%t\n", sum > 0)
	}
	return b.String()
}

// After a change, errors of the last rows are larger. A file ordered by a column of dates is split
// by time.
func TestSplitByTime(t *testing.T) {
	data := clitest.File(t, "rows.csv", noisy(1000, 3, 0.8))
	measured := func(args ...string) float64 {
		_, summary := fitted(t, data,
			append([]string{"--label", "y", "--features", "20", "--refine-steps", "2", "--exclude", "day"}, args...)...)
		return summary.Number(t, "model.metrics.unexplained_variance")
	}
	random, last, byDay := measured("--split", "random"), measured("--split", "time"), measured("--time", "day")
	if last < random+20 || byDay != last {
		t.Errorf("random %.1f %%, the last rows %.1f %%, by day %.1f %%", random, last, byDay)
	}
	if auto := measured(); auto != byDay {
		t.Errorf("%.1f %% without flags, %.1f %% by day", auto, byDay)
	}
	done := tr(t, "fit", "--data", data, "--label", "y", "--features", "8").Want(t, cli.ExitOK)
	for _, want := range []string{
		`200 held-out rows that taught nothing: the last 20 % of the rows by column "day"`,
		`note: the file is sorted by "day"`,
	} {
		if !strings.Contains(done.Out, want) {
			t.Errorf("fit does not say %q:\n%s", want, done.Out)
		}
	}
}

// A split by time may leave a class to the last rows alone. Then the message names the other split.
func TestSplitByTimeThatHidesAClassIsNamed(t *testing.T) {
	rows := func(class func(day int) string) string {
		lines := []string{"day,a,y"}
		for day := range 1000 {
			date := time.Date(2020, 1, 1+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
			lines = append(lines, fmt.Sprintf("%s,%d,%s", date, day%7, class(day)))
		}
		return clitest.File(t, "rows.csv", strings.Join(lines, "\n")+"\n")
	}
	args := []string{"fit", "--label", "y", "--features", "8", "--refine-steps", "2", "--data"}
	one := rows(func(day int) string {
		if day >= 900 {
			return "yes"
		}
		return "no"
	})
	tr(t, append(args, one)...).Want(t, cli.ExitFailure, "has one value (no) in all 800", "--split random holds out")
	compare := []string{
		"compare",
		"--label",
		"y",
		"--features",
		"8",
		"--methods",
		"plain",
		"--repeats",
		"1",
		"--data",
		one,
	}
	tr(t, compare...).Want(t, cli.ExitFailure, "the label is the same in all 800 training rows",
		`the test rows are the last 20 % of the rows by column "day": --split random holds out`)
	late := rows(func(day int) string {
		if day >= 900 {
			return "later"
		}
		return []string{"no", "yes"}[day%2]
	})
	if out := words(tr(t, append(args, late)...).Want(t, cli.ExitOK).Out); !strings.Contains(out,
		"a class may occur in them alone; --split random") {
		t.Error(out)
	}
}

// A column that identifies customers or the like is suggested as the group, unless it is given or
// recurs only because rows are copied.
func TestRecurringIdentifiersAreSuggestedAsGroups(t *testing.T) {
	rows := func(id func(i int) string, copies int) string {
		r := rand.New(rand.NewPCG(5, 9))
		text := ""
		for i := range 1800 / copies {
			text += strings.Repeat(
				fmt.Sprintf("%s,%.4f,%.4f,%t\n", id(i), r.NormFloat64(), r.NormFloat64(), r.IntN(2) == 0),
				copies,
			)
		}
		return clitest.File(t, "rows.csv", "customer_id,a,b,y\n"+text)
	}
	customer := func(i int) string { return fmt.Sprintf("C%05d", i%200) }
	const note = `values of the identifier "customer_id" recur`
	commands := [][]string{
		strings.Fields("fit --label y --features 8 --refine-steps 2 --data"),
		strings.Fields("compare --label y --features 8 --repeats 1 --methods plain --data"),
	}
	for _, command := range commands {
		for data, want := range map[string]bool{
			rows(customer, 1): true,
			rows(func(i int) string { return strconv.Itoa(70000 + 3*(i%200)) }, 1): true,
			rows(func(i int) string { return fmt.Sprintf("C%05d", i) }, 1):         false,
			rows(func(i int) string { return fmt.Sprintf("C%05d", i) }, 3):         false,
		} {
			out := words(tr(t, append(command, data)...).Want(t, cli.ExitOK).Out)
			if strings.Contains(out, note) != want || want && !strings.Contains(out, "(--group customer_id)") {
				t.Errorf("%s, want a suggestion: %v\n%s", command[0], want, out)
			}
		}
		out := words(tr(t, append(command, rows(customer, 1), "--group", "customer_id")...).Want(t, cli.ExitOK).Out)
		if strings.Contains(out, note) {
			t.Errorf("%s --group customer_id:\n%s", command[0], out)
		}
	}
}

// The share of rows that equal an earlier row is reported. Copies of test rows that are given as a
// file can only be reported.
func TestCopiesAreReported(t *testing.T) {
	header, rows, _ := strings.Cut(noisy(300, 8, 1), "\n")
	fit := strings.Fields("fit --label y --features 8 --refine-steps 2 --exclude day --split random")
	compare := strings.Fields("compare --label y --features 8 --repeats 2 --methods plain --exclude day --split random")
	const note = "50 % of the rows equal an earlier row; no copy of a held-out row is trained on"
	for _, copies := range []int{1, 2} {
		data := clitest.File(t, "rows.csv", header+"\n"+strings.Repeat(rows, copies))
		for field, args := range map[string][]string{"copies": fit, "data.copies": compare} {
			args = append(args, "--data", data)
			out := words(tr(t, args...).Want(t, cli.ExitOK).Out)
			if strings.Contains(out, note) != (copies > 1) {
				t.Errorf("%d copies, %s:\n%s", copies, args[0], out)
			}
			o := tr(t, append(args, "--json")...).Want(t, cli.ExitOK).Object(t)
			if copies > 1 && o.Number(t, field) != 0.5 {
				t.Errorf("%s: %v", args[0], o.At(t, field))
			}
		}
	}
	lines := strings.SplitAfter(rows, "\n")
	args := []string{
		"compare", "--label", "y", "--features", "8", "--repeats", "2", "--methods", "plain", "--exclude", "day",
		"--data", clitest.File(t, "train.csv", header+"\n"+strings.Join(lines[:200], "")),
		"--test-file", clitest.File(t, "test.csv", header+"\n"+strings.Join(lines[175:300], "")),
	}
	out := words(tr(t, args...).Want(t, cli.ExitOK).Out)
	if !strings.Contains(out, "20 % of the test rows equal a training row") {
		t.Error(out)
	}
}

// An exploration that kept no rows for judging models leaves no rows to measure on, so no error is
// reported. By default, explorations leave such rows out, and errors are measured on them.
func TestFitReportsNoErrorOnRowsThatTaughtTheSet(t *testing.T) {
	data := clitest.File(t, "rows.csv", noisy(600, 4, 1))
	set := filepath.Join(t.TempDir(), "set.arrow")
	for heldOut, says := range map[float64]string{
		0:   "note: no error is reported, because ",
		0.2: "held-out rows that taught nothing",
	} {
		id := exploredOn(t, data, set, heldOut)
		done := tr(t, "fit", "--data", data, "--feature-set", set, "--split", "random").Want(t, cli.ExitOK)
		if strings.Contains(done.Out, "unexplained variance") != (heldOut > 0) ||
			!strings.Contains(done.Out, says) {
			t.Errorf("of set %s, explored with held-out fraction %v:\n%s", id, heldOut, done.Out)
		}
	}
}

// exploredOn writes the set that `featurizer explore` finds for a file, without this share of the
// rows.
func exploredOn(t *testing.T, data, set string, heldOut float64) (id string) {
	t.Helper()
	var flags cli.ConfigFlags
	loaded, err := flags.Load(nil, map[string]any{"events.label": "y", "exploration.features": "10"})
	if err != nil {
		t.Fatal(err)
	}
	loaded.Stages.Train.HeldOutFraction = heldOut
	var form cli.FileFlags
	file, err := form.Open(data, 0, cli.NewProgress(newFit(), true))
	if err != nil {
		t.Fatal(err)
	}
	found, err := file.Explore(t.Context(), loaded, nil)
	if err == nil {
		err = cli.WriteFeatureSet(set, found.Set)
	}
	if err != nil {
		t.Fatal(err)
	}
	return found.Set.ID()
}

func TestSplitRefusesWrongUsage(t *testing.T) {
	data := clitest.File(t, "rows.csv", noisy(300, 5, 1))
	few := clitest.File(t, "few.csv", noisy(100, 6, 1))
	model, _ := fitted(t, data, slices.Concat(fewer, []string{"--label", "y"})...)
	for args, c := range map[string]struct {
		code int
		says []string
	}{
		"fit --label y --split random --time day --data " + data: {
			cli.ExitUsage,
			[]string{"--time day requires --split time"},
		},
		"fit --label y --split last --data " + data: {
			cli.ExitUsage,
			[]string{"--split last: expected auto, random, time"},
		},
		"fit --label y --time Day --data " + data: {
			cli.ExitUsage,
			[]string{`has no column "Day" (--time)`, "a0, a1"},
		},
		"fit --label y --split time --data " + few: {
			cli.ExitFailure,
			[]string{"few.csv: too few rows to split by time", "into 80 to learn from and 20 held out"},
		},
		"fit --split time": {cli.ExitUsage, []string{"--split needs --data"}},
		"fit --split time --feature-set " + model + " --data " + data: {
			cli.ExitUsage,
			[]string{"--split: the feature set was explored on this file without the rows held out by the last 20 %"},
		},
	} {
		tr(t, strings.Fields(args)...).Want(t, c.code, c.says...)
	}
}

// A column that is the label in other units is reported.
func TestColumnThatNearlyEqualsTheLabelIsReported(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(prices(600)), "\n")
	lines[0] += ",tax"
	for i := 1; i < len(lines); i++ {
		lines[i] += "," + strconv.FormatFloat(0.035*numbers(t, []string{lines[i][strings.LastIndex(lines[i], ",")+1:]})[0],
			'f', 2, 64)
	}
	data := clitest.File(t, "rows.csv", strings.Join(lines, "\n")+"\n")
	for _, command := range []string{
		"fit --features 8 --refine-steps 2",
		"compare --methods plain --features 8 --repeats 2",
	} {
		args := append(strings.Fields(command), "--data", data, "--label", "price")
		const note = `warning: column "tax" all but equals the label (correlation 1.0000)`
		if out := words(tr(t, args...).Want(t, cli.ExitOK).Out); strings.Count(out, note) != 1 ||
			!strings.HasPrefix(out, note) || !strings.Contains(out, "--exclude") || !strings.Contains(out, " without tax: ") {
			t.Errorf("%s does not begin with %q, once, and the error without it:\n%s", command, note, out)
		}
		if out := words(tr(t, append(args, "--exclude", "tax")...).Want(t, cli.ExitOK).Out); strings.Contains(out,
			"all but equals") {
			t.Errorf("%s without the column:\n%s", command, out)
		}
	}
}

// One misspelt label does not turn two classes into three, in a comparison or a fit.
func TestOneBadLabelDoesNotChangeTheTask(t *testing.T) {
	t.Parallel()
	data := clitest.File(t, "coins.csv",
		strings.Replace(strings.NewReplacer("true", "yes", "false", "no").Replace(coins(400, 3)), "yes\n", "maybe\n", 1))
	small := []string{"--data", data, "--label", "y", "--features", "10"}
	for _, c := range []struct {
		args []string
		says string
	}{
		{append([]string{"compare", "--methods", "plain", "--candidates", "20"}, small...), "binary, "},
		{
			append([]string{"fit", "--criterion", "correlation", "--out", filepath.Join(t.TempDir(), "model.arrow")}, small...),
			"binary ",
		},
	} {
		result := clitest.Run(t, newRoot, c.args...)
		if said := words(result.Out + result.Err); result.Code != cli.ExitOK || !strings.Contains(said, c.says) ||
			!strings.Contains(said, `"maybe" in 1 row`) {
			t.Errorf("%s: exit code %d:\n%s\n%s", c.args[0], result.Code, result.Out, result.Err)
		}
	}
}

// words returns the words of a text on one line.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }
