package formats

import (
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// cellKind is the kind of a cell's value.
type cellKind uint8

const (
	cellNull  cellKind = iota
	cellBool           // 0 or 1
	cellWhole          // an int64
	cellFloat          // a float64
	cellText           // bytes in table.text
	cellWide           // digits in table.text of a whole number beyond int64
	cellList           // numbers in table.numbers
	cellOther          // a value that fits no column; read as null
	cellKinds
)

// cell is one value of one row.
type cell struct {
	kind cellKind
	bits uint64
}

// given is an explicit null: the row names the column, so it is not missing.
var given = cell{cellNull, 1}

const cellBytes = int64(unsafe.Sizeof(cell{}))

// span encodes the position and length of the bytes or numbers of a cell.
func span(at, n int) uint64 { return uint64(at)<<32 | uint64(uint32(n)) }

func (c cell) span() (at, n int) { return int(c.bits >> 32), int(uint32(c.bits)) }

// column is one column of a table. Rows after its last cell are null.
type column struct {
	name   string
	listed bool           // the index contains the name
	stray  bool           // the name is unknown
	typ    arrow.DataType // from the schema; nil = the cells decide
	cells  []cell
	room   arrowio.Room // of cells
	counts [cellKinds]int
}

// empty removes the cells of a column.
func (c *column) empty() {
	if c.room > 0 { // otherwise it is empty
		c.cells, c.room, c.counts = c.cells[:0], 0, [cellKinds]int{}
	}
}

// table holds the rows of a message, column by column.
type table struct {
	limits  arrowio.Limits
	budget  arrowio.Budget
	columns []column       // the capacity beyond the length holds forgotten columns, whose names and cells are reused
	index   map[string]int // by name, including forgotten columns
	rows    int
	next    int // the most likely next column
	text    []byte
	numbers []float64
	// Charged sizes of text and numbers.
	textRoom, numberRoom arrowio.Room

	known map[string]bool // names of columns that are not strays; nil = strays are not detected
	bound plan            // determines the columns; nil = the message names them
}

// keptScratch is the maximum number of bytes kept between messages, for each slice and for all
// cells together.
const keptScratch = 4 << 20

// keptName is the length of the longest name kept for a forgotten column.
const keptName = 64

// reset empties the table for the next message. Its columns stay, without cells, until [table.own]
// or [table.bind].
func (t *table) reset(limits arrowio.Limits) {
	t.limits = limits
	t.budget = arrowio.NewBudget(limits.BudgetBytes)
	t.rows, t.next = 0, 0
	t.text, t.numbers = emptied(t.text), emptied(t.numbers)
	t.textRoom, t.numberRoom = 0, 0
	kept := int64(0)
	all := t.columns[:cap(t.columns)] // including forgotten ones, whose cells are reused
	for i := range all {
		c := &all[i]
		if kept += int64(cap(c.cells)) * cellBytes; kept > keptScratch {
			c.cells = nil
		}
		c.empty()
	}
	if t.index == nil {
		t.index = make(map[string]int)
	}
}

// Bounds on the memory kept by an idle decoder.
const (
	restingScratch = 128 << 10 // bytes of cells, texts and numbers
	restingColumns = 512
	restingPlan    = 64 << 10 // bytes of the plan
)

// trim releases the memory of an unusually large message.
func (t *table) trim() {
	all := t.columns[:cap(t.columns)]
	if len(all) > restingColumns || t.bound != nil && t.bound.heldBytes() > restingPlan {
		*t = table{known: t.known}
		return
	}
	cells := int64(0)
	for i := range all {
		cells += int64(cap(all[i].cells)) * cellBytes
	}
	if int64(cap(t.text))+8*int64(cap(t.numbers))+cells <= restingScratch {
		return
	}
	t.text, t.numbers = nil, nil
	for i := range all {
		all[i].cells = nil
	}
	for i := len(t.columns); i < len(all); i++ {
		t.unlist(i)
		all[i].name = ""
	}
}

// own prepares the table for a message that names its own columns.
func (t *table) own() {
	t.truncate(0)
	t.bound = nil
}

// planned is a column of a plan.
type planned struct {
	name string
	typ  arrow.DataType
}

// bind prepares the table for a message whose columns come from a plan.
func (t *table) bind(p plan) error {
	columns := p.columnsOf()
	for _, c := range columns { // charge them as if they were new
		if err := t.budget.Take(columnCost + int64(len(c.name))); err != nil {
			return err
		}
	}
	if t.bound == p {
		return nil
	}
	t.truncate(0)
	t.bound = nil
	for _, c := range columns {
		t.place(c.name, c.typ)
	}
	t.bound = p
	return nil
}

// emptied returns the slice without elements. It drops the memory if it exceeds keptScratch.
func emptied[T any](s []T) []T {
	var one T
	if cap(s)*int(unsafe.Sizeof(one)) > keptScratch {
		return nil
	}
	return s[:0]
}

// truncate forgets the columns from n on. Most messages have the same columns in the same
// positions, so their names and cells are likely to be reused.
func (t *table) truncate(n int) {
	for i := n; i < len(t.columns); i++ {
		c := &t.columns[i]
		if len(c.name) > keptName {
			t.unlist(i)
			c.name = ""
		}
		if c.typ != nil {
			c.typ = nil
		}
		c.empty()
	}
	t.columns = t.columns[:n]
}

// find returns the index of the named column.
func (t *table) find(name string) (at int, ok bool) {
	at, ok = t.index[name]
	return at, ok && at < len(t.columns)
}

// unlist removes a column's name from the index if the entry refers to this column.
func (t *table) unlist(at int) {
	c := &t.columns[:cap(t.columns)][at]
	if c.listed {
		delete(t.index, c.name)
		c.listed = false
	}
}

// list adds a column's name to the index, replacing a forgotten column of that name.
func (t *table) list(at int) {
	all := t.columns[:cap(t.columns)]
	if before, ok := t.index[all[at].name]; ok {
		all[before].listed = false
	}
	t.index[all[at].name], all[at].listed = at, true
}

// abandon forgets the columns added by a refused message.
func (t *table) abandon() {
	if t.bound == nil {
		t.truncate(0)
	}
}

// column returns the index of the named column, adding it if needed.
func (t *table) column(name []byte) (int, error) {
	if at := t.next; at < cap(t.columns) && at <= len(t.columns) {
		c := &t.columns[:cap(t.columns)][at]
		switch same := c.listed && c.name == string(name); {
		case same && at < len(t.columns):
			t.next++
			return at, nil
		case same:
			return t.add(c.name, nil)
		}
	}
	if at, ok := t.index[string(name)]; ok && at < len(t.columns) {
		t.next = at + 1
		return at, nil
	}
	return t.add(string(name), nil)
}

// add adds a column with a new name.
func (t *table) add(name string, typ arrow.DataType) (int, error) {
	if len(t.columns) >= t.limits.MaxColumns {
		return 0, tooManyColumns(t.limits.MaxColumns)
	}
	if err := t.budget.Take(columnCost + int64(len(name))); err != nil {
		return 0, err
	}
	return t.place(name, typ), nil
}

// place adds a column that is already charged.
func (t *table) place(name string, typ arrow.DataType) int {
	at := len(t.columns)
	if at < cap(t.columns) {
		t.columns = t.columns[:at+1]
	} else {
		t.columns = append(t.columns, column{})
	}
	c := &t.columns[at]
	c.typ = typ
	if !c.listed || c.name != name {
		t.unlist(at)
		c.name, c.stray = name, t.known != nil && !t.known[name]
		t.list(at)
	}
	t.next = at + 1
	return at
}

// put sets a value of the current row. It returns false if the row already has one in that column.
func (t *table) put(at int, kind cellKind, bits uint64) (bool, error) {
	c := &t.columns[at]
	missing := t.rows - len(c.cells)
	if missing < 0 {
		return false, nil
	}
	cells, err := arrowio.Grow(&t.budget, &c.room, c.cells, missing+1)
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

// strays calls found for each unknown column, with the number of its values.
func (t *table) strays(found func(name string, values int)) {
	for i := range t.columns {
		c := &t.columns[i]
		if values := len(c.cells) - c.counts[cellNull]; c.stray && values > 0 {
			found(c.name, values)
		}
	}
}

// endRow ends the current row.
func (t *table) endRow() error {
	if t.rows >= t.limits.MaxRows {
		return tooLarge("more than %d rows", t.limits.MaxRows)
	}
	t.rows++
	t.next = 0
	return nil
}

// roomFor makes room for n bytes of text.
func (t *table) roomFor(n int) (err error) {
	t.text, err = arrowio.Grow(&t.budget, &t.textRoom, t.text, n)
	return err
}

// addText stores bytes and returns their span.
func (t *table) addText(s []byte) (uint64, error) {
	if err := t.roomFor(len(s)); err != nil {
		return 0, err
	}
	at := len(t.text)
	t.text = append(t.text, s...)
	return span(at, len(s)), nil
}

// addNumber stores a number of a list.
func (t *table) addNumber(v float64) (err error) {
	if t.numbers, err = arrowio.Grow(&t.budget, &t.numberRoom, t.numbers, 1); err == nil {
		t.numbers = append(t.numbers, v)
	}
	return err
}
