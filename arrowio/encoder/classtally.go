package encoder

import (
	"slices"
	"strings"
)

// tallied is the number of classes that a tally has room for.
const tallied = 64

// ClassRows is a class and a number of its rows.
type ClassRows struct {
	Class string `json:"class"`
	Rows  int64  `json:"rows"`
}

// ClassTally counts rows by class. Its memory is bounded: with more than 64 classes the counts are
// too small, but frequent classes are found among any number of rare ones. The zero value is empty.
// It belongs to one goroutine.
type ClassTally struct{ counts textCounts }

// Add counts rows of a class. Its name is copied, and cut if longer than MaxCategoryBytes.
func (t *ClassTally) Add(class string, rows int64) {
	if t.counts.rows == nil {
		t.counts = newTextCounts(tallied)
	}
	if !learnable(class) {
		class = strings.ToValidUTF8(class[:min(len(class), MaxCategoryBytes)], "?")
	}
	t.counts.add(class, rows)
}

// Rows is how many rows of the class were counted, or fewer if there were more than 64 classes.
func (t *ClassTally) Rows(class string) int64 { return t.counts.count(class) }

// List returns the classes and their rows, those with the most rows first.
func (t *ClassTally) List() []ClassRows {
	var list []ClassRows
	for _, class := range t.counts.byRows() {
		list = append(list, ClassRows{class, t.Rows(class)})
	}
	return list
}

// Empty reports whether nothing was counted.
func (t *ClassTally) Empty() bool { return len(t.counts.rows) == 0 }

// Clear forgets everything.
func (t *ClassTally) Clear() {
	clear(t.counts.rows)
	t.counts.lost = 0
}

// Respelt returns the known class from which a class differs only in blanks, case or a final
// period.
func Respelt(class string, known []string) (name string, found bool) {
	at := slices.IndexFunc(known, func(name string) bool { return plainName(name) == plainName(class) })
	if at < 0 {
		return "", false
	}
	return known[at], true
}

// plainName is a class without the marks by which misspelt labels usually differ.
func plainName(class string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.TrimRight(strings.TrimSpace(class), ".")), " "))
}
