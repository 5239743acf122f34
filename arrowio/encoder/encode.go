package encoder

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// blockFloats is the size of a block: 64 KiB of X, which stays in the second-level cache while the
// columns, each of which touches every row, are written one after the other.
const blockFloats = 16 << 10

// minBlockRows keeps the cost of entering a column small against its rows.
const minBlockRows = 16

// Encode overwrites dst with the usable rows among take, row numbers of rec in any order; nil takes
// all. What becomes of each row is in the package documentation. A wrong schema is the only error: it
// wraps [ErrSchema] and leaves dst empty.
//
// X takes 4·Dim bytes per row asked for, whatever the record's own size (one byte of a dictionary
// column may become thousands), so a caller with a budget asks for a bounded number of rows at a
// time. Cutting take into pieces gives the same rows. A row number that the record does not have
// panics.
func (e *Encoder) Encode(dst *Rows, rec arrow.Record, take []int32) error {
	dst.empty()
	if err := dst.binding.bind(e, rec.Schema()); err != nil {
		return err
	}
	dst.ask(e, int(rec.NumRows()), take)
	dst.encodeFeatures(rec)
	dst.encodeLabel(rec)
	dst.settle()
	return nil
}

// empty drops the rows, keeping their memory.
func (r *Rows) empty() {
	r.Counts = Counts{}
	r.Rejected = r.Rejected[:0]
	r.Targets.Outputs, r.Targets.Values, r.Targets.Class = 0, nil, nil
	r.truncate(0)
}

// ask makes room for the rows asked for and notes their numbers.
func (r *Rows) ask(e *Encoder, rows int, take []int32) {
	n := rows
	if take != nil {
		n = len(take)
	}
	r.N, r.Dim = n, e.Dim
	r.X = resize(r.X, n*e.Dim)
	r.Row = resize(r.Row, n)
	r.Labelled = resize(r.Labelled, n)
	r.fault = resize(r.fault, n)
	clear(r.fault)
	if take == nil {
		for i := range r.Row {
			r.Row[i] = int32(i)
		}
		return
	}
	copy(r.Row, take)
	for _, row := range take {
		if row < 0 || int(row) >= rows {
			panic(fmt.Sprintf("encoder: row %d asked of a record of %d rows", row, rows))
		}
	}
}

// encodeFeatures fills X block by block.
func (r *Rows) encodeFeatures(rec arrow.Record) {
	step := max(minBlockRows, blockFloats/max(1, r.Dim)) // an encoder of labels alone has no dimensions
	for first := 0; first < r.N; first += step {
		next := min(first+step, r.N)
		b := block{
			rows: r.Row[first:next], x: r.X[first*r.Dim : next*r.Dim], dim: r.Dim,
			fault: r.fault[first:next], counts: &r.Counts,
		}
		for i := range r.binding.columns {
			r.encodeColumn(&b, &r.binding.columns[i], rec.Column(r.binding.features[i]))
		}
	}
}

// encodeColumn writes one column into a block.
func (r *Rows) encodeColumn(b *block, c *boundColumn, a arrow.Array) {
	switch c.kind {
	case Numeric:
		b.scaleNumbers(c.at, r.loadFeatures(b, c, a), &c.scaling)
	case Vector:
		b.scaleVectors(c.at, r.loadFeatures(b, c, a), &c.scaling)
	case Bool:
		r.codes = resize(r.codes, len(b.rows))
		loadBools(r.codes, a, b.rows, unseenCode, 0)
		b.setIndicators(c.at, r.codes, &c.indicators)
	case Category:
		r.codes = resize(r.codes, len(b.rows))
		r.entries = loadCodes(r.codes, a, b.rows, c.codes, r.entries)
		b.setIndicators(c.at, r.codes, &c.indicators)
		b.countUnseen(r.codes)
	}
}

// loadFeatures returns the numbers of a column for a block, means in the place of nulls.
func (r *Rows) loadFeatures(b *block, c *boundColumn, a arrow.Array) []float64 {
	n := len(b.rows) * c.width
	r.loaded = resize(r.loaded, n)
	loadNumbers(r.loaded, a, b.rows)
	r.null = resize(r.null, n)
	if !markNulls(r.null, a, b.rows, c.width) {
		return r.loaded
	}
	for i := range b.rows {
		for j, mean := range c.scaling.mean {
			if at := i*c.width + j; r.null[at] {
				r.loaded[at] = mean
				b.counts.Imputed++
			}
		}
	}
	return r.loaded
}

// settle moves the faulty rows out of X into Rejected.
func (r *Rows) settle() {
	kept := 0
	for i := range r.N {
		if f := r.fault[i]; f != noFault {
			r.Rejected = append(r.Rejected, Rejection{r.Row[i], reasons[f], r.Labelled[i]})
			continue
		}
		r.move(kept, i)
		kept++
	}
	r.truncate(kept)
}
