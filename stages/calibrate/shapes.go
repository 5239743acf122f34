package calibrate

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/stages/events"
)

// shapeRows are the rows of one shape in one partition: of events whose possible feature and label columns have the
// same names and kinds.
type shapeRows struct {
	key string // identifies the shape
	// usable says that an encoder can be learned from it: the label columns are there and every column has a usable
	// kind.
	usable bool
	rows   int64          // seen
	kept   []arrow.Record // copies; of an unusable shape only the first row
}

// firstRows are the first rows of one partition. They are enough when one usable shape has as many as wanted, or when
// the budget is used up. They are a prefix of the rows by ordinal, however these are cut into messages.
type firstRows struct {
	events events.Config
	keeper *keeper
	wanted int64
	share  int64        // bytes
	budget int64        // bytes of it that are left
	huge   bool         // a row or its columns alone exceed the share: those before it have to do
	shapes []*shapeRows // by their first rows
	byKey  map[string]*shapeRows
	filled bool
	text   textRows
}

func newFirstRows(e events.Config, wanted, share int64) *firstRows {
	return &firstRows{events: e, keeper: newKeeper(e), wanted: wanted, share: share, budget: share, byKey: make(map[string]*shapeRows)}
}

// enough reports whether no more rows are needed.
func (c *firstRows) enough() bool { return c.filled || c.overBudget() }

func (c *firstRows) overBudget() bool { return c.budget <= 0 || c.huge }

// freeShape, or a quarter of the share, is what the columns of the first shape may take that counts against no budget.
const freeShape = 64 << 10

// shape returns the shape of the rows, of which there is at least one; nil if its columns are too much.
func (c *firstRows) shape(rows arrow.Record) *shapeRows {
	key := c.keeper.key(rows.Schema())
	if shape, ok := c.byKey[key]; ok {
		return shape
	}
	cost, free := int64(len(key))+shapeBytes(rows.Schema()), int64(0)
	if len(c.shapes) == 0 {
		free = max(freeShape, c.share/4)
	}
	if cost-free > c.share {
		c.huge = true
		return nil
	}
	c.budget -= max(0, cost-free) // bounds the number of shapes as well
	usable := !slices.ContainsFunc(c.events.Label, func(name string) bool { return !rows.Schema().HasField(name) })
	if usable {
		head := rows.NewSlice(0, 1)
		usable = encoder.NewCalibrator(c.events.Options()).Add(head) == nil
		head.Release()
	}
	shape := &shapeRows{key: key, usable: usable}
	c.byKey[key], c.shapes = shape, append(c.shapes, shape)
	return shape
}

// addText copies what is needed of a row of JSON. A row counts against the budget with its own length.
func (c *firstRows) addText(row []byte) {
	if c.enough() {
		return
	}
	if c.huge = int64(len(row)) > c.share; c.huge {
		return
	}
	shape := c.byKey[textShape]
	if shape == nil {
		shape = &shapeRows{key: textShape, usable: true}
		c.byKey[textShape], c.shapes = shape, append(c.shapes, shape)
	}
	c.text.add(row)
	c.budget -= int64(len(row)) + rowBytes
	shape.rows++
	c.filled = shape.rows >= c.wanted
}

// keepText drops rows of JSON beyond the first ones, and whether one was huge: those of a message that was refused.
func (c *firstRows) keepText(rows int, huge bool) {
	c.huge = huge
	if dropped := len(c.text.ends) - rows; dropped > 0 {
		at := c.text.start(rows)
		c.budget += int64(len(c.text.text)-at) + int64(dropped)*rowBytes
		c.text.text, c.text.ends = c.text.text[:at], c.text.ends[:rows]
		c.byKey[textShape].rows = int64(rows)
		c.filled = false
	}
}

// add copies what is needed of a batch. Every row counts against the budget, even if it will not be used, so that
// reading is bounded. Rows of other shapes do not count as wanted ones.
func (c *firstRows) add(batch arrow.Record) error {
	if c.enough() || batch.NumRows() == 0 {
		return nil
	}
	shape, wanted := c.shape(batch), batch.NumRows()
	if shape == nil {
		return nil
	}
	if shape.usable {
		wanted = min(wanted, c.wanted-shape.rows)
	}
	n, bytes := c.keeper.fit(batch, wanted, max(1, c.budget), c.share)
	c.huge = n < wanted && bytes < c.budget
	c.budget -= bytes
	shape.rows += n
	c.filled = shape.usable && shape.rows >= c.wanted
	if n == 0 || !shape.usable && len(shape.kept) > 0 {
		return nil
	}
	if !shape.usable {
		n = 1
	}
	if len(shape.kept) > 0 { // the report on columns is about those of the first rows
		batch = c.keeper.only(batch)
		defer batch.Release()
	}
	rows, err := c.keeper.copy(batch, n)
	if err != nil {
		return err
	}
	shape.keep(c.keeper, rows)
	return nil
}

// keep takes over rows. It joins batches of similar size, so that many small messages do not become many small records.
func (s *shapeRows) keep(k *keeper, rows arrow.Record) {
	for len(s.kept) > 0 {
		last := s.kept[len(s.kept)-1]
		if last.NumRows() > rows.NumRows() {
			break
		}
		both, ok := k.join(last, rows)
		if !ok {
			break
		}
		last.Release()
		rows.Release()
		s.kept, rows = s.kept[:len(s.kept)-1], both
	}
	s.kept = append(s.kept, rows)
}

func (c *firstRows) release() {
	for _, shape := range c.shapes {
		events.Release(shape.kept)
		shape.kept = nil
	}
}

// chooseShape picks the shape to learn from: the usable one with the most rows over all partitions, and of equals the
// one seen first in partition order. If none is usable, it is the one with the most rows, whose fault is then reported.
func chooseShape(partitions []*scan) string {
	type total struct {
		rows   int64
		usable bool
	}
	totals, order := map[string]*total{}, []string{}
	for _, partition := range partitions {
		for _, shape := range partition.first.shapes {
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
