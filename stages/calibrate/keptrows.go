package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
)

// keptRows holds the rows of one partition with the lowest hashes. A hash depends only on seed,
// partition and ordinal, so these rows are a sample of the whole range, independent of how rows are
// split into messages. Each shape keeps its rows separately, up to the wanted number. If all of
// them exceed the partition's share, the rows with the highest hashes are dropped. Bounds on the
// hashes only fall, so a dropped row never returns.
type keptRows struct {
	events events.Config
	keeper *keeper
	hasher scoring.Hasher
	wanted int
	share  int64 // bytes
	next   int64 // ordinal of the next row
	// columns is the memory of the shapes' columns that counts against the share.
	columns int64
	bytes   int64 // of the kept rows, except rows of JSON
	over    bool  // rows were dropped to stay within the share
	shapes  []*shapeRows
	byKey   map[string]*shapeRows
	text    textRows // the rows of JSON, whose shape is [textShape]
	staged  textRows // rows of the current message
	// schema, shape and variant belong to the last batch.
	schema  *arrow.Schema
	shape   *shapeRows
	variant *variantRows
}

// shapeRows holds the rows of one shape in one partition. Events have the same shape if their
// possible feature and label columns have the same names and kinds.
type shapeRows struct {
	key string // identifies the shape
	// usable is set if an encoder can be learned from the rows: the label columns exist and every
	// column has a usable kind. An unusable shape keeps only one row, to report its fault.
	usable   bool
	head     *arrow.Schema // all columns of the first row, including columns that are not kept
	rows     int64         // seen
	count    int           // kept
	bound    uint64        // only rows with lower hashes are kept
	full     bool          // rows beyond the wanted number were dropped
	variants []*variantRows
}

// variantRows holds the kept rows of a shape whose columns have the same order and types. Most
// shapes have a single variant.
type variantRows struct {
	schema  *arrow.Schema  // of the pieces
	columns []int          // indexes in the last batch, in the order of the schema
	pieces  []arrow.Record // in row order
	entries []keptRow      // one per row in pieces
}

// keptRow describes a kept row.
type keptRow struct {
	hash  uint64
	bytes int64
}

func newKeptRows(e events.Config, seed uint64, partition int32, wanted, share int64) *keptRows {
	return &keptRows{
		events: e,
		keeper: newKeeper(e),
		hasher: scoring.NewHasher(seed^scoring.CalibrationTag, partition),
		wanted: int(wanted),
		share:  share,
		byKey:  make(map[string]*shapeRows),
		text:   newTextRows(),
		staged: newTextRows(),
	}
}

// freeShape, or a quarter of the share, is the part of the first shape's columns that is not
// charged to the share.
const freeShape = 64 << 10

// afford reports whether the share has room for the columns of another shape, and charges them if
// so. At least half of the share remains for rows.
func (c *keptRows) afford(cost int64) bool {
	free := int64(0)
	if len(c.shapes) == 0 {
		free = max(freeShape, c.share/4)
	}
	cost = max(0, cost-free)
	if c.columns+cost > c.share/2 {
		return false
	}
	c.columns += cost
	return true
}

// bind sets shape and variant for a batch with rows; shape is nil if its columns are too large.
func (c *keptRows) bind(batch arrow.Record) {
	if batch.Schema() == c.schema {
		return
	}
	c.schema = arrowio.Resting(batch.Schema())
	c.variant = nil
	key := c.keeper.key(batch.Schema())
	if c.shape = c.byKey[key]; c.shape == nil {
		if !c.afford(int64(len(key)) + shapeBytes(batch.Schema())) {
			c.over = true
			return
		}
		c.shape = &shapeRows{key: key, head: batch.Schema(), usable: c.usable(batch), bound: math.MaxUint64}
		c.byKey[key], c.shapes = c.shape, append(c.shapes, c.shape)
	}
	schema := c.keeper.stored(batch.Schema())
	if at := slices.IndexFunc(c.shape.variants, func(v *variantRows) bool { return v.schema.Equal(schema) }); at >= 0 {
		c.variant = c.shape.variants[at]
		c.variant.columns = c.keeper.columns(batch.Schema())
		return
	}
	if len(c.shape.variants) > 0 && !c.afford(shapeBytes(schema)) {
		c.over = true
		return
	}
	c.variant = &variantRows{schema: schema, columns: c.keeper.columns(batch.Schema())}
	c.shape.variants = append(c.shape.variants, c.variant)
}

// usable reports whether an encoder can be learned from rows like the first of a batch.
func (c *keptRows) usable(batch arrow.Record) bool {
	if slices.ContainsFunc(c.events.Label, func(name string) bool { return !batch.Schema().HasField(name) }) {
		return false
	}
	head := batch.NewSlice(0, 1)
	defer head.Release()
	return encoder.NewCalibrator(c.events.Options()).Add(head) == nil
}

