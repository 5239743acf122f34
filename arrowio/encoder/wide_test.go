package encoder

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"
)

// drawNumbers draws a table of numeric columns and vectors with nulls, faults and numbers of any
// size, and an encoder for it.
func drawNumbers(t testing.TB, r *rapid.T) (*table, *Encoder) {
	t.Helper()
	n := rapid.IntRange(1, 12).Draw(r, "rows")
	if rapid.IntRange(0, 7).Draw(r, "several blocks") == 0 {
		n = rapid.IntRange(maxBlockRows-1, maxBlockRows+2).Draw(r, "rows of blocks")
	}
	d := &table{t: t}
	e := &Encoder{Standardize: rapid.SampledFrom([]string{StandardizeNumeric, StandardizeNone}).Draw(r, "standardize")}
	e.Clip = rapid.SampledFrom([]float64{0, 5}).Draw(r, "clip")
	if e.Clip > 0 {
		e.Tail = rapid.SampledFrom([]string{"", TailLog}).Draw(r, "tail")
	}
	e.NaN = rapid.SampledFrom([]string{"", NaNMissing}).Draw(r, "nan")
	nulls := rapid.SampledFrom([]int{0, 10}).Draw(r, "nulls") // in a hundred
	columns := rapid.IntRange(1, 3*stripColumns).Draw(r, "columns")
	for j := range columns {
		c := drawColumn(r, fmt.Sprint("c", j), e.Standardize != StandardizeNone)
		if e.Clip > 0 && c.Scale != nil && rapid.Bool().Draw(r, "bounded") {
			drawBounds(r, &c)
		}
		if c.Kind == Numeric && rapid.IntRange(0, 9).Draw(r, "missing") == 0 {
			c.Missing, c.Width = true, 2
		}
		e.Columns, e.Dim = append(e.Columns, c), e.Dim+c.Width
		element := rapid.SampledFrom([]arrow.DataType{f32, f32, f64, i64}).Draw(r, "type")
		dt := element
		if c.Kind == Vector {
			dt = list(int32(c.Width), element)
		}
		d.names, d.types = append(d.names, c.Name), append(d.types, dt)
		d.values = append(d.values, sequence(n, func(int) any {
			if rapid.IntRange(0, 99).Draw(r, "null") < nulls {
				return nil
			}
			if c.Kind == Numeric {
				return drawNumber(r, &c, 0, element)
			}
			return sequence(c.Width, func(j int) any {
				if rapid.IntRange(0, 99).Draw(r, "null element") < nulls {
					return nil
				}
				return drawNumber(r, &c, j, element)
			})
		}))
	}
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	return d, e
}

// drawColumn draws a numeric column or a vector.
func drawColumn(r *rapid.T, name string, standardized bool) Column {
	c := Column{Name: name, Kind: Numeric, Width: 1}
	if rapid.IntRange(0, 5).Draw(r, "vector") == 0 {
		c.Kind, c.Width = Vector, rapid.IntRange(1, 20).Draw(r, "width")
	}
	for range c.Width {
		scale := rapid.SampledFrom([]float64{1, 0.7, 1e-12, 1e6, 4}).Draw(r, "scale")
		shift := rapid.SampledFrom([]float64{0, 4, -0.3, 1e-3}).Draw(r, "shift")
		c.Mean = append(c.Mean, shift*scale)
		if standardized {
			c.Scale = append(c.Scale, scale)
		}
	}
	return c
}

// drawBounds draws bounds of a column, within and beyond the clip.
func drawBounds(r *rapid.T, c *Column) {
	for j, scale := range c.Scale {
		c.Low = append(c.Low, c.Mean[j]-scale*rapid.Float64Range(0, 8).Draw(r, "low"))
		c.High = append(c.High, c.Mean[j]+scale*rapid.Float64Range(0, 8).Draw(r, "high"))
	}
}

// drawNumber draws a value of dimension j: mostly an ordinary one.
func drawNumber(r *rapid.T, c *Column, j int, dt arrow.DataType) any {
	scale := 1.0
	if c.Scale != nil {
		scale = c.Scale[j]
	}
	v := c.Mean[j] + scale*rapid.Float64Range(-4, 4).Draw(r, "value")
	if rapid.IntRange(0, 29).Draw(r, "odd") == 0 {
		v = rapid.SampledFrom([]float64{
			0, c.Mean[j], c.Mean[j] + 6*scale, 0.9e15 * scale, 1.1e15 * scale, -3e15 * scale, 1e38, -1e30, math.NaN(),
			math.Inf(1), math.Inf(-1),
		}).Draw(r, "odd value")
	}
	switch dt {
	case i64:
		if !(math.Abs(v) < 1e18) {
			return math.MaxInt64
		}
		return int64(v)
	case f32:
		return float64(float32(v))
	default:
		return v
	}
}

// drawTake draws row numbers of n rows, nil for all of them.
func drawTake(r *rapid.T, n int) []int32 {
	if rapid.Bool().Draw(r, "all") {
		return nil
	}
	return rapid.SliceOfN(rapid.Int32Range(0, int32(n)-1), 1, 20).Draw(r, "take")
}

// TestNumbersEqualAPlainReading encodes tables of numbers of any type value by value.
func TestNumbersEqualAPlainReading(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d, e := drawNumbers(t, r)
		take := drawTake(r, len(d.values[0]))
		rows := encoded(t, e, d.rows(0, len(d.values[0])), take...)
		for i, row := range rows.Row {
			var want []float32
			for k := range e.Columns {
				want = append(want, plainly(e, &e.Columns[k], d.values[k][row])...)
			}
			if got := rows.X[i*e.Dim : (i+1)*e.Dim]; !slices.Equal(got, want) {
				r.Fatalf("row %d: %v, want %v", row, got, want)
			}
		}
	})
}
