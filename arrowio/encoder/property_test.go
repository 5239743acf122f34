package encoder

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"
)

// table is a drawn data set: values by column and row, in terms of col.
type table struct {
	t      testing.TB
	names  []string
	types  []arrow.DataType
	values [][]any
}

// rows returns the rows first..next-1 as a record of their own.
func (d *table) rows(first, next int) arrow.Record {
	columns := make([]column, len(d.names))
	for j, name := range d.names {
		columns[j] = col(d.t, name, d.types[j], d.values[j][first:next]...)
	}
	return record(d.t, columns...)
}

// drawTable draws a table of every kind with nulls, faults, outliers and labels.
func drawTable(t testing.TB, r *rapid.T) *table {
	t.Helper()
	n := rapid.IntRange(1, 150).Draw(r, "rows")
	d := &table{t: t}
	wild := rapid.Float64Range(-1e6, 1e6)
	add := func(name string, dt arrow.DataType, draw func(i int) any) {
		d.names, d.types = append(d.names, name), append(d.types, dt)
		d.values = append(d.values, sequence(n, func(i int) any {
			if rapid.IntRange(0, 9).Draw(r, name+" null") == 0 {
				return nil
			}
			return draw(i)
		}))
	}
	float := func(int) any {
		if rapid.IntRange(0, 19).Draw(r, "fault") == 0 {
			return rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e38}).Draw(r, "fault")
		}
		return wild.Draw(r, "float")
	}
	// Short floats are drawn as such: a float64 midway between two could be rounded either way.
	short := func(i int) any { return float64(float32(float(i).(float64))) }
	add("float", f64, float)
	add("short", f32, short)
	add("int", i64, func(int) any { return rapid.Int64().Draw(r, "int") })
	add("near", i64, func(i int) any { return i - i%rapid.IntRange(2, 30).Draw(r, "near") })
	add("flag", flags, func(int) any { return rapid.Bool().Draw(r, "flag") })
	word := func(int) any {
		return rapid.SampledFrom([]string{"", "a", " a ", "b", "\u00a0b", "NA", "<&>", "é", "\xff"}).Draw(r, "word")
	}
	add("text", text, word)
	add("coded", dict, func(i int) any { return fmt.Sprint(word(i)) })
	add("many", text, func(int) any { return fmt.Sprint(rapid.IntRange(0, 200).Draw(r, "many")) })
	day := rapid.Int32Range(-40000, 40000)
	add("date", arrow.FixedWidthTypes.Date32, func(int) any { return arrow.Date32(day.Draw(r, "date")).FormattedString() })
	add("moment", arrow.FixedWidthTypes.Timestamp_ms, func(int) any { return drawInstant(r) })
	add("words", text, func(int) any {
		if rapid.IntRange(0, 29).Draw(r, "no date") == 0 {
			return "soon"
		}
		return drawInstant(r)
	})
	add("clock", arrow.FixedWidthTypes.Time32s, func(int) any {
		return fmt.Sprintf("%02d:%02d:00", rapid.IntRange(0, 23).Draw(r, "hour"), rapid.IntRange(0, 59).Draw(r, "minute"))
	})
	add("vector", list(3, f32), func(i int) any { return []any{short(i), nil, short(i)} })
	add("y", f64, float)
	add("class", text, func(int) any { return rapid.SampledFrom([]string{"u", "v", "w"}).Draw(r, "class") })
	return d
}

// drawInstant draws an instant with milliseconds, as text.
func drawInstant(r *rapid.T) string {
	at := time.UnixMilli(rapid.Int64Range(-3e12, 4e12).Draw(r, "instant")).UTC()
	return at.Format("2006-01-02T15:04:05.000")
}

// drawCuts cuts n rows into consecutive pieces, some of them empty.
func drawCuts(r *rapid.T, n int) []int {
	cuts := rapid.SliceOfN(rapid.IntRange(0, n), 0, 8).Draw(r, "cuts")
	cuts = append(cuts, 0, n)
	slices.Sort(cuts)
	return cuts
}

// drawOptions draws options for a drawn table.
func drawOptions(r *rapid.T) Options {
	o := options()
	o.Label = rapid.SampledFrom([][]string{{"y"}, {"class"}, {"y", "float"}, {"flag"}}).Draw(r, "label")
	o.Standardize = rapid.SampledFrom([]string{StandardizeNumeric, StandardizeAll, StandardizeNone}).Draw(r, "standardize")
	o.NaN = rapid.SampledFrom([]string{NaNReject, NaNMissing}).Draw(r, "nan")
	o.MissingIndicator = rapid.SampledFrom([]float64{1e-9, 0.1, 1}).Draw(r, "indicator")
	o.MaxCategories = rapid.SampledFrom([]int{1, 3, 50}).Draw(r, "categories")
	o.Clip = rapid.SampledFrom([]float64{0, 1, 5}).Draw(r, "clip")
	return o
}

