package tensors

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/eerf-stream/eerf/arrowio"
)

// column makes the column of an input. Binary values are taken from the front of rest.
func (d *Decoder) column(in *input, rest *[]byte) (column arrow.Array, rows int64, err error) {
	kind, known := datatypes[in.datatype]
	if !known {
		return nil, 0, wrong("datatype %s is not read", arrowio.Quote(in.datatype))
	}
	rows, width, err := d.shape(in.shape)
	if err != nil {
		return nil, 0, err
	}
	if width > 1 && (kind.size == 0 || kind.arrow.ID() == arrow.BOOL) {
		return nil, 0, wrong("%s must have the shape [rows] or [rows, 1]", in.datatype)
	}
	v := values{decoder: d, kind: kind, n: rows * width}
	switch {
	case in.binary < 0 && in.data == nil:
		return nil, 0, wrong("it has no data")
	case in.binary < 0:
		err = v.readJSON(in.data)
	case in.data != nil:
		return nil, 0, wrong("it has both data and binary data")
	case in.binary > int64(len(*rest)):
		return nil, 0, wrong("%d bytes of binary data expected, %d follow", in.binary, len(*rest))
	default:
		err = v.readBinary((*rest)[:in.binary])
		*rest = (*rest)[in.binary:]
	}
	if err != nil {
		return nil, 0, err
	}
	return v.array(rows, width), rows, nil
}

// shape returns the number of rows, and of values in each.
func (d *Decoder) shape(shape []int64) (rows, width int64, err error) {
	if len(shape) == 0 {
		return 0, 0, wrong("it has no shape")
	}
	rows = shape[0]
	if rows > int64(d.limits.MaxRows) {
		return 0, 0, tooLarge("%d rows, at most %d", rows, d.limits.MaxRows)
	}
	width = 1
	for _, n := range shape[1:] {
		if n < 1 || n > math.MaxInt32 || width*n > math.MaxInt32 {
			return 0, 0, wrong("shape %v", shape)
		}
		width *= n
	}
	return rows, width, nil
}

// values are the values of an input.
type values struct {
	decoder *Decoder
	kind    datatype
	n       int64   // required number
	raw     []byte  // numbers, or the bytes of strings
	offsets []int32 // of strings
	bitmap  []byte  // of valid ones; nil = all
	nulls   int
}

// reserve makes room for all values; each takes at least this number of bytes.
func (v *values) reserve(given, least int64) error {
	if v.n > given/least {
		return wrong("its shape has %d values, its data %d bytes", v.n, given)
	}
	size := v.n * int64(v.kind.size)
	if v.kind.size == 0 {
		size = given
		offsets, err := arrowio.Make[int32](&v.decoder.budget, v.n+1)
		if err != nil {
			return err
		}
		v.offsets = offsets[:1]
	}
	raw, err := arrowio.Make[byte](&v.decoder.budget, size)
	v.raw = raw[:0]
	return err
}

