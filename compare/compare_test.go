package compare

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/scoring"
)

// run compares on generated rows.
func run(t *testing.T, source Source, o Options) *Result {
	t.Helper()
	r, err := Run(t.Context(), "made", source, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if failed := r.Failures(); failed != nil {
		t.Fatal(failed)
	}
	return r
}

// line is the line of a method in the last table.
func line(t *testing.T, r *Result, method string) Line {
	t.Helper()
	table := r.Tables[len(r.Tables)-1]
	for _, l := range table.Lines {
		if l.Method == method {
			return l
		}
	}
	t.Fatalf("no line of %s in %+v", method, table)
	return Line{}
}

func TestEveryMethodOnEveryTask(t *testing.T) {
	for _, source := range []made{
		{task: scoring.Regression, rows: 210, fixed: true}, {task: scoring.Binary, rows: 210, fixed: true}, {
			task:    scoring.MultiClass,
			rows:    210,
			classes: 4,
		},
	} {
		t.Run(source.task.String(), func(t *testing.T) {
			o := quick()
			o.Methods, _ = Fitting(o)
			o.Features = []int{3, 5}
			o.Candidates = 60
			o.Repeats = 2
			r := run(t, source, o)
			if len(r.Tables) != 2 || len(r.Runs) != 2*2*len(o.Methods) || !r.Complete {
				t.Fatalf("%d tables and %d runs", len(r.Tables), len(r.Runs))
			}
			for _, m := range r.Runs {
				if !(m.Error > 0 && m.Error < 300) || m.Preprocess < 0 || m.Train <= 0 || m.Test <= 0 || math.IsInf(m.Lambda, 0) {
					t.Errorf("measurement %+v", m)
				}
				if (m.Measures.UnexplainedVariance != nil) != (source.task == scoring.Regression) {
					t.Errorf("%s has unexplained variance %v", source.task, m.Measures.UnexplainedVariance)
				}
			}
			for _, table := range r.Tables {
				if len(table.Lines) != len(o.Methods) || !(table.Constant > 0) {
					t.Errorf("table %+v", table)
				}
				for _, l := range table.Lines {
					if (l.Difference == nil) != (l.Method == Plain) {
						t.Errorf("line %+v", l)
					}
				}
			}
		})
	}
}

func TestSelectionBeatsPlainWhereFrequenciesMatter(t *testing.T) {
	o := quick()
	o.Methods, o.Features = []string{"correlation", "linear"}, []int{24}
	r := run(t, made{task: scoring.Regression, rows: 1500}, o)
	l := line(t, r, "correlation")
	if d := l.Difference; d.Mean >= 0 || !d.Clear() {
		t.Errorf("correlation is not better than plain features: %+v", l)
	}
	if linear := line(t, r, "linear"); linear.Features != madeDim || linear.Error.Mean < 80 {
		t.Errorf("the linear model explains cosines: %+v", linear)
	}
}

// same returns the result without its times.
func same(t *testing.T, r *Result) string {
	t.Helper()
	for i := range r.Runs {
		r.Runs[i].RowMicroseconds = 0
		r.Runs[i].Preprocess = 0
		r.Runs[i].Train = 0
		r.Runs[i].Test = 0
	}
	for _, table := range r.Tables {
		for i := range table.Lines {
			table.Lines[i].Preprocess = 0
			table.Lines[i].Train = 0
			table.Lines[i].Test = 0
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestResultsDependOnlyOnRowsOptionsAndSeed(t *testing.T) {
	o := quick()
	o.Methods, _ = Fitting(o)
	o.Features = []int{4}
	o.Candidates = 60
	o.Repeats = 2
	source := made{task: scoring.MultiClass, rows: 250, classes: 3}
	first := same(t, run(t, source, o))
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	if again := same(t, run(t, source, o)); again != first {
		t.Errorf("on one processor:\n%s\non %d:\n%s", again, before, first)
	}
}

func TestMethodsDoNotInfluenceEachOther(t *testing.T) {
	o := quick()
	o.Repeats, o.Methods = 1, []string{"correlation", "linear", "energy"}
	source := made{task: scoring.Binary, rows: 600}
	all := run(t, source, o)
	o.Methods = []string{"energy"}
	alone := run(t, source, o)
	if a, b := line(t, all, "energy"), line(t, alone, "energy"); a.Error != b.Error {
		t.Errorf("energy has error %v in company and %v alone", a.Error, b.Error)
	}
	if alone.Options.Methods[0] != Plain {
		t.Errorf("methods %v lack plain features", alone.Options.Methods)
	}
}

func TestInterruptKeepsFinishedMeasurements(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Run(ctx, "made", made{task: scoring.Regression, rows: 600}, quick(), func(_ string, done, total int64) {
		if done == total/2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || r == nil || r.Complete {
		t.Fatalf("result %+v, error %v", r, err)
	}
	if n := len(r.Runs); n == 0 || n >= 3*2*5 || len(r.Failures()) > 0 {
		t.Errorf("%d runs, failures %v", n, r.Failures())
	}
	if l := r.Tables[0].Lines[0]; l.Repeats == 0 || l.Repeats == 3 {
		t.Errorf("line %+v", l)
	}
}

func TestFaultyOptions(t *testing.T) {
	for says, change := range map[string]func(o *Options){
		"--features [8 8]":             func(o *Options) { o.Features = []int{8, 8} },
		"--features is empty":          func(o *Options) { o.Features = nil },
		"--candidates 20: expected at": func(o *Options) { o.Candidates = 20 },
		"--members 9: expected":        func(o *Options) { o.Members = 9 },
		"--sample-rows -1":             func(o *Options) { o.SampleRows = -1 },
		"criterion adaptive is for the": func(o *Options) {
			o.Methods, o.Map = []string{"adaptive-refined"}, scoring.MapArcCosine1
		},
		"--sample 0":                  func(o *Options) { o.Sample = 0 },
		"--repeats 0":                 func(o *Options) { o.Repeats = 0 },
		"--test-fraction 1":           func(o *Options) { o.TestFraction = 1 },
		"--held-out NaN":              func(o *Options) { o.HeldOut = math.NaN() },
		"--sigma -1":                  func(o *Options) { o.Sigma = -1 },
		"--loss hinge":                func(o *Options) { o.Loss = "hinge" },
		`unknown method "best"`:       func(o *Options) { o.Methods = []string{"best"} },
		"names energy twice":          func(o *Options) { o.Methods = []string{"energy", "energy"} },
		"features of the arccos1 map": func(o *Options) { o.Map = scoring.MapArcCosine1 },
		"does not support distribution": func(o *Options) {
			o.Map = scoring.MapArcCosine1
			o.Distribution = scoring.Cauchy
			o.Methods = nil
		},
		"--features 24: the linear map": func(o *Options) { o.Map, o.Methods = scoring.MapLinear, nil },
	} {
		o := quick()
		change(&o)
		r, err := Run(t.Context(), "made", made{task: scoring.Regression, rows: 300}, o, nil)
		var fault *OptionsError
		if r != nil || !errors.As(err, &fault) || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one that says %q", err, says)
		}
	}
}

// Of the cosine map TestEveryMethodOnEveryTask shows it.
func TestEveryMapWorks(t *testing.T) {
	for _, m := range []scoring.Map{
		scoring.MapArcCosine0, scoring.MapArcCosine1, scoring.MapArcCosine2, scoring.MapLinear,
	} {
		o := quick()
		o.Map = m
		o.Repeats = 1
		o.Features = []int{4}
		o.Candidates = 60
		o.Methods, _ = Fitting(o)
		r := run(t, made{task: scoring.Regression, rows: 400}, o)
		if m == scoring.MapLinear &&
			(r.Data.Candidates != madeDim || !strings.Contains(strings.Join(r.Notes, ";"), "lowered to 5")) {
			t.Errorf("%d candidates, notes %v", r.Data.Candidates, r.Notes)
		}
	}
}

// twisted changes the rows of another source.
type twisted struct {
	made
	twist func(s *datasets.Split)
}

func (w twisted) Split(o datasets.SplitOptions) (*datasets.Split, error) {
	s, err := w.made.Split(o)
	if err == nil {
		w.twist(s)
	}
	return s, err
}

func TestAwkwardRows(t *testing.T) {
	rows := made{task: scoring.Binary, rows: 300}
	set := func(v int32) func(s *datasets.Split) {
		return func(s *datasets.Split) {
			for i := range s.Train.Class {
				s.Train.Class[i] = v
			}
		}
	}
	for _, source := range []twisted{
		{rows, set(1)}, {rows, func(s *datasets.Split) { s.Test.N, s.Test.X, s.Test.Class = 0, nil, nil }},
	} {
		if r, err := Run(t.Context(), "made", source, quick(), nil); r != nil || err == nil {
			t.Errorf("result %v, error %v, want an error alone", r, err)
		}
	}
	o := quick()
	o.Features = []int{60, 250}
	o.Candidates = 400
	o.Repeats = 1
	constant := func(s *datasets.Split) { // columns that never vary, and fewer rows than features
		for i := range s.Train.X {
			if i%madeDim < 3 {
				s.Train.X[i] = 1
			}
		}
	}
	r := run(t, twisted{made{task: scoring.Regression, rows: 200}, constant}, o)
	if !strings.Contains(strings.Join(r.Notes, ";"), "fewer training rows") {
		t.Errorf("notes %v", r.Notes)
	}
	for _, m := range r.Runs {
		if math.IsNaN(m.Error) || math.IsInf(m.Error, 0) {
			t.Errorf("measurement %+v", m)
		}
	}
}

// A linear model gets outliers without logarithms, unlike random features.
func TestTheLinearModelIsNotClipped(t *testing.T) {
	tails := func(s *datasets.Split) {
		s.Encoder.Clip = 5
		s.Encoder.Tail = encoder.TailLog
		s.Encoder.Dim = madeDim
		for range madeDim {
			s.Encoder.Columns = append(s.Encoder.Columns, encoder.Column{
				Kind:  encoder.Numeric,
				Width: 1,
				Mean:  []float64{0},
				Scale: []float64{1},
			})
		}
		for _, d := range []*datasets.Data{s.Train, s.Test} {
			for i := range d.N {
				x := &d.X[i*madeDim]
				if i%10 == 0 {
					*x *= 40
				}
				d.Y[i] = *x
				if z := float64(*x); math.Abs(z) > 5 {
					*x = float32(math.Copysign(5*(1+math.Log(math.Abs(z)/5)), z))
				}
			}
		}
	}
	o := quick()
	o.Methods = []string{"linear"}
	o.Features = []int{20}
	o.Repeats = 1
	r := run(t, twisted{made{task: scoring.Regression, rows: 600}, tails}, o)
	if l := line(t, r, "linear"); l.Error.Mean > 1e-6 {
		t.Errorf("%v %% unexplained of a linear label", l.Error.Mean)
	}
}

func TestFailedMethodDoesNotStopOthers(t *testing.T) {
	o := quick()
	o.Repeats, o.Sample = 1, 0.01
	oneClass := func(s *datasets.Split) { // labels are constant among the scored rows, but not beyond
		for _, i := range firstByHash(o.Seed, s.Train.N, minSample, heldOutRows(o.Seed, s.Train.Identities(), o.HeldOut)) {
			s.Train.Class[i] = 0
		}
	}
	r, err := Run(t.Context(), "made", twisted{made{task: scoring.Binary, rows: 600}, oneClass}, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := r.Failures()
	if len(failed) != 4 || !strings.Contains(failed[0], "labels are constant over the 50 rows") &&
		!strings.Contains(failed[0], "constant") {
		t.Errorf("failures %q", failed)
	}
	if l := line(t, r, "plain-tuned"); l.Repeats != 1 {
		t.Errorf("plain-tuned: %+v", l)
	}
}
