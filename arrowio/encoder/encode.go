package encoder

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/scoring"
)

// A block of rows is encoded before the next, so that X stays in the second-level cache while its
// columns are written: blockFloats is its usual size, 256 KiB of X. It has a minimum number of rows
// because entering a column costs time, and a maximum because the scratch of a column grows with
// them.
const (
	blockFloats  = 64 << 10
	minBlockRows = 64
	maxBlockRows = 256
)

// Encode overwrites dst with the usable rows among take, which are row numbers of rec in any order;
// nil takes all. The package documentation says what happens to each row. The only error is a wrong
// schema: it wraps [ErrSchema] and leaves dst empty.
//
// X takes 4·Dim bytes per requested row, independently of the record's size (one byte of a
// dictionary column may become thousands), so a caller with a budget requests a bounded number of
// rows at a time. Cutting take into pieces gives the same rows. A row number that the record does
// not have panics.
func (e *Encoder) Encode(dst *Rows, rec arrow.Record, take []int32) error {
	dst.empty()
	if err := dst.binding.bind(e, rec.Schema()); err != nil {
		return err
	}
	rec = dst.binding.nulls.record(rec)
	defer rec.Release()
	dst.ask(e, int(rec.NumRows()), take)
	dst.encodeFeatures(rec)
	dst.encodeLabel(rec)
	dst.settle()
	return nil
}

// empty drops the rows, keeping their memory.
func (r *Rows) empty() {
	r.Counts = Counts{}
	r.UnseenClasses.Clear()
	r.Rejected = r.Rejected[:0]
	r.Targets = scoring.Targets{}
	r.truncate(0)
}

// ask makes room for the requested rows and records their numbers.
func (r *Rows) ask(e *Encoder, rows int, take []int32) {
	n := rows
	if take != nil {
		n = len(take)
	}
	r.N, r.Dim = n, e.Dim
	r.Row = resize(r.Row, n)
	r.Labelled = resize(r.Labelled, n)
	r.Unseen = resize(r.Unseen, n)
	clear(r.Unseen)
	r.fault = resize(r.fault, n)
	clear(r.fault)
	if take == nil {
		r.picked = picked{n: n}
		for i := range r.Row {
			r.Row[i] = int32(i)
		}
		return
	}
	copy(r.Row, take)
	r.picked = picked{list: r.Row}
	for _, row := range take {
		if row < 0 || int(row) >= rows {
			panic(fmt.Sprintf("encoder: row %d asked of a record of %d rows", row, rows))
		}
	}
}

// input is a feature column of the current record.
type input struct {
	array arrow.Array
	// parsed is set if its numbers have to be converted from times or text.
	parsed bool
	// missing is set if some of its numbers may be null, unless it is parsed.
	missing bool
	// strict is set if texts of another kind are faults: the column is of a text format.
	strict bool
}

// inputOf returns the column a of a record as one of a kind.
func inputOf(a arrow.Array, kind Kind) input {
	in := input{array: a, parsed: isTime(kind) || kind == Numeric && isText(a)}
	in.missing = !in.parsed && isNumeric(kind) && mayMiss(a)
	return in
}

// encodeFeatures fills X, block by block.
func (r *Rows) encodeFeatures(rec arrow.Record) {
	r.inputs = resize(r.inputs, len(r.binding.features))
	defer clear(r.inputs) // so that they do not keep the record's memory
	for i, column := range r.binding.features {
		a := rec.Column(column)
		r.inputs[i] = inputOf(a, r.binding.columns[i].kind)
		r.inputs[i].strict = r.binding.text && isStrings(a)
	}
	r.X = resize(r.X, r.N*r.Dim)
	r.binding.before = r.binding.rows
	r.binding.rows += int64(r.N)
	// an encoder with only a label has no dimensions
	number := r.rowNumber
	step := min(max(minBlockRows, blockFloats/max(1, r.Dim)), maxBlockRows)
	for first := 0; first < r.N; first += step {
		next := min(first+step, r.N)
		r.encodeBlock(&block{
			rows: r.picked.part(first, next), x: r.X[first*r.Dim : next*r.Dim], dim: r.Dim,
			fault: r.fault[first:next], counts: &r.Counts, rowNumber: number,
		})
	}
}

// encodeBlock writes all columns into a block, several columns of single numbers at a time.
func (r *Rows) encodeBlock(b *block) {
	for i := 0; i < len(r.inputs); {
		numbers := 0
		for next := min(i+stripColumns, len(r.inputs)); i+numbers < next && r.binding.columns[i+numbers].plain(); {
			numbers++
		}
		if numbers == 0 {
			before := b.counts.Imputed
			b.tally = &r.binding.tallies[i]
			r.encodeColumn(b, &r.binding.columns[i], &r.inputs[i])
			r.binding.imputed[i] += b.counts.Imputed - before
			i++
			continue
		}
		r.encodeNumbers(b, i, numbers)
		i += numbers
	}
}

// encodeColumn writes one column into a block, other than single numbers.
func (r *Rows) encodeColumn(b *block, c *boundColumn, in *input) {
	switch c.kind {
	case Vector:
		r.encodeVectors(b, c, in)
		return
	case Numeric, Time, Clock:
		r.encodeSingles(b, c, in)
		return
	}
	r.codes = resize(r.codes, b.rows.len())
	if c.kind == Bool {
		loadBools(r.codes, in.array, b.rows, unseenCode, 0)
		if in.strict {
			refuseTexts(b.fault, in.array, b.rows, c.kind, &c.form, func(i int) bool { return r.codes[i] == nullCode })
		}
		b.setIndicators(c.at, r.codes, &c.indicators)
		return
	}
	r.entries = loadCodes(r.codes, in.array, b.rows, &c.codes, r.entries)
	b.setIndicators(c.at, r.codes, &c.indicators)
	if c.effects != nil {
		r.entries = loadCodes(r.codes, in.array, b.rows, &c.effects.codes, r.entries)
		b.setEffects(r.codes, c.effects, r.Teaching)
	}
	b.countUnseen(r.codes, in.array)
}

// settle moves the faulty rows out of X into Rejected.
func (r *Rows) settle() {
	if bytes.Count(r.fault, []byte{noFault}) == r.N {
		return
	}
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
