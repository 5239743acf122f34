package formats

import (
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// cellKind says what a cell holds.
type cellKind uint8

const (
	cellNull  cellKind = iota
	cellBool           // 0 or 1
	cellWhole          // an int64
	cellFloat          // a float64
	cellText           // bytes in table.text
	cellList           // numbers in table.numbers
	cellOther          // something that no column can hold: read as null
	cellKinds
)

// cell is one value of one row.
type cell struct {
	kind cellKind
	bits uint64
}

const cellBytes = int64(unsafe.Sizeof(cell{}))

// span is where the bytes or numbers of a cell stand.
func span(at, n int) uint64 { return uint64(at)<<32 | uint64(uint32(n)) }

func (c cell) span() (at, n int) { return int(c.bits >> 32), int(uint32(c.bits)) }

// column is one column of a table. Rows behind its last cell are null.
type column struct {
	name   string
	typ    arrow.DataType // as the schema has it; nil = what the cells say
	cells  []cell
	room   room // of cells
	counts [cellKinds]int
	learnt arrow.DataType // of the last message that had values, for a Decoder that is learning
}

// table holds the rows of a message, column by column.
type table struct {
	limits  arrowio.Limits
	budget  budget
	columns []column
	index   map[string]int
	rows    int
	next    int // the column that is likely to be asked for next
	text    []byte
	numbers []float64
	// What of text and numbers is paid for.
	textRoom, numberRoom room

	bound any // the plan whose columns these are; nil = the message's own
	keep  int // columns that stand from before the message, where there is no plan
}

// keptScratch is what is kept of a slice, and of all cells together, from one message to the next, in bytes.
const keptScratch = 4 << 20

// reset empties the table for a message. Its columns stay, without cells, until [table.own] or [table.bind].
func (t *table) reset(limits arrowio.Limits) {
	t.limits = limits
	t.budget = budget{limits.BudgetBytes, limits.BudgetBytes}
	t.rows, t.next = 0, 0
	t.text, t.numbers = emptied(t.text), emptied(t.numbers)
	t.textRoom, t.numberRoom = 0, 0
	kept := int64(0)
	all := t.columns[:cap(t.columns)] // also those that were forgotten, whose cells are used again
	for i := range all {
		c := &all[i]
		if kept += int64(cap(c.cells)) * cellBytes; kept > keptScratch {
			c.cells = nil
		}
		c.cells, c.room, c.counts = c.cells[:0], 0, [cellKinds]int{}
	}
	if t.index == nil {
		t.index = make(map[string]int)
	}
}

// own prepares for a message that names its columns itself. With keep those of earlier ones stand.
func (t *table) own(keep bool) {
	if !keep || t.bound != nil || len(t.columns) > t.limits.MaxColumns/2 {
		t.truncate(0)
	}
	t.bound, t.keep = nil, len(t.columns)
}

// planned is a column of a plan.
type planned struct {
	name string
	typ  arrow.DataType
}

// bind prepares for a message whose columns follow from a plan.
func (t *table) bind(plan any, columns []planned) error {
	if t.bound == plan {
		return t.budget.take(columnCost * int64(len(columns)))
	}
	t.truncate(0)
	t.bound, t.keep = nil, 0
	for _, c := range columns {
		if _, err := t.add(c.name, c.typ); err != nil {
			return err
		}
	}
	t.bound = plan
	return nil
}

// emptied is a slice without elements, and without memory that is more than is to be kept.
func emptied[T any](s []T) []T {
	var one T
	if cap(s)*int(unsafe.Sizeof(one)) > keptScratch {
		return nil
	}
	return s[:0]
}

// truncate forgets the columns from n on. Their cells are used again.
func (t *table) truncate(n int) {
	for i := n; i < len(t.columns); i++ {
		delete(t.index, t.columns[i].name)
		t.columns[i] = column{cells: t.columns[i].cells[:0]}
	}
	t.columns = t.columns[:n]
}

// abandon forgets the columns that a message brought which was then refused.
func (t *table) abandon() {
	if t.bound == nil {
		t.truncate(t.keep)
	}
}

// column returns the number of the column of a name, which it makes if need be.
func (t *table) column(name []byte) (int, error) {
	if t.next < len(t.columns) && t.columns[t.next].name == string(name) {
		t.next++
		return t.next - 1, nil
	}
	if at, ok := t.index[string(name)]; ok {
		t.next = at + 1
		return at, nil
	}
	return t.add(string(name), nil)
}

// add makes a column.
func (t *table) add(name string, typ arrow.DataType) (int, error) {
	at := len(t.columns)
	if at-t.keep >= t.limits.MaxColumns {
		return 0, tooLarge("more than %d columns", t.limits.MaxColumns)
	}
	if err := t.budget.take(columnCost + int64(len(name))); err != nil {
		return 0, err
	}
	if at < cap(t.columns) {
		t.columns = t.columns[:at+1]
	} else {
		t.columns = append(t.columns, column{})
	}
	c := &t.columns[at]
	*c = column{name: name, typ: typ, cells: c.cells}
	t.index[name] = at
	t.next = at + 1
	return at, nil
}

// put gives the row at hand a value. It returns false where the row has one in that column already.
func (t *table) put(at int, kind cellKind, bits uint64) (bool, error) {
	c := &t.columns[at]
	missing := t.rows - len(c.cells)
	if missing < 0 {
		return false, nil
	}
	cells, err := grow(&t.budget, &c.room, c.cells, missing+1, cellBytes)
	if err != nil {
		return false, err
	}
	for range missing {
		cells = append(cells, cell{})
	}
	c.counts[kind]++
	c.cells = append(cells, cell{kind, bits})
	return true, nil
}

// endRow ends the row at hand.
func (t *table) endRow() error {
	if t.rows >= t.limits.MaxRows {
		return tooLarge("more than %d rows", t.limits.MaxRows)
	}
	t.rows++
	t.next = 0
	return nil
}

// roomFor makes room for bytes of text.
func (t *table) roomFor(n int) (err error) {
	t.text, err = grow(&t.budget, &t.textRoom, t.text, n, 1)
	return err
}

// addText keeps bytes and says where.
func (t *table) addText(s []byte) (uint64, error) {
	if err := t.roomFor(len(s)); err != nil {
		return 0, err
	}
	at := len(t.text)
	t.text = append(t.text, s...)
	return span(at, len(s)), nil
}

// addNumber keeps a number of a list.
func (t *table) addNumber(v float64) (err error) {
	if t.numbers, err = grow(&t.budget, &t.numberRoom, t.numbers, 1, 8); err == nil {
		t.numbers = append(t.numbers, v)
	}
	return err
}
