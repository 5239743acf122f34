package datasets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
)

func TestEncoderIsLearnedWithoutTestRows(t *testing.T) {
	d := table(t, encoder.TaskRegression, "x,c,y\n1,a,10\n3,b,20\n5,a,60\n", "x,c,y\n7,c,1000\n")
	if !d.Fixed() || d.Rows() != 4 || d.Name() != "rows" {
		t.Fatalf("fixed %v, %d rows", d.Fixed(), d.Rows())
	}
	s, err := d.Split(SplitOptions{Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	standard := func(v float64) float32 { return float32((v - 3) / math.Sqrt(8./3)) }
	if want := []float32{standard(1), 1, 0, 0, 0, 1, standard(5), 1, 0}; !slices.Equal(s.Train.X, want) {
		t.Errorf("training rows %v, want %v", s.Train.X, want)
	}
	if want := []float32{standard(7), 0, 0}; !slices.Equal(s.Test.X, want) {
		t.Errorf("test row %v, want %v", s.Test.X, want)
	}
	if !slices.Equal(s.Train.Y, []float32{-20, -10, 30}) || !slices.Equal(s.Test.Y, []float32{970}) ||
		s.Encoder.Label.Mean[0] != 30 {
		t.Errorf("labels %v and %v, mean %v", s.Train.Y, s.Test.Y, s.Encoder.Label.Mean)
	}
	if targets := s.Test.Targets(); targets.Outputs != 1 || !slices.Equal(targets.Values, s.Test.Y) {
		t.Errorf("targets %+v", targets)
	}
}

func TestClassesAreNumbersAndCodedForScores(t *testing.T) {
	two := table(t, encoder.TaskAuto, "x,y\n1,no\n2,yes\n3,yes\n", "x,y\n4,no\n5,perhaps\n6,yes\n")
	s, err := two.Split(SplitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Train.Task != scoring.Binary || s.Train.Classes != 2 || !slices.Equal(s.Train.Class, []int32{0, 1, 1}) {
		t.Errorf("%+v", s.Train)
	}
	if targets := s.Train.Targets(); targets.Outputs != 1 || !slices.Equal(targets.Values, []float32{-1, 1, 1}) {
		t.Errorf("targets %+v", targets)
	}
	if !slices.Equal(s.Test.Class, []int32{0, 1}) || s.TestLeftOut != (LeftOut{UnknownClass: 1}) ||
		!slices.Equal(s.TestUnknown, []encoder.ClassRows{{Class: "perhaps", Rows: 1}}) {
		t.Errorf("test %v, left out %+v, of classes %v", s.Test.Class, s.TestLeftOut, s.TestUnknown)
	}
	three := table(t, encoder.TaskClassification, "x,y\n1,7\n2,9\n3,8\n", "x,y\n4,9\n")
	if s, err = three.Split(SplitOptions{}); err != nil {
		t.Fatal(err)
	}
	targets := s.Train.Targets()
	if s.Train.Task != scoring.MultiClass || targets.Outputs != 3 || !slices.Equal(targets.Class, []int32{0, 2, 1}) ||
		s.Train.Y != nil {
		t.Errorf("%+v", s.Train)
	}
}

func TestFaultyRowsAreLeftOutAndCounted(t *testing.T) {
	d := table(t, encoder.TaskRegression, "x,y\n1.5,1\ninf,2\n3,\n4,4\n", "x,y\n1,1\ninf,\n-inf,2\n")
	s, err := d.Split(SplitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Train.N != 2 || s.TrainLeftOut != (LeftOut{Unlabelled: 1, Rejected: 1}) || len(s.Train.X) != 2 ||
		len(s.Train.Y) != 2 {
		t.Errorf("%+v, left out %+v", s.Train, s.TrainLeftOut)
	}
	if s.Test.N != 1 || s.TestLeftOut != (LeftOut{Unlabelled: 1, Rejected: 1}) {
		t.Errorf("%+v, left out %+v", s.Test, s.TestLeftOut)
	}
}

// numbered are rows whose labels are their numbers.
func numbered(n int) string {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%g,%d\n", float64(i%7)+0.5, i)
	}
	return b.String()
}

// rowNumbers are the labels of a part, which are its rows' numbers.
func rowNumbers(s *Split, d *Data) []int {
	var all []int
	for _, y := range d.Y {
		all = append(all, int(math.Round(float64(y)+s.Encoder.Label.Mean[0])))
	}
	return all
}

func TestSeedsChooseTheTestRows(t *testing.T) {
	const rows = 101
	d := table(t, encoder.TaskRegression, numbered(rows), "")
	seen := map[string]bool{}
	hits := make([]int, rows)
	for seed := range uint64(30) {
		s, err := d.Split(SplitOptions{Seed: seed, TestFraction: 0.33})
		if err != nil {
			t.Fatal(err)
		}
		again, err := d.Split(SplitOptions{Seed: seed, TestFraction: 0.33})
		if err != nil || !slices.Equal(again.Train.X, s.Train.X) || !slices.Equal(again.Test.Y, s.Test.Y) {
			t.Fatalf("seed %d: another split the second time, %v", seed, err)
		}
		train, test := rowNumbers(s, s.Train), rowNumbers(s, s.Test)
		if len(test) != 33 || !slices.IsSorted(train) || !slices.IsSorted(test) {
			t.Fatalf("seed %d: %d test rows %v", seed, len(test), test)
		}
		all := append(append([]int(nil), train...), test...)
		slices.Sort(all)
		for i, row := range all {
			if i != row {
				t.Fatalf("seed %d: row %d is in no part or in both", seed, i)
			}
		}
		for _, row := range test {
			hits[row]++
		}
		seen[fmt.Sprint(test)] = true
	}
	if len(seen) != 30 {
		t.Errorf("%d different splits of 30 seeds", len(seen))
	}
	if slices.Min(hits) == 0 || slices.Max(hits) > 25 { // each is binomial(30, 0.33): about 10 ± 2.6
		t.Errorf("rows were chosen %d to %d times of 30", slices.Min(hits), slices.Max(hits))
	}
}

// If rows are sorted by class and split by the seed, every part knows every class.
func TestClassesIncludeAllRows(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("x,y\n")
	for i := range 40 {
		fmt.Fprintf(&rows, "%d,%c\n", i, 'a'+i/10)
	}
	rows.WriteString("41,z\n")
	d := table(t, encoder.TaskAuto, rows.String(), "")
	for seed := range uint64(8) {
		s, err := d.Split(SplitOptions{TestFraction: 0.5, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Encoder.Label.Classes; !slices.Equal(got, []string{"a", "b", "c", "d", "z"}) ||
			s.TrainLeftOut.Unlabelled+s.TestLeftOut.Unlabelled > 0 {
			t.Errorf("seed %d: classes %v, left out %+v and %+v", seed, got, s.TrainLeftOut, s.TestLeftOut)
		}
	}
}

func TestUnusableTablesAreErrors(t *testing.T) {
	for _, c := range []struct {
		train, test, task, says string
		o                       SplitOptions
	}{
		{numbered(5), "", "", "test fraction 0 is not between", SplitOptions{}},
		{numbered(5), "", "", "test fraction 1 is not between", SplitOptions{TestFraction: 1}},
		{numbered(5), "", "", "test fraction NaN is not between", SplitOptions{TestFraction: math.NaN()}},
		{numbered(5), "", "", "test rows: no usable row", SplitOptions{TestFraction: 0.01}},
		{numbered(5), "", "", "no calibration rows", SplitOptions{TestFraction: 0.99}},
		{numbered(5), "x,y\ninf,1\n", "", "test rows: no usable row", SplitOptions{}},
		{numbered(5), "x,y\n1,1\n", "", `standardize "some"`, SplitOptions{Standardize: "some"}},
		{
			"x,y\n1,1\n2,1\n", "x,y\n1,1\n", encoder.TaskClassification,
			`label "y" has one value (1) in all 2 labelled rows: set events.label`, SplitOptions{},
		},
		{"x,y\n1,7\n2,7\n", "", "", `label "y" has one value (7)`, SplitOptions{TestFraction: 0.5}},
		{"x,z\n1,1\n2,1\n", "x,y\n1,1\n", "", `label column "y" is in none`, SplitOptions{}},
		{"x,y\n1,1\n2,3\n", "z,y\n1,1\n", "", `column "x" is missing`, SplitOptions{}},
		{"y,w\n1,\n2,\n", "y,w\n1,\n", "", "no feature columns remain", SplitOptions{}},
	} {
		_, err := table(t, c.task, c.train, c.test).Split(c.o)
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "split rows: ") {
			t.Errorf("%q, %q: %v, want %q", c.train, c.test, err, c.says)
		}
	}
}

func TestTablesThatCannotBeRead(t *testing.T) {
	o := encoder.Options{Label: []string{"y"}}
	for _, c := range []struct {
		train, test, says string
		o                 encoder.Options
	}{
		{numbered(3), "", "no label column", encoder.Options{}},
		{"x,y\n", "", "no rows", o},
		{numbered(3), "x,y\n", "no test rows", o},
		{"x,y\n1,2\n1\n", "", "line 3", o},
	} {
		var test func() (RowReader, error)
		if c.test != "" {
			test = csv(t, c.test)
		}
		if _, err := ReadTable(t.Context(), "rows", c.o, csv(t, c.train), test); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.train, err, c.says)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadTable(ctx, "rows", o, csv(t, numbered(3)), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}

func TestEncodedRowsBeyondMemoryAreRefused(t *testing.T) {
	d := table(t, encoder.TaskRegression, numbered(3), "")
	_, err := d.encode(&encoder.Encoder{Dim: 1 << 16}, [][]int32{make([]int32, 1<<17)}, nil)
	if err == nil || !strings.Contains(err.Error(),
		"131072 rows of 65536 dimensions need 32768 MiB, more than the limit of 16384 MiB") {
		t.Error(err)
	}
}
