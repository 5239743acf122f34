package datasets

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// Split divides the rows and encodes them. It fails if the encoder does (no feature column, a
// single class), if a part has no usable row, and if the encoded rows would take more than
// MaxBytes.
func (t *Table) Split(o SplitOptions) (*Split, error) {
	if !t.Fixed() && !(o.TestFraction > 0 && o.TestFraction < 1) {
		return nil, fmt.Errorf("split %s: test fraction %v is not between 0 and 1", t.name, o.TestFraction)
	}
	return t.SplitAt(o, t.testRows(o))
}

// SplitAt is Split with test rows that the caller marks: one value for each row of the table.
func (t *Table) SplitAt(o SplitOptions, inTest []bool) (*Split, error) {
	trainRows, testRows := t.picked(inTest, false), t.picked(inTest, true)
	calibrationRows := lowestRows(trainRows, o.Seed, encoder.DefaultCalibrationRows)
	enc, report, err := t.calibrate(o, calibrationRows, count(trainRows))
	if err != nil {
		return nil, fmt.Errorf("split %s: %w", t.name, err)
	}
	groups := report.GroupNote(t.copies)
	if t.rule.By == rowid.Group {
		groups = ""
	}
	for _, note := range []string{t.hint, t.copiesNote(), groups} {
		if note != "" {
			report.Warnings = append(report.Warnings, note)
		}
	}
	hashes := trainingHashes(trainRows, o.Seed)
	if enc, err = t.addEffects(enc, calibrationRows, hashes); err != nil {
		return nil, fmt.Errorf("split %s: %w", t.name, err)
	}
	if err := t.review(enc, calibrationRows, &report); err != nil {
		return nil, fmt.Errorf("split %s: %w", t.name, err)
	}
	s := &Split{Encoder: enc, Report: report, Copies: t.copies}
	train, err := t.encode(enc, trainRows, hashes)
	if err != nil {
		return nil, fmt.Errorf("split %s: training rows: %w", t.name, err)
	}
	test, err := t.encode(enc, testRows, nil)
	if err != nil {
		return nil, fmt.Errorf("split %s: test rows: %w", t.name, err)
	}
	s.Tallies = encoder.Merge(train.tallies(), test.tallies())
	s.Train, s.TrainLeftOut = train.data, train.out
	s.Test, s.TestLeftOut, s.TestUnknown = test.data, test.out, test.unknown.List()
	return s, nil
}

// copiesNote is a sentence about equal rows, or "". Test rows of a file of their own may equal
// training rows.
func (t *Table) copiesNote() string {
	if !t.Fixed() {
		return rowid.CopiesNote(t.copies, t.rule)
	}
	taught, known := map[uint64]struct{}{}, 0
	for _, id := range t.ids[:t.firstTest] {
		taught[id] = struct{}{}
	}
	for _, id := range t.ids[t.firstTest:] {
		if _, ok := taught[id]; ok {
			known++
		}
	}
	return rowid.TaughtNote(float64(known)/float64(t.rows-t.firstTest), t.rule)
}

// testRows marks the rows of the test part.
func (t *Table) testRows(o SplitOptions) []bool {
	inTest := make([]bool, t.rows)
	if t.Fixed() {
		for i := t.firstTest; i < t.rows; i++ {
			inTest[i] = true
		}
		return inTest
	}
	number, copies := t.number()
	order := rand.New(rand.NewPCG(o.Seed, splitTag)).Perm(len(copies))
	chosen, left := make([]bool, len(copies)), int(math.Round(o.TestFraction*float64(t.rows)))
	for _, i := range order {
		if left <= 0 {
			break
		}
		chosen[i] = true
		left -= copies[i]
	}
	for row, i := range number {
		inTest[row] = chosen[i]
	}
	return inTest
}

// number numbers the identities in the order of their first rows. It returns the number of each row
// and the rows of each number.
func (t *Table) number() (number, copies []int) {
	known := make(map[uint64]int, t.rows)
	number = make([]int, t.rows)
	for row, id := range t.ids {
		n, ok := known[id]
		if !ok {
			n = len(copies)
			known[id] = n
			copies = append(copies, 0)
		}
		number[row] = n
		copies[n]++
	}
	return number, copies
}

// splitTag separates the numbers that shuffle rows from others drawn with the same seed ("split" in
// ASCII).
const splitTag = 0x73706c6974

// picked lists, for each record, its rows in the given part.
func (t *Table) picked(inTest []bool, test bool) [][]int32 {
	rows := make([][]int32, len(t.records))
	first := 0
	for r, rec := range t.records {
		next := first + int(rec.NumRows())
		for i := first; i < next; i++ {
			if inTest[i] == test {
				rows[r] = append(rows[r], int32(i-first))
			}
		}
		first = next
	}
	return rows
}

