package encoder

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// tallied is the number of classes that a tally has room for.
const tallied = 64

// ClassRows is a class and a number of its rows.
type ClassRows struct {
	Class string `json:"class"`
	Rows  int64  `json:"rows"`
}

// ClassTally counts rows by class. Its memory is bounded: beyond 64 classes a new one replaces the one with the fewest
// rows (Metwally, Agrawal and El Abbadi, Efficient computation of frequent and top-k elements, 2005), so frequent
// classes are found among any number of rare ones. The zero value is empty. It belongs to one goroutine.
type ClassTally struct {
	classes map[string]*tallyEntry
}

// tallyEntry has counted at most rows and at least rows-over.
type tallyEntry struct{ rows, over int64 }

// Add counts rows of a class. Its name is copied, and cut if longer than MaxCategoryBytes.
func (t *ClassTally) Add(class string, rows int64) {
	if !learnable(class) {
		class = strings.ToValidUTF8(class[:min(len(class), MaxCategoryBytes)], "?")
	}
	if entry, seen := t.classes[class]; seen {
		entry.rows += rows
		return
	}
	if t.classes == nil {
		t.classes = make(map[string]*tallyEntry)
	}
	entry := &tallyEntry{rows: rows}
	if len(t.classes) >= tallied {
		least := t.least()
		entry.over = t.classes[least].rows
		entry.rows += entry.over
		delete(t.classes, least)
	}
	t.classes[strings.Clone(class)] = entry
}

// least names the class with the fewest rows; of equal ones the first by name.
func (t *ClassTally) least() (least string) {
	var rows int64 = math.MaxInt64
	for class, entry := range t.classes {
		if entry.rows < rows || entry.rows == rows && class < least {
			least, rows = class, entry.rows
		}
	}
	return least
}

// Merge adds what other counted.
func (t *ClassTally) Merge(other *ClassTally) {
	for _, c := range other.List() {
		t.Add(c.Class, c.Rows)
	}
}

// Rows is how many rows of the class were counted, or fewer if there were more than 64 classes.
func (t *ClassTally) Rows(class string) int64 {
	if entry, seen := t.classes[class]; seen {
		return entry.rows - entry.over
	}
	return 0
}

// List returns the classes and their rows, those with the most rows first.
func (t *ClassTally) List() []ClassRows {
	var list []ClassRows
	for class := range t.classes {
		list = append(list, ClassRows{class, t.Rows(class)})
	}
	slices.SortFunc(list, func(a, b ClassRows) int { return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Class, b.Class)) })
	return list
}

// Empty reports whether nothing was counted.
func (t *ClassTally) Empty() bool { return len(t.classes) == 0 }

// Clear forgets everything.
func (t *ClassTally) Clear() { clear(t.classes) }

// classAt is the class of a labelled row. For text it is a view of the column's memory.
func classAt(l *Label, a arrow.Array, row int) string {
	switch l.Kind {
	case Category:
		t := textsOf(a)
		name, _ := t.at(row)
		return name
	case Bool:
		return className(a.(*array.Boolean).Value(row))
	}
	var v [1]float64
	loadNumbers(v[:], a, picked{first: row, n: 1})
	return classNumber(classValue(v[0], isShort(a.DataType())))
}
