package encoder

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// The codes of values that are not in a table.
const (
	unseenCode = -1
	nullCode   = -2
)

// texts reads the strings of a string, large_string or dictionary column. The zero value reads only
// nulls, for a column of Arrow's null type.
type texts struct {
	small *array.String
	large *array.LargeString
	dict  *array.Dictionary
	// format formats the value of a row for other types.
	format func(row int) string
	// valid is the column itself, nil if everything is null.
	valid arrow.Array
}

// textsOf returns the reader for a column of strings, or of the numbers and booleans that a text
// format may have instead.
func textsOf(a arrow.Array) texts {
	t := texts{valid: a}
	if dict, ok := a.(*array.Dictionary); ok {
		t.dict = dict
		a = dict.Dictionary()
	}
	switch a := a.(type) {
	case *array.String:
		t.small = a
	case *array.LargeString:
		t.large = a
	case *array.Null:
		return texts{}
	default:
		t.format = formatterOf(a)
	}
	return t
}

// formatterOf returns a function that formats numbers and booleans as text, whole numbers without a
// fraction.
func formatterOf(a arrow.Array) func(row int) string {
	if arrow.IsFloating(a.DataType().ID()) {
		return func(row int) string {
			var v [1]float64
			loadNumbers(v[:], a, picked{first: row, n: 1})
			return classNumber(classValue(v[0], isShort(a.DataType())))
		}
	}
	return a.ValueStr
}

// at returns the string of a row without the blanks around it, a view of the column's memory, and
// false for a null and for the empty string.
func (t *texts) at(row int) (string, bool) {
	if t.valid == nil || t.valid.IsNull(row) {
		return "", false
	}
	if t.dict != nil {
		return t.entry(t.dict.GetValueIndex(row))
	}
	if t.format != nil {
		return t.format(row), true
	}
	text := t.plain(row)
	return text, text != ""
}

// entry is at for entry i of the dictionary.
func (t *texts) entry(i int) (string, bool) {
	if t.dict.Dictionary().IsNull(i) {
		return "", false
	}
	text := t.plain(i)
	return text, text != ""
}

// plain returns string i of the column, or of the dictionary if it has one, without the blanks
// around it.
func (t *texts) plain(i int) string {
	if t.small != nil {
		return trimmed(t.small.Value(i))
	}
	return trimmed(t.large.Value(i))
}

// codeTable gives the codes of categories or classes.
type codeTable struct {
	codes map[string]int32
	nulls *nullWords
}

// code returns the number of a value in the table. A value in it is never missing.
func (t *codeTable) code(value string, ok bool) int32 {
	if !ok {
		return nullCode
	}
	if n, seen := t.codes[value]; seen {
		return n
	}
	if t.nulls.has(value) {
		return nullCode
	}
	return unseenCode
}

// loadCodes fills dst with the codes of the given rows of a category column. entries is scratch for
// the codes of a dictionary; loadCodes returns it, perhaps grown. Each entry of a dictionary is
// looked up once, unless there are more entries than rows: a few rows of a message should not pay
// for a large dictionary.
func loadCodes(dst []int32, a arrow.Array, rows picked, table *codeTable, entries []int32) []int32 {
	t := textsOf(a)
	if t.dict == nil || t.dict.Dictionary().Len() > rows.len() {
		for i := range rows.len() {
			value, ok := t.at(rows.row(i))
			dst[i] = table.code(value, ok)
		}
		return entries
	}
	entries = resize(entries, t.dict.Dictionary().Len())
	for i := range entries {
		value, ok := t.entry(i)
		entries[i] = table.code(value, ok)
	}
	for i := range rows.len() {
		row := rows.row(i)
		dst[i] = nullCode
		if !t.dict.IsNull(row) {
			dst[i] = entries[t.dict.GetValueIndex(row)]
		}
	}
	return entries
}

// loadBools fills dst with no or yes for the given rows of a boolean column, or nullCode.
func loadBools(dst []int32, a arrow.Array, rows picked, no, yes int32) {
	if !isBool(a) {
		loadTextBools(dst, a, rows, no, yes)
		return
	}
	values, ok := a.(*array.Boolean)
	for i := range rows.len() {
		row := rows.row(i)
		switch {
		case !ok || values.IsNull(row):
			dst[i] = nullCode
		case values.Value(row):
			dst[i] = yes
		default:
			dst[i] = no
		}
	}
}

// isTextType reports whether a type holds strings.
func isTextType(t arrow.DataType) bool {
	read, ok := typeOf(t)
	return ok && read.kind == Category
}

// isText reports whether the numbers of a column have to be parsed from text, because it holds
// strings or booleans.
func isText(a arrow.Array) bool {
	switch a.(type) {
	case *array.String, *array.LargeString, *array.Dictionary, *array.Boolean:
		return true
	default:
		return false
	}
}

// isStrings reports whether an array holds strings.
func isStrings(a arrow.Array) bool { return isText(a) && !isBool(a) }

// isBool reports whether an array holds booleans, or nothing but nulls.
func isBool(a arrow.Array) bool {
	switch a.(type) {
	case *array.Boolean, *array.Null:
		return true
	default:
		return false
	}
}

// loadTextBools is loadBools for strings, in which the words true and false in any case are
// booleans.
func loadTextBools(dst []int32, a arrow.Array, rows picked, no, yes int32) {
	t := textsOf(a)
	for i := range rows.len() {
		dst[i] = nullCode
		text, _ := t.at(rows.row(i))
		switch value, ok := parseBool(text); {
		case ok && value:
			dst[i] = yes
		case ok:
			dst[i] = no
		}
	}
}

// resize returns s with length n, reusing its memory if it is large enough. The contents are
// arbitrary.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
