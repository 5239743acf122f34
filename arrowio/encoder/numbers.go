package encoder

import (
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/encoder/internal/standardize"
)

// stripColumns is how many columns of numbers are scaled one after another, each in one piece,
// before they are written into the rows side by side: a row then gets a cache line at a time.
const stripColumns = 16

// encodeNumbers writes a number of adjacent numeric columns, starting at column, into a block.
func (r *Rows) encodeNumbers(b *block, column, columns int) {
	n := b.rows.len()
	r.strip = resize(r.strip, n*columns)
	for k := range columns {
		before := b.counts.Imputed
		c := &r.binding.columns[column+k]
		b.tally = &r.binding.tallies[column+k]
		r.scaleColumn(b, c, &r.inputs[column+k], r.strip[k*n:(k+1)*n])
		r.binding.imputed[column+k] += b.counts.Imputed - before
	}
	transpose(b.x[r.binding.columns[column].at:], r.strip, b.dim, n)
}

// transpose writes columns of n numbers each, stored one after another in strip, side by side into
// rows of dim numbers.
func transpose(x, strip []float32, dim, n int) {
	for ; len(strip) >= 8*n; strip = strip[8*n:] {
		transpose8(x, strip, dim, n)
		x = x[8:]
	}
	for ; len(strip) > 0; strip = strip[n:] {
		for i, v := range strip[:n] {
			x[i*dim] = v
		}
		x = x[1:]
	}
}

// transpose8 is transpose for eight columns.
func transpose8(x, strip []float32, dim, n int) {
	c0, c1, c2, c3 := strip[:n], strip[n:][:n], strip[2*n:][:n], strip[3*n:][:n]
	c4, c5, c6, c7 := strip[4*n:][:n], strip[5*n:][:n], strip[6*n:][:n], strip[7*n:][:n]
	for i := range n {
		row := x[i*dim:][:8]
		row[0], row[1], row[2], row[3] = c0[i], c1[i], c2[i], c3[i]
		row[4], row[5], row[6], row[7] = c4[i], c5[i], c6[i], c7[i]
	}
}

// scaleColumn sets dst, one number for each row of the block, to the dimension of a numeric column.
func (r *Rows) scaleColumn(b *block, c *boundColumn, in *input, dst []float32) {
	if in.parsed {
		r.scaleParsed(b, c, in, dst)
		return
	}
	null := r.nulls(in, b.rows, 1)
	switch a := in.array.(type) {
	case *array.Float32:
		scaleNumbers(b, dst, pick(&r.floats, a.Float32Values(), b.rows), null, &c.scaling)
	case *array.Float64:
		scaleNumbers(b, dst, pick(&r.loaded, a.Float64Values(), b.rows), null, &c.scaling)
	default:
		r.loaded = resize(r.loaded, len(dst))
		loadNumbers(r.loaded, a, b.rows)
		scaleNumbers(b, dst, r.loaded, null, &c.scaling)
	}
	b.missAll(dst, null, &c.scaling)
}

// missAll writes the value for nulls to dst for the rows that have one.
func (b *block) missAll(dst []float32, null []bool, s *scaling) {
	if null == nil {
		return
	}
	x := s.missing(0)
	for i, missing := range null {
		if missing {
			dst[i] = x
			b.counts.Imputed++
		}
	}
	if b.absent != nil {
		for i, missing := range null {
			b.absent[i] = b.absent[i] || missing
		}
	}
}

// pick returns the values of the rows: a view if they are contiguous, otherwise copies in scratch.
func pick[T float32 | float64](scratch *[]T, values []T, rows picked) []T {
	if rows.list == nil {
		return values[rows.first:][:rows.n]
	}
	*scratch = resize(*scratch, len(rows.list))
	for i, row := range rows.list {
		(*scratch)[i] = values[row]
	}
	return *scratch
}

// scaleNumbers sets dst to the scaled numbers of the block's rows. Results for nulls are arbitrary.
func scaleNumbers[T float32 | float64](b *block, dst []float32, src []T, null []bool, s *scaling) {
	for done := 0; done < len(src); {
		done += standardize.Column(dst[done:], src[done:], s.minus[0], s.times[0], s.bound)
		for next := min(done+standardize.Lanes, len(src)); done < next; done++ {
			if null == nil || !null[done] {
				dst[done] = b.exact(done, 0, float64(src[done]), s)
			}
		}
	}
	s.keepWithin(dst, 0)
}

// encodeVectors writes a column of vectors into a block.
func (r *Rows) encodeVectors(b *block, c *boundColumn, in *input) {
	values, s := valuesOf(in.array)
	switch a := values.(type) {
	case *array.Float32:
		scaleVectors(r, b, c, in, a.Float32Values(), s.first)
	case *array.Float64:
		scaleVectors(r, b, c, in, a.Float64Values(), s.first)
	default:
		r.loaded = resize(r.loaded, c.width)
		for i := range b.rows.len() {
			loadNumbers(r.loaded, in.array, b.rows.part(i, i+1))
			scaleVector(r, b, c, in, i, r.loaded)
		}
	}
}

// scaleVectors writes the vectors of the block's rows. Vector first of values belongs to row 0 of
// the record.
func scaleVectors[T float32 | float64](r *Rows, b *block, c *boundColumn, in *input, values []T, first int) {
	for i := range b.rows.len() {
		scaleVector(r, b, c, in, i, values[(first+b.rows.row(i))*c.width:][:c.width])
	}
}

// scaleVector writes the vector of row i of the block.
func scaleVector[T float32 | float64](r *Rows, b *block, c *boundColumn, in *input, i int, src []T) {
	var null []bool
	if in.missing {
		null = r.nulls(in, b.rows.part(i, i+1), c.width)
	}
	s, dst := &c.scaling, b.x[i*b.dim+c.at:][:len(src)]
	for done := 0; done < len(src); {
		done += standardize.Row(dst[done:], src[done:], s.minus[done:], s.times[done:], s.bound)
		for next := min(done+standardize.Lanes, len(src)); done < next; done++ {
			if null == nil || !null[done] {
				dst[done] = b.exact(i, done, float64(src[done]), s)
			}
		}
	}
	for j, low := range s.low {
		if v := dst[j]; v < low {
			dst[j] = low
		} else if v > s.high[j] {
			dst[j] = s.high[j]
		}
	}
	for j, missing := range null {
		if missing {
			dst[j] = s.missing(j)
			b.counts.Imputed++
		}
	}
}

// nulls returns which numbers of the rows are missing, [rows·width], nil if none is.
func (r *Rows) nulls(in *input, rows picked, width int) []bool {
	if !in.missing {
		return nil
	}
	r.null = resize(r.null, rows.len()*width)
	if !markEach(r.null, in.array, rows, width) {
		return nil
	}
	return r.null
}
