package encoder

import "github.com/apache/arrow/go/v15/arrow"

// TextFile is the value of [TextField] of fields that were read from a file. Their texts of another
// kind are missing, because nobody waits for the answer about a single row.
const TextFile = "file"

// Reads reports whether a text is a value of a kind in the form, or marks an absent one. In columns
// that were text in calibration any other text is missing too.
func (f *Form) Reads(k Kind, text string) bool {
	return f.Text || f.fits(k, text) || isAbsence(text) || f.nulls.has(text)
}

// refuseTexts marks the rows whose text is neither a value of the kind nor stands for a missing
// one. It checks only the rows for which unread is true.
func refuseTexts(fault []uint8, a arrow.Array, rows picked, kind Kind, form *Form, unread func(i int) bool) {
	t := textsOf(a)
	for i := range rows.len() {
		if !unread(i) || fault[i] != noFault {
			continue
		}
		if text, ok := t.at(rows.row(i)); ok && !form.Reads(kind, text) {
			fault[i] = wrongKind
		}
	}
}
