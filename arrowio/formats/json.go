package formats

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/eerf-stream/eerf/arrowio"
)

// MaxDepth is the maximum nesting of objects, records and messages.
const MaxDepth = 16

// Bounds on names and numbers: longer ones are never meant as columns, and are slow to read.
const (
	maxName   = 1024
	maxDigits = 1024
)

// ErrJSON reports bytes that are not JSON, or not rows in JSON.
var ErrJSON = errors.New("message does not hold JSON rows")

var jsonFormat = format{
	name: JSON, fault: ErrJSON, registered: "JSON", begins: looksLikeJSON,
	reader: func(o *Options, _ *wanted) messageReader { return &jsonReader{learning: o.Learning} },
}

// looksLikeJSON reports whether the first byte that is not a space opens an object or an array. No
// Arrow stream starts like that: the spaces would be a length that is not a multiple of eight, or
// be followed by a zero.
func looksLikeJSON(value []byte) bool {
	rest := bytes.TrimLeft(value, " \t\r\n")
	return len(rest) > 0 && (rest[0] == '{' || rest[0] == '[')
}

// jsonReader reads a message of JSON into a table.
type jsonReader struct {
	learning *Learning // nil unless an encoder is learned

	body    []byte // the message
	ended   int64  // end of the last row in the message
	table   *table
	input   bytes.Buffer
	decoder *jsontext.Decoder
	flat    bool   // the decoder allows duplicate names
	path    []byte // name of the current column
}

// read fills the table with the rows of a message: a sequence of objects and arrays of objects.
func (r *jsonReader) read(t *table, m message) error {
	t.own()
	value := m.body
	// In rows without nested values the table detects duplicate names at a fifth of the library's
	// cost.
	flat := withoutParts(value)
	if !flat {
		if err := t.budget.Take(namesCost(value)); err != nil {
			return err
		}
	}
	r.table, r.path, r.body, r.ended = t, r.path[:0], value, 0
	r.input = *bytes.NewBuffer(value)
	switch {
	case r.decoder == nil:
		r.decoder = jsontext.NewDecoder(&r.input, jsontext.AllowDuplicateNames(flat))
	case r.flat != flat:
		r.decoder.Reset(&r.input, jsontext.AllowDuplicateNames(flat))
	}
	r.flat = flat
	defer r.release()
	for {
		switch kind := r.decoder.PeekKind(); kind {
		case '{':
			if err := r.row(); err != nil {
				return err
			}
		case '[':
			if err := r.rows(); err != nil {
				return err
			}
		default:
			_, err := r.decoder.ReadToken()
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			if err != nil {
				return badJSON(err)
			}
			return arrowio.Wrap(ErrJSON, "found %v instead of an object", kind)
		}
	}
}

// release drops the message, which the library would otherwise hold until the next one, and the
// names if they are many.
func (r *jsonReader) release() {
	if !r.flat && namesCost(r.body) > restingScratch {
		r.decoder = nil
	} else {
		r.decoder.Reset(&r.input, jsontext.AllowDuplicateNames(r.flat))
	}
	r.table, r.input, r.body = nil, bytes.Buffer{}, nil
}

// namesCost is an upper bound on the library's allocations for comparing the names within each
// object: three copies of the text, and an entry in a list and in a map for each name.
func namesCost(value []byte) int64 {
	const each = 128
	return 3*int64(len(value)) + each*int64(bytes.Count(value, []byte{':'}))
}

// withoutParts reports whether no value of a row can be an object or an array. The contents of
// strings may make it return false for a message without nested values.
func withoutParts(value []byte) bool {
	for i, c := range value {
		if c != '{' && c != '[' {
			continue
		}
		if before := bytes.TrimRight(value[:i], " \t\r\n"); len(before) > 0 && before[len(before)-1] == ':' {
			return false
		}
	}
	return true
}

// badJSON wraps an error of the library. The error names the position and quotes only a small part
// of the message.
func badJSON(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return arrowio.Wrap(ErrJSON, "message is truncated")
	}
	text := err.Error()
	const shown = 200
	return arrowio.Wrap(ErrJSON, "%s", text[:min(len(text), shown)])
}

// skipToken consumes a token after a peek.
func (r *jsonReader) skipToken() error {
	if _, err := r.decoder.ReadToken(); err != nil {
		return badJSON(err)
	}
	return nil
}

// rows reads an array of objects.
func (r *jsonReader) rows() error {
	if err := r.skipToken(); err != nil {
		return err
	}
	for {
		switch kind := r.decoder.PeekKind(); kind {
		case '{':
			if err := r.row(); err != nil {
				return err
			}
		case ']':
			return r.skipToken()
		default:
			if err := r.skipToken(); err != nil {
				return err
			}
			return arrowio.Wrap(ErrJSON, "array of rows contains %v", kind)
		}
	}
}

// row reads an object.
func (r *jsonReader) row() error {
	if err := r.object(1); err != nil {
		return err
	}
	if r.learning != nil {
		r.report()
	}
	return r.table.endRow()
}

