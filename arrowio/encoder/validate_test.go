package encoder

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
)

func TestValidateNamesTheFault(t *testing.T) {
	if err := sampleEncoder().Validate(); err != nil {
		t.Fatal(err)
	}
	regression := func() *Label { return &Label{Columns: []string{"y"}, Kind: Numeric, Mean: []float64{0}} }
	classes := func(names ...string) *Label {
		l := &Label{Columns: []string{"y"}, Kind: Category, Task: scoring.MultiClass, Classes: names}
		if len(names) == 2 {
			l.Task = scoring.Binary
		}
		return l
	}
	cases := map[string]func(e *Encoder){
		"standardize \"\"":             func(e *Encoder) { e.Standardize = "" },
		"clip NaN":                     func(e *Encoder) { e.Clip = math.NaN() },
		"clip -1":                      func(e *Encoder) { e.Clip = -1 },
		"tail \"root\" is neither log": func(e *Encoder) { e.Tail = "root" },
		"tail \"log\" with clip 1e+09": func(e *Encoder) { e.Tail, e.Clip = TailLog, 1e9 },
		"0 feature columns":            func(e *Encoder) { e.Columns = nil },
		"dim 7, the columns have 6":    func(e *Encoder) { e.Dim = 7 },
		"duplicate column \"age\"":     func(e *Encoder) { e.Columns[1].Name = "age" },
		"name is not valid UTF-8":      func(e *Encoder) { e.Columns[0].Name = "\xff" },
		"kind \"odd\"":                 func(e *Encoder) { e.Columns[0].Kind = "odd" },
		"width 2 of a numeric":         func(e *Encoder) { e.Columns[0].Width = 2 },
		"width 65537":                  func(e *Encoder) { e.Columns[3].Width = MaxDim + 1 },
		"2 means and 2 scales, want 3": func(e *Encoder) { e.Columns[3].Width = 3 },
		"mean NaN is not finite":       func(e *Encoder) { e.Columns[0].Mean[0] = math.NaN() },
		"mean 2 of an indicator":       func(e *Encoder) { e.Columns[1].Mean[0] = 2 },
		"scale 0 is not":               func(e *Encoder) { e.Columns[0].Scale[0] = 0 },
		"width 2 of a category column": func(e *Encoder) { e.Columns[2].Categories = []string{"a"} },
		"not in ascending order":       func(e *Encoder) { e.Columns[2].Categories = []string{"b", "a"} },
		"category 1 is not valid":      func(e *Encoder) { e.Columns[2].Categories = []string{"a", "\xff"} },
		"categories in a bool":         func(e *Encoder) { e.Columns[1].Categories = []string{"a"} },
		"nan \"odd\"":                  func(e *Encoder) { e.NaN = "odd" },
		"width 1 of a numeric":         func(e *Encoder) { e.Columns[0].Missing = true },
		"missing values in a vector":   func(e *Encoder) { e.Columns[3].Missing = true },
		"cycles [day] in a numeric":    func(e *Encoder) { e.Columns[0].Cycles, e.Columns[0].Width = []Cycle{Day}, 3 },
		"cycle \"moon\" is unknown": func(e *Encoder) {
			e.Columns[0].Kind, e.Columns[0].Cycles, e.Columns[0].Width = Time, []Cycle{"moon"}, 4
		},
		"cycle \"day\" is unknown": func(e *Encoder) {
			e.Columns[0].Kind, e.Columns[0].Cycles, e.Columns[0].Width = Time, []Cycle{Week, Day}, 7
		},
		"cycles [week] in a clock": func(e *Encoder) {
			e.Columns[0].Kind = Clock
			e.Columns[0].Cycles = []Cycle{Week}
			e.Columns[0].Width = 3
		},
		"mean 2 of a cycle": func(e *Encoder) {
			e.Standardize, e.Dim, e.Columns = StandardizeAll, 4, []Column{{Name: "t", Kind: Time, Width: 4, Cycles: []Cycle{Day},
				Mean: []float64{1e9, 2, 0, 0}, Scale: []float64{1e5, 1, 1, 1}}}
		},
		"1 lower and 0 upper bounds": func(e *Encoder) { e.Columns[0].Low = []float64{0} },
		"1 lower and 1 upper bounds of a bool": func(e *Encoder) {
			e.Columns[1].Low, e.Columns[1].High = []float64{0}, []float64{1}
		},
		"bounds 0 and 39, want finite": func(e *Encoder) {
			e.Columns[0].Low, e.Columns[0].High = []float64{0}, []float64{39}
		},
		"bounds 0 and +Inf, want finite": func(e *Encoder) {
			e.Columns[0].Low, e.Columns[0].High = []float64{0}, []float64{math.Inf(1)}
		},
		"1 lower and 1 upper bounds of a numeric column, want 0": func(e *Encoder) {
			e.Clip, e.Columns[0].Low, e.Columns[0].High = 0, []float64{0}, []float64{99}
		},
		"passthrough names \"p\"": func(e *Encoder) { e.Passthrough = []string{"p", "p"} },
		"scale 1e-20 of a bounded dim": func(e *Encoder) {
			e.Clip, e.Standardize = 0, StandardizeAll
			e.Columns[1].Scale = []float64{1e-20}
		},
		"mean 1e+16 is beyond": func(e *Encoder) {
			e.Standardize = StandardizeNone
			e.Columns[0].Mean[0], e.Columns[0].Scale = 1e16, nil
		},
		"label: column \"age\" is a feature": func(e *Encoder) { e.Label = regression(); e.Label.Columns[0] = "age" },
		"label: kind \"bool\" of a regr":     func(e *Encoder) { e.Label = regression(); e.Label.Kind = Bool },
		"label: 2 means for 1":               func(e *Encoder) { e.Label = regression(); e.Label.Mean = []float64{0, 0} },
		"label: mean NaN of output 0":        func(e *Encoder) { e.Label = regression(); e.Label.Mean[0] = math.NaN() },
		"label: 2 classes of a regression": func(e *Encoder) {
			e.Label = classes("a", "b")
			e.Label.Task = scoring.Regression
		},
		"label: min 2 is above": func(e *Encoder) {
			e.Label = regression()
			e.Label.Min, e.Label.Max = pointer(2), pointer(1)
		},
		"label: task task(9) is unknown": func(e *Encoder) { e.Label = regression(); e.Label.Task = 9 },
		"label: 1 classes":               func(e *Encoder) { e.Label = classes("a") },
		"label: duplicate class \"a\"":   func(e *Encoder) { e.Label = classes("a", "a") },
		"class \"1.0\" is written \"1\"": func(e *Encoder) { e.Label = classes("1.0", "2"); e.Label.Kind = Numeric },
		"label: kind \"vector\" is not":  func(e *Encoder) { e.Label = classes("1", "2"); e.Label.Kind = Vector },
		"label: mean, bounds or transform of a " +
			"class": func(e *Encoder) { e.Label = classes("1", "2"); e.Label.Mean = []float64{0} },
	}
	for want, change := range cases {
		t.Run(want, func(t *testing.T) {
			e := sampleEncoder()
			change(e)
			if err := e.Validate(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			if _, err := e.CanonicalJSON(); err == nil {
				t.Error("an invalid encoder has canonical JSON")
			}
		})
	}
}

// timesEncoder has columns of times, and one with dimensions for other and missing values.
func timesEncoder() *Encoder {
	return &Encoder{
		Columns: []Column{
			{
				Name:    "at",
				Kind:    Time,
				Width:   8,
				Mean:    []float64{1.7e9},
				Scale:   []float64{1e6},
				Cycles:  []Cycle{Day, Year},
				Missing: true,
			},
			{Name: "opens", Kind: Clock, Width: 3, Mean: []float64{3e4}, Scale: []float64{1e4}, Cycles: []Cycle{Day}},
			{Name: "work", Kind: Category, Width: 4, Categories: []string{"Private", "Public"}, Other: true, Missing: true},
		},
		Clip: 5, Standardize: StandardizeNumeric, NaN: NaNMissing, Dim: 15,
	}
}

func TestCanonicalJSONIsPinned(t *testing.T) {
	e := sampleEncoder()
	e.Label = &Label{Columns: []string{"y"}, Kind: Category, Task: scoring.Binary, Classes: []string{"<=50K", ">50K"}}
	e.Passthrough, e.NaN = []string{"id"}, NaNMissing
	for _, c := range timesEncoder().Columns {
		e.Columns, e.Dim = append(e.Columns, c), e.Dim+c.Width
	}
	e.Columns[6].Name = "job"
	const want = `{"columns":[{"name":"age","kind":"numeric","width":1,"mean":[40],"scale":[10]},` +
		`{"name":"member","kind":"bool","width":1,"mean":[0.25]},` +
		`{"name":"work","kind":"category","width":2,"categories":["Private","Public"]},` +
		`{"name":"v","kind":"vector","width":2,"mean":[1,2],"scale":[1,2]},` +
		`{"name":"at","kind":"time","width":8,"mean":[1700000000],"scale":[1000000],"cycles":["day","year"],"missing":true},` +
		`{"name":"opens","kind":"clock","width":3,"mean":[30000],"scale":[10000],"cycles":["day"]},` +
		`{"name":"job","kind":"category","width":4,"categories":["Private","Public"],"other":true,"missing":true}],` +
		`"clip":5,"standardize":"numeric","nan":"missing",` +
		`"label":{"columns":["y"],"kind":"category","task":"binary","classes":["\u003c=50K","\u003e50K"]},` +
		`"passthrough":["id"],"dim":21}`
	if got := canonical(t, e); got != want {
		t.Errorf("canonical JSON\n%s, want\n%s", got, want)
	}
}

// FuzzEncoderFromTheWire feeds damaged encoders: those that Validate accepts encode without panic
// and give finite rows.
func FuzzEncoderFromTheWire(f *testing.F) {
	e := sampleEncoder()
	f.Add([]byte(canonical(f, e)))
	e.Label = &Label{Columns: []string{"y"}, Kind: Numeric, Task: scoring.Binary, Classes: []string{"1", "2"}}
	f.Add([]byte(canonical(f, e)))
	e.Label = &Label{Columns: []string{"y"}, Kind: Numeric, Mean: []float64{1e300}, Min: pointer(0)}
	f.Add([]byte(canonical(f, e)))
	f.Add([]byte(canonical(f, timesEncoder())))
	e.Tail = TailLog
	f.Add([]byte(canonical(f, e)))
	inf := math.Inf(1)
	stamps := newInt64s(f, arrow.FixedWidthTypes.Timestamp_ns, math.MaxInt64, math.MinInt64, 0, 1e18)
	rec := record(f, column{"at", stamps}, col(f, "opens", text, "08:15", "x", nil, "23:59:59"), col(
		f,
		"age", f64, 1, -math.MaxFloat64, math.NaN(), nil,
	), col(f, "member", flags, true, false, nil, true),
		col(f, "work", dict, "Private", "?", nil, "Public"), col(
			f,
			"v", list(2, f32), []any{1, inf}, nil, []any{nil, 1}, []any{1, 2},
		),
		col(f, "y", f64, 1, 2, nil, math.MaxFloat64), col(f, "z", arrow.Null, nil, nil, nil, nil))
	f.Fuzz(func(t *testing.T, wire []byte) {
		var e Encoder
		if json.Unmarshal(wire, &e) != nil || e.Validate() != nil {
			return
		}
		if names := e.FeatureNames(); len(names) != e.Dim {
			t.Fatalf("%d names for %d dimensions", len(names), e.Dim)
		}
		var rows Rows
		if e.Encode(&rows, rec, nil) != nil {
			return
		}
		for _, v := range append(rows.X, rows.Targets.Values...) {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("value %v from %s", v, wire)
			}
		}
		if rows.N+len(rows.Rejected) != 4 {
			t.Fatalf("%d rows and %d rejected of 4", rows.N, len(rows.Rejected))
		}
	})
}
