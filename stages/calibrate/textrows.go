package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/stages/events"
)

// textShape is the key of all rows of JSON. They have no schema: each row may lack columns of the
// others.
const textShape = "rows of JSON"

// textRows holds the rows of JSON in one partition with the lowest hashes, as text. Their columns
// and types are decided after the whole range has been read, so that they depend on the rows, not
// on the messages.
type textRows struct {
	text  []byte
	rows  []textRow // in row order
	seen  int64
	bound uint64 // only rows with lower hashes are kept
	full  bool   // rows beyond the wanted number were dropped
	over  bool   // rows were dropped to stay within the bytes
}

// textRow locates a row in the text.
type textRow struct {
	hash uint64
	end  int
}

func newTextRows() textRows { return textRows{bound: math.MaxUint64} }

func (t *textRows) reset() {
	const resting = 64 << 10
	text := t.text[:0]
	if cap(text) > resting {
		text = nil
	}
	*t = newTextRows()
	t.text = text
}

// Rows of JSON are reread in pieces of at most pieceRows rows and pieceBytes bytes.
const (
	pieceRows  = 256
	pieceBytes = 256 << 10
)

// piece is a run of rows that can be read together.
type piece struct{ from, to int }

func (t *textRows) add(hash uint64, row []byte) {
	t.text = append(t.text, row...)
	t.rows = append(t.rows, textRow{hash, len(t.text)})
}

func (t *textRows) start(row int) int {
	if row == 0 {
		return 0
	}
	return t.rows[row-1].end
}

// at returns the text of a row.
func (t *textRows) at(row int) []byte { return t.text[t.start(row):t.rows[row].end] }

func (t *textRows) of(p piece) []byte { return t.text[t.start(p.from):t.start(p.to)] }

// bytes returns the size of the rows.
func (t *textRows) bytes() int64 { return int64(len(t.text)) + rowBytes*int64(len(t.rows)) }

// exceeds reports whether the rows exceed a number or a budget by enough to be trimmed.
func (t *textRows) exceeds(wanted int, budget int64) bool {
	return len(t.rows) > wanted+wanted/4 || t.bytes() > budget+budget/4
}

// trim drops the rows with the highest hashes until the rest fits the wanted number and the budget.
func (t *textRows) trim(wanted int, budget int64) {
	if len(t.rows) > wanted {
		hashes := make([]uint64, len(t.rows))
		for i, row := range t.rows {
			hashes[i] = row.hash
		}
		bound := nth(hashes, wanted)
		if _, bytes := t.below(bound); bytes <= budget {
			t.full = true
			t.drop(bound)
			return
		}
	}
	order := make([]int, len(t.rows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(t.rows[a].hash, t.rows[b].hash) })
	for i, row := range order {
		budget -= int64(len(t.at(row))) + rowBytes
		if i >= wanted {
			t.full = true
			t.drop(t.rows[row].hash)
			return
		}
		if budget < 0 && i > 0 {
			t.over = true
			t.drop(t.rows[row].hash)
			return
		}
	}
}

// below returns the number of rows with hashes below a bound, and their bytes.
func (t *textRows) below(bound uint64) (rows int, bytes int64) {
	for i, row := range t.rows {
		if row.hash < bound {
			rows++
			bytes += int64(len(t.at(i))) + rowBytes
		}
	}
	return rows, bytes
}

// drop drops the rows with hashes at or above the bound.
func (t *textRows) drop(bound uint64) {
	t.bound = min(t.bound, bound)
	left := textRows{bound: t.bound, seen: t.seen, full: t.full, over: t.over}
	rows, bytes := t.below(t.bound)
	left.rows, left.text = slices.Grow(left.rows, rows), slices.Grow(left.text, int(bytes)-rows*rowBytes)
	for i, row := range t.rows {
		if row.hash < t.bound {
			left.add(row.hash, t.at(i))
		}
	}
	*t = left
}

// survey adds the rows to a survey and returns the pieces that it could read: rows with few common
// columns may exceed the limits together.
func (t *textRows) survey(s *formats.Survey) (pieces []piece) {
	var try func(p piece)
	try = func(p piece) {
		switch err := s.Add(t.of(p)); {
		case err == nil:
			pieces = append(pieces, p)
		case p.to-p.from > 1:
			middle := (p.from + p.to) / 2
			try(piece{p.from, middle})
			try(piece{middle, p.to})
		}
	}
	for from := 0; from < len(t.rows); {
		to := from + 1
		for to < min(len(t.rows), from+pieceRows) && t.rows[to].end-t.start(from) <= pieceBytes {
			to++
		}
		try(piece{from, to})
		from = to
	}
	return pieces
}

// commonest sets the minimum share of rows: a column must have a value in more than 1/commonest of
// the rows, or be named by the configuration.
const commonest = 100

// textColumns decides the columns of the rows of JSON in all partitions. Pieces are in the order of
// scans.
func textColumns(
	scans []*scan,
	e events.Config,
	limits arrowio.Limits,
) (columns []formats.Column, pieces [][]piece, others formats.Others) {
	named := setOf(slices.Concat(e.Features, e.Label, e.Passthrough, e.Exclude))
	survey := formats.NewSurvey(limits, func(name string) bool { return named[name] })
	for _, one := range scans {
		pieces = append(pieces, one.kept.text.survey(survey))
	}
	columns, others = survey.Columns(survey.Rows()/commonest + 1)
	return columns, pieces, others
}

// schemaOfText returns the schema of rows of JSON that all have a value in each column.
func schemaOfText(columns []formats.Column) *arrow.Schema {
	types := map[encoder.Kind]arrow.DataType{
		encoder.Category: arrow.BinaryTypes.String,
		encoder.Numeric:  arrow.PrimitiveTypes.Float64,
		encoder.Bool:     arrow.FixedWidthTypes.Boolean,
		"":               arrow.Null,
	}
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		typ := types[c.Kind]
		if c.Kind == encoder.Vector {
			typ = arrow.FixedSizeListOf(int32(c.Width), arrow.PrimitiveTypes.Float64)
		}
		fields[i] = arrow.Field{Name: c.Name, Type: typ, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// reading returns a batch that reads a piece of the rows with the reader's columns.
func (t *textRows) reading(reader *formats.Decoder, p piece) calibrationBatch {
	batch := calibrationBatch{open: func() (arrow.Record, error) {
		recs, err := reader.Decode(t.of(p))
		if err != nil {
			return nil, fmt.Errorf("rows %d to %d of JSON: %w", p.from, p.to, err)
		}
		return recs[0], nil
	}}
	for _, row := range t.rows[p.from:p.to] {
		batch.hashes = append(batch.hashes, row.hash)
	}
	return batch
}