// object reads an object at the given depth. It appends names to the path.
func (r *jsonReader) object(depth int) error {
	if depth > MaxDepth {
		return tooLarge("objects nested more than %d deep", MaxDepth)
	}
	if err := r.skipToken(); err != nil {
		return err
	}
	prefix := len(r.path)
	for r.decoder.PeekKind() == '"' {
		name, err := r.decoder.ReadValue()
		if err != nil {
			return badJSON(err)
		}
		if prefix+len(name) > maxName {
			return tooLarge("column name of %d bytes, at most %d", prefix+len(name), maxName)
		}
		if r.path, err = appendText(r.path, name); err != nil {
			return badJSON(err)
		}
		if err := r.value(depth); err != nil {
			return err
		}
		r.path = r.path[:prefix]
	}
	return r.skipToken() // the closing brace, or an error
}

// value reads the value of the column named by the path.
func (r *jsonReader) value(depth int) error {
	kind := r.decoder.PeekKind()
	if kind == '{' {
		r.path = append(r.path, '.')
		return r.object(depth + 1)
	}
	at, err := r.table.column(r.path)
	if err != nil {
		return err
	}
	var found cell
	if kind == '[' {
		found, err = r.list(depth)
	} else {
		found, err = r.scalar(kind)
	}
	if err != nil {
		return err
	}
	first, err := r.table.put(at, found.kind, found.bits)
	if err == nil && !first {
		return arrowio.Wrap(ErrJSON, "duplicate column %s in a row", arrowio.Quote(r.path))
	}
	return err
}

// scalar reads a value that is neither object nor array.
func (r *jsonReader) scalar(kind jsontext.Kind) (cell, error) {
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return cell{}, badJSON(err)
	}
	switch kind {
	case 't':
		return cell{cellBool, 1}, nil
	case 'f':
		return cell{cellBool, 0}, nil
	case '0':
		one, err := jsonNumber(raw)
		if one.kind == cellFloat && isWhole(raw) {
			one.kind = cellWide
			one.bits, err = r.table.addText(raw)
		}
		return one, err
	case '"':
		return r.text(raw)
	}
	return given, nil
}

func (r *jsonReader) text(raw []byte) (cell, error) {
	if err := r.table.roomFor(len(raw)); err != nil {
		return cell{}, err
	}
	at := len(r.table.text)
	text, err := appendText(r.table.text, raw)
	if err != nil {
		return cell{}, badJSON(err)
	}
	r.table.text = text
	return cell{cellText, span(at, len(text)-at)}, nil
}

// appendText appends the text of a JSON string that the decoder has validated.
func appendText(dst, quoted []byte) ([]byte, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return append(dst, quoted[1:len(quoted)-1]...), nil
	}
	return jsontext.AppendUnquote(dst, quoted)
}

// jsonNumber reads a number. Numbers without point and exponent that fit an int64 are whole; a
// column that is only copied keeps the digits of longer ones.
func jsonNumber(raw []byte) (cell, error) {
	if len(raw) > maxDigits {
		return cell{}, tooLarge("number of %d digits, at most %d", len(raw), maxDigits)
	}
	text := unsafe.String(unsafe.SliceData(raw), len(raw)) // only used while it is parsed
	if isWhole(raw) {
		if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
			return cell{cellWhole, uint64(whole)}, nil
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return cell{}, arrowio.Wrap(ErrJSON, "number %s is too large", arrowio.Quote(raw))
	}
	return cell{cellFloat, math.Float64bits(v)}, nil
}

// isWhole reports whether a number is written without point and exponent.
func isWhole(raw []byte) bool {
	for _, c := range raw {
		if c == '.' || c == 'e' || c == 'E' {
			return false
		}
	}
	return true
}

// list reads an array of numbers and nulls. It skips other arrays.
func (r *jsonReader) list(depth int) (cell, error) {
	if err := r.skipToken(); err != nil {
		return cell{}, err
	}
	at, numbers := len(r.table.numbers), true
	for {
		kind := r.decoder.PeekKind()
		switch {
		case kind == ']':
			if err := r.skipToken(); err != nil || !numbers {
				return cell{kind: cellOther}, err
			}
			return cell{cellList, span(at, len(r.table.numbers)-at)}, nil
		case kind == '{' || kind == '[':
			numbers = false
			if err := r.pass(depth); err != nil {
				return cell{}, err
			}
		default:
			one, err := r.element(kind)
			if err != nil {
				return cell{}, err
			}
			numbers = numbers && (isNumber(one) || one.kind == cellNull)
			if !numbers {
				continue
			}
			v := math.Float64frombits(nullNumber)
			if isNumber(one) {
				v = one.float()
			}
			if err := r.table.addNumber(v); err != nil {
				return cell{}, err
			}
		}
	}
}

// element reads an array element that is neither object nor array. Strings are not kept.
func (r *jsonReader) element(kind jsontext.Kind) (cell, error) {
	if kind != '"' && kind != '0' {
		return r.scalar(kind)
	}
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return cell{}, badJSON(err)
	}
	if kind == '0' {
		return jsonNumber(raw)
	}
	return cell{kind: cellOther}, nil
}

// pass skips an object or array that does not fit a column.
func (r *jsonReader) pass(depth int) error {
	base := r.decoder.StackDepth()
	for {
		if _, err := r.decoder.ReadToken(); err != nil {
			return badJSON(err)
		}
		switch nested := r.decoder.StackDepth() - base; {
		case nested == 0:
			return nil
		case depth+nested > MaxDepth:
			return tooLarge("arrays and objects nested more than %d deep", MaxDepth)
		}
	}
}
