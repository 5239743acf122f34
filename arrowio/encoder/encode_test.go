package encoder

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

// sampleEncoder returns an encoder with a column of each kind, written out by hand.
func sampleEncoder() *Encoder {
	return &Encoder{
		Columns: []Column{
			{Name: "age", Kind: Numeric, Width: 1, Mean: []float64{40}, Scale: []float64{10}},
			{Name: "member", Kind: Bool, Width: 1, Mean: []float64{0.25}},
			{Name: "work", Kind: Category, Width: 2, Categories: []string{"Private", "Public"}},
			{Name: "v", Kind: Vector, Width: 2, Mean: []float64{1, 2}, Scale: []float64{1, 2}},
		},
		Clip: 5, Standardize: StandardizeNumeric, Dim: 6,
	}
}

func TestEncodeOfEveryKind(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	v := func(a, b any) []any { return []any{a, b} }
	cases := map[string]struct {
		age, member, work, v any
		want                 []float32
		counts               Counts
		reason               string
	}{
		"plain": {age: 50, member: true, work: "Public", v: v(2, 6), want: []float32{1, 1, 0, 1, 1, 2}},
		"false": {age: 40, member: false, work: "Private", v: v(1, 2), want: []float32{0, 0, 1, 0, 0, 0}},
		"null number": {
			member: true,
			work:   "Public",
			v:      v(2, 6),
			want:   []float32{0, 1, 0, 1, 1, 2},
			counts: Counts{Imputed: 1},
		},
		"null boolean": {
			age:    50,
			work:   "Public",
			v:      v(2, 6),
			want:   []float32{1, 0.25, 0, 1, 1, 2},
			counts: Counts{Imputed: 1},
		},
		"null category": {
			age:    50,
			member: true,
			v:      v(2, 6),
			want:   []float32{1, 1, 0, 0, 1, 2},
			counts: Counts{Imputed: 1},
		},
		"null vector": {
			age:    50,
			member: true,
			work:   "Public",
			want:   []float32{1, 1, 0, 1, 0, 0},
			counts: Counts{Imputed: 2},
		},
		"null in vector": {
			age:    50,
			member: true,
			work:   "Public",
			v:      v(2, nil),
			want:   []float32{1, 1, 0, 1, 1, 0},
			counts: Counts{Imputed: 1},
		},
		"unseen category": {
			age:    50,
			member: true,
			work:   "Moon",
			v:      v(2, 6),
			want:   []float32{1, 1, 0, 0, 1, 2},
			counts: Counts{UnseenCategory: 1},
		},
		"clipped": {
			age:    200,
			member: true,
			work:   "Public",
			v:      v(-8, 12),
			want:   []float32{5, 1, 0, 1, -5, 5},
			counts: Counts{Clipped: 2},
		},
		"at the clip": {age: 90, member: true, work: "Public", v: v(-4, 12), want: []float32{5, 1, 0, 1, -5, 5}},
		"largest float": {
			age:    math.MaxFloat64,
			member: true,
			work:   "Public",
			v:      v(2, 6),
			want:   []float32{5, 1, 0, 1, 1, 2},
			counts: Counts{Clipped: 1},
		},
		"nan number":          {age: nan, member: true, work: "Public", v: v(2, 6), reason: NaNFeature},
		"infinite number":     {age: -inf, member: true, work: "Public", v: v(2, 6), reason: InfFeature},
		"nan in vector":       {age: 50, member: true, work: "Public", v: v(2, nan), reason: NaNFeature},
		"infinite in vector":  {age: 50, member: true, work: "Public", v: v(inf, 6), reason: InfFeature},
		"first of two faults": {age: inf, member: true, work: "Public", v: v(nan, 6), reason: InfFeature},
	}
	e := sampleEncoder()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rec := record(t, col(t, "age", f64, c.age), col(t, "member", flags, c.member),
				col(t, "work", text, c.work), col(t, "v", list(2, f64), c.v))
			rows := encoded(t, e, rec)
			if c.reason != "" {
				want := []Rejection{{Row: 0, Reason: c.reason}}
				if rows.N != 0 || len(rows.X) != 0 || !slices.Equal(rows.Rejected, want) {
					t.Fatalf("n %d, rejected %v, want %v", rows.N, rows.Rejected, want)
				}
				return
			}
			c.counts.Unlabelled = 1
			if !slices.Equal(rows.X, c.want) || rows.Counts != c.counts || len(rows.Rejected) != 0 {
				t.Errorf("x %v counts %+v rejected %v, want %v %+v", rows.X, rows.Counts, rows.Rejected, c.want, c.counts)
			}
		})
	}
}