func TestCalibrationDoesNotDependOnHowRowsAreCut(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d, o := drawTable(t, r), drawOptions(r)
		n := len(d.values[0])
		whole, pieces := NewCalibrator(o), NewCalibrator(o)
		if err := whole.Add(d.rows(0, n)); err != nil {
			r.Fatal(err)
		}
		cuts := drawCuts(r, n)
		for i, next := range cuts[1:] {
			if err := pieces.Add(d.rows(cuts[i], next)); err != nil {
				r.Fatal(err)
			}
		}
		first, reportOne, errOne := whole.Encoder()
		second, reportTwo, errTwo := pieces.Encoder()
		if fmt.Sprint(errOne) != fmt.Sprint(errTwo) || fmt.Sprint(reportOne) != fmt.Sprint(reportTwo) {
			r.Fatalf("whole gives %v %v, pieces %v %v", reportOne, errOne, reportTwo, errTwo)
		}
		if errOne == nil && canonical(t, first) != canonical(t, second) {
			r.Fatalf("whole gives\n%s\npieces\n%s", canonical(t, first), canonical(t, second))
		}
	})
}

// appendRows adds the outcome of encoding a piece whose rows start at first to all.
func appendRows(all, piece *Rows, first int) {
	all.N += piece.N
	all.X = append(all.X, piece.X...)
	for _, row := range piece.Row {
		all.Row = append(all.Row, row+int32(first))
	}
	all.Labelled = append(all.Labelled, piece.Labelled...)
	all.Targets.Values = append(all.Targets.Values, piece.Targets.Values...)
	all.Targets.Class = append(all.Targets.Class, piece.Targets.Class...)
	for _, rejection := range piece.Rejected {
		rejection.Row += int32(first)
		all.Rejected = append(all.Rejected, rejection)
	}
	all.Counts.Add(piece.Counts)
}

// sameRows returns a difference between two outcomes, or "". X and Values are compared by their
// bits, written as numbers: neither holds NaN, and -0 prints differently from 0.
func sameRows(a, b *Rows) string {
	view := func(r *Rows) string {
		return fmt.Sprint(r.N, r.X, r.Row, r.Labelled, r.Targets.Values, r.Targets.Class, r.Rejected, r.Counts)
	}
	if view(a) != view(b) {
		return fmt.Sprintf("%s\nand\n%s", view(a), view(b))
	}
	return ""
}

func TestEncodingDoesNotDependOnHowRowsAreCutOrTaken(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d, o := drawTable(t, r), drawOptions(r)
		n := len(d.values[0])
		rec := d.rows(0, n)
		c := NewCalibrator(o)
		if err := c.Add(rec); err != nil {
			r.Fatal(err)
		}
		e, _, err := c.Encoder()
		if err != nil {
			return
		}
		whole := encoded(t, e, rec)
		for _, x := range whole.X {
			if !(math.Abs(float64(x)) <= MaxMagnitude) {
				r.Fatalf("x %v", x)
			}
		}
		pieces, sliced := &Rows{}, &Rows{}
		cuts := drawCuts(r, n)
		for i, next := range cuts[1:] {
			first := cuts[i]
			appendRows(pieces, encoded(t, e, d.rows(first, next)), first)
			appendRows(sliced, encoded(t, e, rec.NewSlice(int64(first), int64(next))), first)
		}
		if diff := sameRows(whole, pieces); diff != "" {
			r.Fatalf("whole and pieces differ:\n%s", diff)
		}
		if diff := sameRows(whole, sliced); diff != "" {
			r.Fatalf("whole and slices differ:\n%s", diff)
		}
		taken, single := &Rows{}, &Rows{}
		take := rapid.SliceOf(rapid.Int32Range(0, int32(n)-1)).Draw(r, "take")
		if take == nil {
			take = []int32{}
		}
		appendRows(taken, encoded(t, e, rec, take...), 0)
		for _, row := range take {
			appendRows(single, encoded(t, e, rec, row), 0)
		}
		if len(take) > 0 {
			if diff := sameRows(taken, single); diff != "" {
				r.Fatalf("rows taken together and one by one differ:\n%s", diff)
			}
		}
	})
}

// TestEncodingEqualsAPlainReading encodes value by value, directly by the definition.
func TestEncodingEqualsAPlainReading(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d, o := drawTable(t, r), drawOptions(r)
		n := len(d.values[0])
		c := NewCalibrator(o)
		if err := c.Add(d.rows(0, n)); err != nil {
			r.Fatal(err)
		}
		e, _, err := c.Encoder()
		if err != nil {
			return
		}
		rows := encoded(t, e, d.rows(0, n))
		for i, row := range rows.Row {
			var want []float32
			for k := range e.Columns {
				j := slices.Index(d.names, e.Columns[k].Name)
				want = append(want, plainly(e, &e.Columns[k], d.values[j][row])...)
			}
			if got := rows.X[i*e.Dim : (i+1)*e.Dim]; !slices.Equal(got, want) {
				r.Fatalf("row %d: %v, want %v", row, got, want)
			}
		}
	})
}