// lowestRows returns the rows with the lowest hashes by their numbers among the given ones, at most
// as many as wanted: the rows that an exploration of a file of these rows calibrates on.
func lowestRows(rows [][]int32, seed uint64, wanted int) [][]int32 {
	hasher := scoring.NewHasher(seed^scoring.CalibrationTag, 0)
	hashes := make([]uint64, count(rows))
	if len(hashes) <= wanted {
		return rows
	}
	for i := range hashes {
		hashes[i] = hasher.Row(int64(i))
	}
	order := slices.Clone(hashes)
	slices.Sort(order)
	bound := order[wanted]
	lowest, number := make([][]int32, len(rows)), 0
	for r, list := range rows {
		for _, row := range list {
			if hashes[number] < bound {
				lowest[r] = append(lowest[r], row)
			}
			number++
		}
	}
	return lowest
}

// count returns the number of rows.
func count(rows [][]int32) (n int) {
	for _, list := range rows {
		n += len(list)
	}
	return n
}

// calibrate learns the encoder from the given rows, a sample of a number of rows.
func (t *Table) calibrate(o SplitOptions, rows [][]int32, of int) (*encoder.Encoder, encoder.Report, error) {
	if t.fault != nil {
		return nil, encoder.Report{}, t.fault
	}
	options := t.options
	options.Standardize, options.Clip = o.Standardize, o.Clip
	learn := encoder.NewCalibrator(options)
	learn.SampledFrom(int64(of))
	for r, rec := range t.records {
		if len(rows[r]) == 0 {
			continue
		}
		if err := addRows(learn, rec, rows[r]); err != nil {
			return nil, encoder.Report{}, err
		}
	}
	return learn.Encoder()
}

// rowHashes returns the hash function for the rows of a record.
type rowHashes func(record int) func(row int32) uint64

// trainingHashes returns the hashes by which an exploration of a file of the given rows chooses
// those that it calibrates on.
func trainingHashes(rows [][]int32, seed uint64) rowHashes {
	hasher, first := scoring.NewHasher(seed^scoring.CalibrationTag, 0), make([]int, len(rows))
	for r := 1; r < len(rows); r++ {
		first[r] = first[r-1] + len(rows[r-1])
	}
	return func(record int) func(row int32) uint64 {
		return func(row int32) uint64 {
			at, _ := slices.BinarySearch(rows[record], row)
			return hasher.Row(int64(first[record] + at))
		}
	}
}

// addEffects returns the encoder with the effects of categories in the given rows.
func (t *Table) addEffects(enc *encoder.Encoder, rows [][]int32, hashes rowHashes) (*encoder.Encoder, error) {
	sums := encoder.NewEffectSums(enc)
	if sums == nil {
		return enc, nil
	}
	step := max(1, chunkValues/enc.Dim)
	for r, rec := range t.records {
		for list := rows[r]; len(list) > 0; {
			take := list[:min(step, len(list))]
			list = list[len(take):]
			if err := sums.Add(rec, take, hashes(r)); err != nil {
				return nil, err
			}
		}
	}
	return sums.Encoder(), nil
}

// review checks the encoder on the given rows and adds its findings to the report.
func (t *Table) review(enc *encoder.Encoder, rows [][]int32, report *encoder.Report) error {
	look := encoder.NewReview(enc)
	step := max(1, chunkValues/enc.Dim)
	for r, rec := range t.records {
		for list := rows[r]; len(list) > 0; {
			take := list[:min(step, len(list))]
			list = list[len(take):]
			if err := look.Add(rec, take); err != nil {
				return err
			}
		}
	}
	look.Report(report)
	return nil
}

// addRows adds some rows of a record to the calibrator.
func addRows(learn *encoder.Calibrator, rec arrow.Record, rows []int32) error {
	if len(rows) == int(rec.NumRows()) {
		return learn.Add(rec)
	}
	part, err := wire.GatherRows([]arrow.Record{rec}, rows)
	if err != nil {
		return err
	}
	defer part.Release()
	return learn.Add(part)
}

// MaxBytes bounds the encoded rows of one part: dense rows with wide encodings can be much larger
// than their file.
const MaxBytes = 16 << 30

// errNoRows reports a part without usable rows.
var errNoRows = errors.New("no usable row")

// chunkValues is the number of encoded values made at a time, 4 MiB.
const chunkValues = 1 << 20

// encode encodes the given rows into a part. hashes are those of rows that teach.
func (t *Table) encode(enc *encoder.Encoder, rows [][]int32, hashes rowHashes) (*part, error) {
	n := count(rows)
	if bytes := 4 * int64(n) * int64(enc.Dim); bytes > MaxBytes {
		return nil, fmt.Errorf(
			"%d rows of %d dimensions need %d MiB, more than the limit of %d MiB; use fewer rows or columns",
			n, enc.Dim, bytes>>20, int64(MaxBytes)>>20)
	}
	p := newPart(t.name, enc, n)
	step, first := max(1, chunkValues/enc.Dim), 0
	for r, rec := range t.records {
		ids := t.ids[first:]
		first += int(rec.NumRows())
		before := int64(first) - rec.NumRows()
		p.rows.Number = func(row int32) int64 { return before + int64(row) }
		if hashes != nil {
			p.rows.Teaching = hashes(r)
		}
		for list := rows[r]; len(list) > 0; {
			take := list[:min(step, len(list))]
			list = list[len(take):]
			if err := p.add(rec, take, ids); err != nil {
				return nil, err
			}
		}
	}
	if p.data.N == 0 {
		return nil, errNoRows
	}
	return p, nil
}