func TestTailsAreLogarithms(t *testing.T) {
	for z, want := range map[float64]float64{
		4.9: 4.9, 5: 5, 5 + 1e-6: 5 + 1e-6, 10: 5 * (1 + math.Ln2), -50: -5 * (1 + math.Log(10)),
		5e6: 5 * (1 + math.Log(1e6)),
		1e9: 5 * (1 + 20*math.Ln2), math.MaxFloat64: 5 * (1 + 20*math.Ln2), // divided by the scale it is infinite
	} {
		e := &Encoder{Columns: sampleEncoder().Columns[:1], Clip: 5, Tail: TailLog, Standardize: StandardizeNumeric, Dim: 1}
		v := 40 + 10*z
		if z == math.MaxFloat64 {
			v, e.Columns[0].Scale = z, []float64{1e-3}
		}
		rows := encoded(t, e, record(t, col(t, "age", f64, v, 40)))
		if math.Abs(float64(rows.X[0])-want) > 1e-6*math.Abs(want) || rows.Counts.Clipped != count(math.Abs(z) > 5) {
			t.Errorf("%v becomes %v, want %v; %d clipped", z, rows.X[0], want, rows.Counts.Clipped)
		}
		if found := e.Unclip(rows.X); found != (math.Abs(z) > 5) ||
			math.Abs(float64(rows.X[0])-min(z, 5*MaxTail)) > 1e-5*math.Abs(z) || rows.X[1] != 0 {
			t.Errorf("%v is %v again", z, rows.X)
		}
	}
}

func TestStandardizeSettings(t *testing.T) {
	calibration := record(t, col(t, "x", f64, 1, 3, 5, 7), col(t, "b", flags, true, true, true, false),
		col(t, "c", text, "u", "u", "v", nil), col(t, "y", f64, 1, 2, 3, 4))
	rec := record(t, col(t, "x", f64, 9, nil), col(t, "b", flags, true, nil), col(t, "c", text, "v", "w"))
	sx, sb := math.Sqrt(5), math.Sqrt(0.75*0.25)
	su, sv := 0.5, math.Sqrt(0.25*0.75)
	cases := []struct {
		standardize string
		clip        float64
		want        []float64
		clipped     int64
	}{
		{StandardizeNumeric, 0, []float64{5 / sx, 1, 0, 1, 0, 0.75, 0, 0}, 0},
		{StandardizeAll, 0, []float64{5 / sx, 0.25 / sb, -0.5 / su, 0.75 / sv, 0, 0, -0.5 / su, -0.25 / sv}, 0},
		{StandardizeAll, 1, []float64{1 + math.Log(4.5/sx), 0.25 / sb, -1, 1, 0, 0, -1, -0.25 / sv}, 2},
		{StandardizeNone, 1, []float64{9, 1, 0, 1, 4, 0.75, 0, 0}, 0},
	}
	for _, c := range cases {
		o := options("y")
		o.Standardize, o.Clip = c.standardize, c.clip
		e, _ := calibrated(t, o, calibration)
		rows := encoded(t, e, rec)
		for i, want := range c.want {
			if rows.X[i] != float32(want) {
				t.Errorf("%s clip %v: x %v, want %v", c.standardize, c.clip, rows.X, c.want)
				break
			}
		}
		if rows.Counts.Clipped != c.clipped || rows.Counts.Imputed != 2 || rows.Counts.UnseenCategory != 1 {
			t.Errorf("%s clip %v: counts %+v", c.standardize, c.clip, rows.Counts)
		}
	}
}

func TestWidthsWithinAKindAreFree(t *testing.T) {
	e := sampleEncoder()
	want := []float32{1, 1, 0, 1, 1, 2}
	others := []column{
		col(t, "member", flags, true),
		col(t, "work", text, "Public"),
		col(t, "v", list(2, f64), []any{2, 6}),
	}
	numbers := []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, i64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32,
		arrow.PrimitiveTypes.Uint64, arrow.FixedWidthTypes.Float16, f32, f64,
	}
	for _, dt := range numbers {
		rec := record(t, append([]column{col(t, "age", dt, 50)}, others...)...)
		if rows := encoded(t, e, rec); !slices.Equal(rows.X, want) {
			t.Errorf("%s: x %v, want %v", dt, rows.X, want)
		}
		rec = record(t, col(t, "age", f32, 50), others[0], others[1], col(t, "v", list(2, dt), []any{2, 6}))
		if rows := encoded(t, e, rec); !slices.Equal(rows.X, want) {
			t.Errorf("vector of %s: x %v, want %v", dt, rows.X, want)
		}
	}
	texts := []arrow.DataType{arrow.BinaryTypes.LargeString, dict,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}}
	for _, dt := range texts {
		rec := record(t, col(t, "age", f64, 50), others[0], col(t, "work", dt, "Public"), others[2])
		if rows := encoded(t, e, rec); !slices.Equal(rows.X, want) {
			t.Errorf("%s: x %v, want %v", dt, rows.X, want)
		}
	}
}

func TestColumnOfNullTypeStandsForNulls(t *testing.T) {
	e := sampleEncoder()
	none := func(name string) column { return col(t, name, arrow.Null, nil, nil) }
	rows := encoded(t, e, record(t, none("age"), none("member"), none("work"), none("v")))
	if !slices.Equal(rows.X[:6], []float32{0, 0.25, 0, 0, 0, 0}) || rows.Counts.Imputed != 10 {
		t.Errorf("x %v, counts %+v", rows.X, rows.Counts)
	}
}

