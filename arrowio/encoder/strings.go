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

// at returns the string of a row, a view of the column's memory, and false for a null.
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
	return t.plain(row), true
}

// entry returns entry i of the dictionary, and false when that entry is null.
func (t *texts) entry(i int) (string, bool) {
	if t.dict.Dictionary().IsNull(i) {
		return "", false
	}
	return t.plain(i), true
}

// plain returns string i of the column, or of the dictionary if it has one.
func (t *texts) plain(i int) string {
	if t.small != nil {
		return t.small.Value(i)
	}
	return t.large.Value(i)
}

// code returns the number of a value in the table.
func code(table map[string]int32, value string, ok bool) int32 {
	if !ok {
		return nullCode
	}
	if n, seen := table[value]; seen {
		return n
	}
	return unseenCode
}

// loadCodes fills dst with the codes of the given rows of a category column. entries is scratch for
// the codes of a dictionary; loadCodes returns it, perhaps grown. Each entry of a dictionary is
// looked up once, unless there are more entries than rows: a few rows of a message should not pay
// for a large dictionary.
func loadCodes(dst []int32, a arrow.Array, rows picked, table map[string]int32, entries []int32) []int32 {
	t := textsOf(a)
	if t.dict == nil || t.dict.Dictionary().Len() > rows.len() {
		for i := range rows.len() {
			value, ok := t.at(rows.row(i))
			dst[i] = code(table, value, ok)
		}
		return entries
	}
	entries = resize(entries, t.dict.Dictionary().Len())
	for i := range entries {
		value, ok := t.entry(i)
		entries[i] = code(table, value, ok)
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