// add copies the rows of a batch with low hashes. It decides row by row, so that the result does
// not depend on how rows are split into batches.
func (c *keptRows) add(batch arrow.Record) error {
	rows := int(batch.NumRows())
	first := c.next
	c.next += int64(rows)
	if rows == 0 {
		return nil
	}
	c.bind(batch)
	if c.shape == nil {
		return nil
	}
	c.shape.rows += int64(rows)
	switch {
	case c.variant == nil, !c.shape.usable && c.shape.count > 0:
		return nil
	case !c.shape.usable:
		rows = 1
	}
	taken, trimmed := c.take(batch, first, rows)
	if err := c.store(batch, taken); err != nil || !trimmed {
		return err
	}
	return c.drop()
}

// take returns which of the first rows of a batch to keep. The first row has ordinal first. trimmed
// reports that they displace other rows: the bounds of the shapes are then at most the hashes of
// the displaced rows.
func (c *keptRows) take(batch arrow.Record, first int64, rows int) (taken []int32, trimmed bool) {
	var size func(row int) int64
	for i := range rows {
		hash := c.hasher.Row(first + int64(i))
		if hash >= c.shape.bound {
			continue
		}
		if size == nil {
			size = sizes(batch, c.variant.columns)
		}
		bytes := size(i)
		if bytes > c.share {
			c.over = true
			continue
		}
		taken = append(taken, int32(i))
		c.variant.entries = append(c.variant.entries, keptRow{hash, bytes})
		c.shape.count++
		c.bytes += bytes
		if c.shape.count > 2*c.wanted || c.bytes > c.budget()+c.share/4 {
			c.lower()
			trimmed = true
		}
	}
	return taken, trimmed
}

// store copies the taken rows of a batch, which are the last entries of the variant.
func (c *keptRows) store(batch arrow.Record, taken []int32) error {
	if len(taken) == 0 {
		return nil
	}
	rows, err := copyRows(batch, c.variant.columns, taken)
	if err != nil {
		left := len(c.variant.entries) - len(taken)
		c.variant.entries = c.variant.entries[:left]
		return err
	}
	return c.variant.add(rows)
}

// fewPieces is the number of pieces of similar size that are joined into one, so that many small
// messages do not become many small records.
const fewPieces = 8

// add appends rows and takes ownership of them.
func (v *variantRows) add(rows arrow.Record) error {
	v.pieces = append(v.pieces, rows)
	for {
		n, most := 0, 2*v.pieces[len(v.pieces)-1].NumRows()
		for n < len(v.pieces) && v.pieces[len(v.pieces)-1-n].NumRows() <= most {
			n++
		}
		if n < fewPieces {
			return nil
		}
		last := v.pieces[len(v.pieces)-n:]
		joined, err := join(last)
		if err != nil {
			return fmt.Errorf("join calibration rows: %w", err)
		}
		events.Release(last)
		v.pieces = append(v.pieces[:len(v.pieces)-n], joined)
	}
}

// budget returns the bytes that kept rows may take, not counting columns. If a partition has rows
// of JSON and of other formats, each side gets half.
func (c *keptRows) budget() int64 {
	budget := c.share - c.columns
	if text := c.byKey[textShape]; text != nil && len(c.shapes) > 1 {
		budget /= 2
	}
	return budget
}

