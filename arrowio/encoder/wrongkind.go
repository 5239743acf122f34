package encoder

import (
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// missingWords are the texts that stand for a missing value in a column of another kind, in lower
// case.
var missingWords = map[string]bool{
	"": true, "?": true, "na": true, "n/a": true, "<na>": true, "nan": true, "null": true, "none": true, "nil": true,
}

// IsMissing reports whether a text stands for a missing value.
func IsMissing(text string) bool {
	const longest = 4
	text = strings.TrimSpace(text)
	return len(text) <= longest && missingWords[strings.ToLower(text)]
}

// Reads reports whether a text is a value of a kind, or stands for a missing one.
func Reads(k Kind, text string) bool {
	ok := true
	switch k {
	case Numeric:
		_, ok = parseNumber(text)
	case Bool:
		_, ok = parseBool(text)
	case Time, Clock:
		_, ok = parserOf(k)(text)
	}
	return ok || IsMissing(text)
}

// parseBool reads a boolean from the strings of a text format.
func parseBool(text string) (is, ok bool) {
	switch text = strings.TrimSpace(text); {
	case strings.EqualFold(text, className(true)):
		return true, true
	case strings.EqualFold(text, className(false)):
		return false, true
	}
	return false, false
}

// refuseTexts marks the rows whose text is neither a value of the kind nor stands for a missing
// one. It checks only the rows for which unread is true.
func refuseTexts(fault []uint8, a arrow.Array, rows picked, kind Kind, unread func(i int) bool) {
	t := textsOf(a)
	for i := range rows.len() {
		if !unread(i) || fault[i] != noFault {
			continue
		}
		if text, ok := t.at(rows.row(i)); ok && !Reads(kind, text) {
			fault[i] = wrongKind
		}
	}
}