// plainly returns the dimensions of one value of a column.
func plainly(e *Encoder, c *Column, value any) []float32 {
	raw := rawly(e, c, value)
	x := make([]float32, c.Width)
	for j, v := range raw {
		if j < len(c.Scale) {
			if j < len(c.Low) {
				v = min(max(v, c.Low[j]), c.High[j])
			}
			v = (v - c.Mean[j]) / c.Scale[j]
			if e.Clip > 0 && math.Abs(v) > e.Clip {
				v = float64(clipped(v, e.Clip, e.HasTail(c, j)))
			}
		}
		x[j] = float32(v)
	}
	return x
}

// rawly returns the dimensions of one value before they are standardized.
func rawly(e *Encoder, c *Column, value any) []float64 {
	if v, nan := value.(float64); nan && math.IsNaN(v) && e.NaN == NaNMissing {
		value = nil
	}
	var raw []float64
	switch c.Kind {
	case Category:
		known := false
		if text, is := value.(string); is {
			value = strings.TrimSpace(text)
		}
		if value == "" || value == "NA" {
			value = nil
		}
		for _, category := range c.Categories {
			raw, known = append(raw, float64(count(value == category))), known || value == category
		}
		if c.Other {
			raw = append(raw, float64(count(!known && value != nil)))
		}
		raw = append(raw, make([]float64, c.Effects.outputs())...) // no rows were added to them
	case Time, Clock:
		seconds, ok := plainTime(value)
		if !ok {
			value = nil
			raw = append(raw, c.Mean[0])
		} else {
			raw = append(raw, seconds)
		}
		for _, cycle := range c.Cycles {
			var place [3]float64
			if ok {
				place = cycle.facts().place(seconds)
			}
			if c.Kind == Clock {
				raw = append(raw, place[:2]...)
			} else {
				raw = append(raw, place[:]...)
			}
		}
	case Vector:
		for j := range c.Width {
			element := any(nil)
			if v, ok := value.([]any); ok {
				element = v[j]
			}
			v, ok := plainNumber(element)
			if !ok || math.IsNaN(v) && e.NaN == NaNMissing {
				v = c.Mean[j]
			}
			raw = append(raw, v)
		}
	default:
		v, ok := plainNumber(value)
		if !ok {
			value, v = nil, c.Mean[0]
		}
		raw = append(raw, v)
	}
	if c.Missing {
		raw = append(raw, float64(count(value == nil)))
	}
	return raw
}

// plainNumber returns a number or a boolean as a number.
func plainNumber(value any) (float64, bool) {
	switch v := value.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	case bool:
		return float64(count(v)), true
	case string:
		n, err := strconv.ParseFloat(v, 64)
		return n, err == nil
	}
	return 0, false
}

// plainTime reads the text of a time with the standard library.
func plainTime(value any) (float64, bool) {
	written, _ := value.(string)
	for _, layout := range []string{"2006-01-02T15:04:05.000", "2006-01-02"} {
		if at, err := time.Parse(layout, written); err == nil {
			return float64(at.Unix()) + float64(at.Nanosecond())/1e9, true
		}
	}
	at, err := time.Parse("15:04:05", written)
	return float64(at.Hour()*3600 + at.Minute()*60 + at.Second()), err == nil
}

// TestMomentsEqualTwoPasses compares the running moments of two parts with sums over all values at
// once.
func TestMomentsEqualTwoPasses(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		shift := rapid.SampledFrom([]float64{0, 1, 1e6}).Draw(r, "shift")
		values := rapid.SliceOfN(rapid.Float64Range(-10, 10), 2, 200).Draw(r, "values")
		var parts [2]moment // of a log, merged
		cut, sum := rapid.IntRange(0, len(values)).Draw(r, "cut"), 0.0
		for i := range values {
			values[i] += shift
			parts[count(i >= cut)].add(values[i])
			sum += values[i]
		}
		m := parts[0]
		m.merge(parts[1])
		mean, squares := sum/float64(len(values)), 0.0
		for _, v := range values {
			squares += (v - mean) * (v - mean)
		}
		scale := math.Sqrt(squares / float64(len(values)))
		// Values near 10^6 keep ten digits after the point; a deviation cannot be better than that.
		tolerance := 1e-13 * (10 + shift)
		if scale <= tolerance && m.scale() == 1 { // too small to tell from a constant
			scale = 1
		}
		if m.n != int64(len(values)) || m.lo != slices.Min(values) || m.hi != slices.Max(values) ||
			math.Abs(m.mean-mean) > tolerance || math.Abs(m.scale()-scale) > tolerance+1e-12*scale {
			r.Fatalf("mean %v scale %v, want %v %v", m.mean, m.scale(), mean, scale)
		}
	})
}