// lower lowers the bounds of the shapes until the rows below them fit the wanted number and the
// budget.
func (c *keptRows) lower() {
	if c.lowerToWanted() {
		return
	}
	type candidate struct {
		keptRow
		shape *shapeRows
	}
	var all []candidate
	for _, shape := range c.shapes {
		shape.count = 0
		for _, v := range shape.variants {
			for _, row := range v.entries {
				if row.hash < shape.bound {
					all = append(all, candidate{row, shape})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.hash, b.hash) })
	c.bytes = 0
	budget := c.budget()
	for i, row := range all {
		switch {
		case row.hash >= row.shape.bound:
		case row.shape.count == c.wanted:
			row.shape.full = true
			row.shape.bound = row.hash
		case c.bytes+row.bytes > budget && i > 0:
			c.over = true
			for _, shape := range c.shapes {
				shape.bound = min(shape.bound, row.hash)
			}
			return
		default:
			row.shape.count++
			c.bytes += row.bytes
		}
	}
}

// lowerToWanted is lower where a single shape has more rows than wanted and the rows to keep fit
// the budget, which takes no sorting. It reports whether that is so.
func (c *keptRows) lowerToWanted() bool {
	if len(c.shapes) != 1 {
		return false
	}
	shape := c.shapes[0]
	hashes := make([]uint64, 0, shape.count)
	for _, v := range shape.variants {
		for _, row := range v.entries {
			if row.hash < shape.bound {
				hashes = append(hashes, row.hash)
			}
		}
	}
	if len(hashes) <= c.wanted {
		return false
	}
	bound, count, bytes := nth(hashes, c.wanted), 0, int64(0)
	for _, v := range shape.variants {
		for _, row := range v.entries {
			if row.hash < bound {
				count++
				bytes += row.bytes
			}
		}
	}
	if bytes > c.budget() {
		return false
	}
	shape.bound, shape.full, shape.count = bound, true, count
	c.bytes = bytes
	return true
}

// nth returns the hash at index n of the ascending order. It reorders the hashes.
func nth(hashes []uint64, n int) uint64 {
	low, high := 0, len(hashes)-1
	for low < high {
		pivot := hashes[low+(high-low)/2]
		i, j := low, high
		for i <= j {
			for hashes[i] < pivot {
				i++
			}
			for hashes[j] > pivot {
				j--
			}
			if i <= j {
				hashes[i], hashes[j] = hashes[j], hashes[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return hashes[n]
		}
	}
	return hashes[n]
}

// drop drops the rows with hashes at or above the bounds of their shapes.
func (c *keptRows) drop() error {
	for _, shape := range c.shapes {
		for _, v := range shape.variants {
			if err := v.drop(shape.bound); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop drops the rows with hashes at or above the bound.
func (v *variantRows) drop(bound uint64) error {
	var rows []int32
	var entries []keptRow
	for i, row := range v.entries {
		if row.hash < bound {
			rows = append(rows, int32(i))
			entries = append(entries, row)
		}
	}
	if len(rows) == len(v.entries) {
		return nil
	}
	own, err := gather(v.pieces, rows)
	if err != nil {
		return fmt.Errorf("drop calibration rows: %w", err)
	}
	events.Release(v.pieces)
	v.pieces, v.entries = []arrow.Record{own}, entries
	return nil
}

// addText stages a row of JSON, because its message may still be refused.
func (c *keptRows) addText(row []byte) {
	hash := c.hasher.Row(c.next + c.staged.seen)
	c.staged.seen++
	switch {
	case hash >= c.text.bound || hash >= c.staged.bound:
	case int64(len(row))+rowBytes > c.share:
		c.staged.over = true
	default:
		c.staged.add(hash, row)
		if c.staged.exceeds(c.wanted, c.share) {
			c.staged.trim(c.wanted, c.share)
		}
	}
}

// acceptText keeps the staged rows of a message.
func (c *keptRows) acceptText() {
	c.next += c.staged.seen
	if c.staged.seen > 0 {
		shape := c.byKey[textShape]
		if shape == nil {
			shape = &shapeRows{key: textShape, usable: true}
			c.byKey[textShape], c.shapes = shape, append(c.shapes, shape)
		}
		shape.rows += c.staged.seen
	}
	for i, row := range c.staged.rows {
		c.text.add(row.hash, c.staged.at(i))
	}
	c.over = c.over || c.staged.over
	if budget := c.budget(); c.text.exceeds(c.wanted, budget) {
		c.text.trim(c.wanted, budget)
	}
	c.refuseText()
}

// refuseText drops the staged rows of a refused message.
func (c *keptRows) refuseText() { c.staged.reset() }

// settle drops the surplus rows after the last row was added.
func (c *keptRows) settle() error {
	c.text.trim(c.wanted, c.budget())
	c.over = c.over || c.text.over
	if text := c.byKey[textShape]; text != nil {
		text.bound, text.full = c.text.bound, c.text.full
	}
	c.lower()
	return c.drop()
}

func (c *keptRows) release() {
	for _, shape := range c.shapes {
		for _, v := range shape.variants {
			events.Release(v.pieces)
			v.pieces = nil
		}
	}
}

// chooseShape picks the shape to learn from: the usable shape with the most rows over all
// partitions, and among equals the first one in partition order. If no shape is usable, it picks
// the shape with the most rows, whose fault is then reported.
func chooseShape(partitions []*scan) string {
	type total struct {
		rows   int64
		usable bool
	}
	totals, order := map[string]*total{}, []string{}
	for _, partition := range partitions {
		for _, shape := range partition.kept.shapes {
			if totals[shape.key] == nil {
				totals[shape.key] = &total{usable: shape.usable}
				order = append(order, shape.key)
			}
			totals[shape.key].rows += shape.rows
		}
	}
	best := ""
	for i, key := range order {
		have, other := totals[key], totals[best]
		if i == 0 || have.usable && !other.usable || have.usable == other.usable && have.rows > other.rows {
			best = key
		}
	}
	return best
}

// commonBound returns the hash below which every partition has kept all its rows of a shape. The
// rows below it thus sample every partition in proportion to its rows. Partitions that dropped rows
// only to stay within their share are ignored; they contribute fewer rows.
func commonBound(partitions []*scan, key string) uint64 {
	bound := uint64(math.MaxUint64)
	for _, partition := range partitions {
		if shape := partition.kept.byKey[key]; shape != nil && shape.full {
			bound = min(bound, shape.bound)
		}
	}
	return bound
}