// readBinary reads values as they are in memory, strings preceded by their lengths.
func (v *values) readBinary(data []byte) error {
	if v.kind.size > 0 {
		if int64(len(data)) != v.n*int64(v.kind.size) {
			return wrong("%d bytes of binary data for %d values of %d", len(data), v.n, v.kind.size)
		}
		if err := v.reserve(int64(len(data)), int64(v.kind.size)); err != nil {
			return err
		}
		v.raw = append(v.raw, data...)
		return nil
	}
	const prefix = 4
	if err := v.reserve(int64(len(data)), prefix); err != nil {
		return err
	}
	for len(data) > 0 {
		if len(data) < prefix {
			return wrong("a string without a length")
		}
		n := int64(binary.LittleEndian.Uint32(data))
		data = data[prefix:]
		if n > int64(len(data)) {
			return wrong("a string of %d bytes where %d are left", n, len(data))
		}
		if err := v.addText(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return v.complete()
}

func (v *values) addText(text []byte) error {
	if !utf8.Valid(text) {
		return wrong("a string is not valid UTF-8")
	}
	if int64(len(v.offsets)) > v.n {
		return wrong("more than the %d values of its shape", v.n)
	}
	v.raw = append(v.raw, text...)
	v.offsets = append(v.offsets, int32(len(v.raw)))
	return nil
}

// complete returns an error if there are fewer values than the shape has.
func (v *values) complete() error {
	if have := v.count(); have != v.n {
		return wrong("%d values, its shape has %d", have, v.n)
	}
	return nil
}

func (v *values) count() int64 {
	if v.kind.size == 0 {
		return int64(len(v.offsets) - 1)
	}
	return int64(len(v.raw) / v.kind.size)
}

// readJSON reads an array of values, which may be nested according to the shape.
func (v *values) readJSON(data []byte) error {
	if err := v.reserve(int64(len(data)), 2); err != nil {
		return err
	}
	v.decoder.reader = *bytes.NewBuffer(data)
	v.decoder.json.Reset(&v.decoder.reader, jsontext.AllowDuplicateNames(true))
	if kind := v.decoder.json.PeekKind(); kind != '[' {
		return wrong("its data is not an array")
	}
	for {
		kind := v.decoder.json.PeekKind()
		switch kind {
		case '[', ']':
			if err := v.decoder.next(); err != nil {
				return err
			}
			if depth := v.decoder.json.StackDepth(); depth == 0 {
				return v.complete()
			} else if depth > maxShape {
				return tooLarge("arrays nested more than %d deep", maxShape)
			}
			continue
		case '{', 0:
			return v.decoder.unexpected(kind, "a value")
		}
		if v.count() >= v.n {
			return wrong("more than the %d values of its shape", v.n)
		}
		if err := v.addJSON(kind); err != nil {
			return err
		}
	}
}

// addJSON reads a value.
func (v *values) addJSON(kind jsontext.Kind) error {
	raw, err := v.decoder.json.ReadValue()
	if err != nil {
		return bad(err)
	}
	switch id := v.kind.arrow.ID(); {
	case v.kind.size == 0 && kind == '"':
		text, err := jsontext.AppendUnquote(v.raw[len(v.raw):], raw) // no longer than it is written
		if err != nil {
			return bad(err)
		}
		return v.addText(text)
	case id == arrow.BOOL && (kind == 't' || kind == 'f'):
		v.raw = append(v.raw, map[jsontext.Kind]byte{'t': 1, 'f': 0}[kind])
		return nil
	case id != arrow.BOOL && v.kind.size > 0 && kind == '0':
		return v.addNumber(string(raw[:min(len(raw), maxName)]), id)
	case (id == arrow.FLOAT32 || id == arrow.FLOAT64) && kind == 'n':
		return v.addNull()
	}
	return wrong("%v is not a value of its datatype", kind)
}

// addNull adds a missing value.
func (v *values) addNull() error {
	if v.bitmap == nil {
		bitmap, err := arrowio.Make[byte](&v.decoder.budget, bitutil.BytesForBits(v.n))
		if err != nil {
			return err
		}
		for i := range bitmap {
			bitmap[i] = 0xff
		}
		v.bitmap = bitmap
	}
	bitutil.ClearBit(v.bitmap, int(v.count()))
	v.nulls++
	v.raw = append(v.raw, make([]byte, v.kind.size)...)
	return nil
}

// addNumber adds a number in its memory representation.
func (v *values) addNumber(text string, id arrow.Type) error {
	bits := 8 * v.kind.size
	var word uint64
	var err error
	switch {
	case id == arrow.FLOAT32 || id == arrow.FLOAT64:
		var f float64
		f, err = strconv.ParseFloat(text, bits)
		word = math.Float64bits(f)
		if bits == 32 {
			word = uint64(math.Float32bits(float32(f)))
		}
	case arrow.IsUnsignedInteger(id):
		word, err = strconv.ParseUint(text, 10, bits)
	default:
		var n int64
		n, err = strconv.ParseInt(text, 10, bits)
		word = uint64(n)
	}
	if err != nil {
		return wrong("number %s is not one of its datatype", arrowio.Quote(text))
	}
	var bytes [8]byte
	binary.LittleEndian.PutUint64(bytes[:], word)
	v.raw = append(v.raw, bytes[:v.kind.size]...)
	return nil
}

// array makes the column.
func (v *values) array(rows, width int64) arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(v.raw)}
	if v.bitmap != nil {
		buffers[0] = memory.NewBufferBytes(v.bitmap)
	}
	switch {
	case v.kind.size == 0:
		buffers = []*memory.Buffer{
			nil,
			memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(v.offsets)),
			memory.NewBufferBytes(v.raw),
		}
	case v.kind.arrow.ID() == arrow.BOOL:
		buffers[1] = memory.NewBufferBytes(packed(v.raw))
	}
	data := array.NewData(v.kind.arrow, int(v.n), buffers, nil, v.nulls, 0)
	defer data.Release()
	if width == 1 {
		return array.MakeFromData(data)
	}
	list := array.NewData(
		arrow.FixedSizeListOf(int32(width), v.kind.arrow),
		int(rows), []*memory.Buffer{nil}, []arrow.ArrayData{data}, 0, 0,
	)
	defer list.Release()
	return array.MakeFromData(list)
}

// packed packs booleans of a byte each into bits, in the same memory.
func packed(values []byte) []byte {
	for i, v := range values {
		if i%8 == 0 {
			values[i/8] = 0 // read already
		}
		if v != 0 {
			bitutil.SetBit(values, i)
		}
	}
	return values[:bitutil.BytesForBits(int64(len(values)))]
}
