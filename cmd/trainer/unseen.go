package main

import (
	"fmt"
	"strings"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// shownClasses bounds the classes that a note names.
const shownClasses = 5

// heldOutWrong is the consequence of unlearned classes for a model.
const heldOutWrong = "held-out ones count as wrong. Lower events.class_min_rows or list events.classes to learn them"

// unseenNotes describes rows of classes that a feature set does not know, and the classes among
// them that look like a misspelt known one. consequence is what becomes of the rows.
func unseenNotes(rows int64, classes []encoder.ClassRows, known []string, consequence string) []string {
	if rows == 0 {
		return nil
	}
	var named, notes []string
	counted := int64(0) // counts of many classes are too small, see [encoder.ClassTally]
	for _, c := range classes {
		counted += c.Rows
	}
	for _, c := range classes[:min(len(classes), shownClasses)] {
		name := fmt.Sprintf("%q", c.Class)
		if counted == rows {
			name += fmt.Sprintf(" in %d rows", c.Rows)
		}
		named = append(named, name)
	}
	if n := len(classes) - shownClasses; n > 0 && counted == rows {
		named = append(named, fmt.Sprintf("and %d more", n))
	} else if n > 0 {
		named = append(named, "and others")
	}
	notes = append(
		notes,
		fmt.Sprintf("%d rows have a class that was too rare in the explored rows or absent from them: %s. "+
			"They teach nothing; %s",
			rows, strings.Join(named, ", "), consequence),
	)
	for _, c := range classes {
		if name, found := encoder.Respelt(c.Class, known); found {
			notes = append(notes, fmt.Sprintf("%q in %d rows differs from class %q only in blanks, case or a final period",
				c.Class, c.Rows, name))
		}
	}
	return notes
}