func TestSchemasThatDoNotFit(t *testing.T) {
	good := func() []column {
		return []column{col(t, "age", f64, 50), col(t, "member", flags, true), col(t, "work", text, "Public"),
			col(t, "v", list(2, f64), []any{2, 6}), col(t, "y", f64, 1)}
	}
	e := sampleEncoder()
	e.Label = &Label{Columns: []string{"y"}, Kind: Numeric, Mean: []float64{0}}
	cases := map[string]struct {
		change func(c []column) []column
		want   []string
	}{
		"missing": {func(c []column) []column { return c[1:] }, []string{`column "age" is missing`}},
		"number to text": {
			func(c []column) []column { c[0] = col(t, "age", text, "x"); return c },
			[]string{`column "age" is utf8, want numeric`},
		},
		"bool to number": {
			func(c []column) []column { c[1] = col(t, "member", i64, 1); return c },
			[]string{`column "member" is int64, want bool`},
		},
		"text to bool": {
			func(c []column) []column { c[2] = col(t, "work", flags, true); return c },
			[]string{`column "work" is bool, want category`},
		},
		"other length": {
			func(c []column) []column { c[3] = col(t, "v", list(3, f64), []any{2, 6, 7}); return c },
			[]string{"want vector of 2"},
		},
		"time": {
			func(c []column) []column { c[0] = col(t, "age", arrow.FixedWidthTypes.Date32, nil); return c },
			[]string{`column "age" is date32`},
		},
		"twice": {
			func(c []column) []column { return append(c, col(t, "age", f64, 1)) },
			[]string{`column "age" occurs 2 times`},
		},
		"label changed": {
			func(c []column) []column { c[4] = col(t, "y", text, "a"); return c },
			[]string{`label column "y" is utf8, want numeric`},
		},
		"two faults": {
			func(c []column) []column { c[1] = col(t, "member", i64, 1); return c[1:] },
			[]string{`"age" is missing`, `"member" is int64`},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rec := record(t, c.change(good())...)
			rows := encoded(t, e, record(t, good()...)) // so that there is something to overwrite
			err := e.Encode(rows, rec, nil)
			if !errors.Is(err, ErrSchema) || !errors.Is(e.Check(rec.Schema()), ErrSchema) {
				t.Fatalf("error %v, want %v", err, ErrSchema)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if rows.N != 0 || len(rows.X)+len(rows.Row)+len(rows.Labelled)+len(rows.Rejected) != 0 || rows.Counts != (Counts{}) {
				t.Errorf("rows left behind: %+v", rows)
			}
			if encoded := e.Encode(rows, record(t, good()...), nil); encoded != nil || rows.N != 1 {
				t.Errorf("a good record after it: %v, n %d", encoded, rows.N)
			}
		})
	}
}

func TestColumnsMatchByName(t *testing.T) {
	e := sampleEncoder()
	rec := record(t, col(t, "extra", arrow.FixedWidthTypes.Date32, nil), col(t, "v", list(2, f64), []any{2, 6}),
		col(t, "extra", f64, math.NaN()), col(t, "work", text, "Public"), col(t, "member", flags, true),
		col(t, "age", f64, 50))
	if err := e.Check(rec.Schema()); err != nil {
		t.Fatal(err)
	}
	if rows := encoded(t, e, rec); !slices.Equal(rows.X, []float32{1, 1, 0, 1, 1, 2}) {
		t.Errorf("x %v", rows.X)
	}
}

func TestEncodeAllocatesNothingOnceWarm(t *testing.T) {
	var columns []column
	for i := range 20 {
		dt := []arrow.DataType{f64, f32, i64, arrow.PrimitiveTypes.Uint8}[i%4]
		columns = append(columns, col(t, string(rune('a'+i)), dt, 1, nil, 3, 2))
	}
	columns = append(columns, col(t, "nan", f64, 1, nil, 3, math.NaN()),
		col(
			t,
			"v", list(2, f32), []any{1, 2}, nil, []any{3, nil}, []any{5, 6},
		), col(t, "w", list(2, i64), []any{1, 2}, nil, []any{3, nil}, []any{5, 6}),
		col(
			t,
			"flag", flags, true, nil, false, true,
		), col(t, "word", text, "p", "q", nil, "p"), col(t, "coded", dict, "p", "q", nil, "p"),
		col(t, "label", i64, 1, 2, nil, 4))
	o := options("label")
	e, _ := calibrated(t, o, record(t, columns...))
	first, second := record(t, columns...), record(t, columns...)
	var rows Rows
	takes := [][]int32{nil, {3, 1, 0, 2}}
	run := func() {
		for _, rec := range []arrow.Record{first, second} {
			for _, take := range takes {
				if err := e.Encode(&rows, rec, take); err != nil {
					t.Fatal(err)
				}
				rows.KeepLabelled()
			}
		}
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations per run", n)
	}
}

// canonical returns the canonical JSON of a valid encoder.
func canonical(t testing.TB, e *Encoder) string {
	t.Helper()
	text, err := e.CanonicalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
