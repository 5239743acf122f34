package formats

import (
	"math"
	"slices"
	"strconv"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

// maker makes the arrays of a table.
type maker struct {
	*table
	slot *slot // memory for the current array; nil = new memory
}

// array makes the array of a column, which the caller releases.
func (m *maker) array(c *column, typ arrow.DataType) (arrow.Array, error) {
	if err := m.budget.Take(arrayCost); err != nil {
		return nil, err
	}
	if m.slot != nil {
		m.slot.prepare(typ, m.rows)
	}
	switch t := typ.(type) {
	case *arrow.NullType:
		return m.build(typ, m.rows, nil), nil
	case *arrow.BooleanType:
		return m.bools(c)
	case *arrow.StringType, *arrow.BinaryType:
		return m.texts(c, typ)
	case *arrow.FixedSizeListType:
		return m.lists(c, t)
	case *arrow.Decimal128Type:
		return m.decimals(c, t)
	case *arrow.Uint64Type:
		if c.typ == nil {
			return m.wides(c)
		}
		return m.numbersOf(c, t)
	case arrow.FixedWidthDataType:
		return m.numbersOf(c, t)
	}
	panic("formats: no array of " + typ.String())
}

// validity returns the bitmap of the rows for which use is true, or nil if use holds for all rows.
// Arrays of a slot always have a bitmap.
func (m *maker) validity(c *column, use func(cell) bool) (bitmap []byte, nulls int, err error) {
	valid := 0
	for _, one := range c.cells {
		if use(one) {
			valid++
		}
	}
	if nulls = m.rows - valid; nulls == 0 && m.slot == nil {
		return nil, 0, nil
	}
	if bitmap, err = take[byte](m, bufferValid, int(bitutil.BytesForBits(int64(m.rows)))); err != nil {
		return nil, 0, err
	}
	for i, one := range c.cells {
		if use(one) {
			bitutil.SetBit(bitmap, i)
		}
	}
	return bitmap, nulls, nil
}

// take allocates n zeros within the budget, for one of the buffers of the current array.
func take[T any](m *maker, which buffer, n int) ([]T, error) {
	if m.slot == nil {
		return arrowio.Make[T](&m.budget, int64(n))
	}
	var one T
	size := int64(n) * int64(unsafe.Sizeof(one))
	if err := m.budget.Take(size); err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(m.slot.room(which, int(size))))), n), nil
}

// build returns an array of these buffers; it returns the existing array if that already has them.
func (m *maker) build(typ arrow.DataType, nulls int, child arrow.Array, buffers ...[]byte) arrow.Array {
	if m.slot == nil {
		return build(typ, m.rows, nulls, child, buffers...)
	}
	if m.slot.array == nil {
		m.slot.array = build(typ, m.rows, nulls, child, buffers...)
	}
	m.slot.array.Data().(*array.Data).SetNullN(nulls)
	m.slot.array.Retain()
	return m.slot.array
}

func build(typ arrow.DataType, rows, nulls int, child arrow.Array, buffers ...[]byte) arrow.Array {
	if typ.ID() == arrow.NULL {
		return array.NewNull(rows)
	}
	wrapped := make([]*memory.Buffer, len(buffers))
	for i, b := range buffers {
		if b != nil {
			wrapped[i] = memory.NewBufferBytes(b)
		}
	}
	var children []arrow.ArrayData
	if child != nil {
		children = []arrow.ArrayData{child.Data()}
	}
	data := array.NewData(typ, rows, wrapped, children, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func (m *maker) bools(c *column) (arrow.Array, error) {
	bitmap, nulls, err := m.validity(c, func(one cell) bool { return one.kind == cellBool })
	if err != nil {
		return nil, err
	}
	bits, err := take[byte](m, bufferValues, int(bitutil.BytesForBits(int64(m.rows))))
	if err != nil {
		return nil, err
	}
	for i, one := range c.cells {
		if one.kind == cellBool && one.bits != 0 {
			bitutil.SetBit(bits, i)
		}
	}
	return m.build(arrow.FixedWidthTypes.Boolean, nulls, nil, bitmap, bits), nil
}

func isNumber(one cell) bool { return one.kind == cellWhole || one.kind == cellFloat }

// numbersOf makes all fixed-width arrays of numeric cells: numbers, dates and times.
func (m *maker) numbersOf(c *column, typ arrow.FixedWidthDataType) (arrow.Array, error) {
	bitmap, nulls, err := m.validity(c, isNumber)
	if err != nil {
		return nil, err
	}
	var values []byte
	switch {
	case typ.ID() == arrow.FLOAT64:
		values, err = convert(m, c, cell.float)
	case typ.ID() == arrow.FLOAT32:
		values, err = convert(m, c, func(one cell) float32 { return float32(one.float()) })
	case typ.BitWidth() == 64:
		values, err = convert(m, c, func(one cell) uint64 { return one.bits })
	case typ.BitWidth() == 32:
		values, err = convert(m, c, func(one cell) uint32 { return uint32(one.bits) })
	default:
		panic("formats: no numbers of " + typ.String())
	}
	if err != nil {
		return nil, err
	}
	return m.build(typ, nulls, nil, bitmap, values), nil
}

// convert writes the values of a column's numeric cells.
func convert[T any](m *maker, c *column, of func(cell) T) ([]byte, error) {
	values, err := take[T](m, bufferValues, m.rows)
	if err != nil {
		return nil, err
	}
	for i, one := range c.cells {
		if isNumber(one) {
			values[i] = of(one)
		}
	}
	return bytesOf(values), nil
}

func bytesOf[T any](values []T) []byte {
	if len(values) == 0 {
		return []byte{}
	}
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(one)))
}

func (c cell) float() float64 {
	if c.kind == cellWhole {
		return float64(int64(c.bits))
	}
	return math.Float64frombits(c.bits)
}

// wides makes the array of whole numbers that fit an uint64.
func (m *maker) wides(c *column) (arrow.Array, error) {
	bitmap, nulls, err := m.validity(c, func(one cell) bool { return one.kind != cellNull })
	if err != nil {
		return nil, err
	}
	values, err := take[uint64](m, bufferValues, m.rows)
	if err != nil {
		return nil, err
	}
	for i, one := range c.cells {
		values[i], _ = m.unsignedOf(one)
	}
	return m.build(arrow.PrimitiveTypes.Uint64, nulls, nil, bitmap, bytesOf(values)), nil
}

// isWords reports whether the table keeps the text of a cell.
func isWords(one cell) bool { return one.kind == cellText || one.kind == cellWide }

// texts makes strings; numbers and booleans are formatted as in Go.
func (m *maker) texts(c *column, typ arrow.DataType) (arrow.Array, error) {
	isText := func(one cell) bool { return isWords(one) || one.kind == cellBool || isNumber(one) }
	bitmap, nulls, err := m.validity(c, isText)
	if err != nil {
		return nil, err
	}
	offsets, err := take[int32](m, bufferValues, m.rows+1)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	const numberBytes = 32
	for _, one := range c.cells {
		if _, n := one.span(); isWords(one) {
			size += int64(n)
		} else if isText(one) {
			size += numberBytes
		}
	}
	if size > math.MaxInt32 {
		return nil, tooLarge("column %s has %d bytes of text", arrowio.Quote(c.name), size)
	}
	var data []byte
	if m.slot == nil {
		data, err = arrowio.Make[byte](&m.budget, size)
		data = data[:0]
	} else if err = m.budget.Take(size); err == nil {
		data = m.slot.textRoom(int(size))
	}
	if err != nil {
		return nil, err
	}
	for i := range m.rows {
		if i < len(c.cells) {
			data = m.appendText(data, c.cells[i])
		}
		offsets[i+1] = int32(len(data))
	}
	if m.slot != nil {
		data = m.slot.buffers[bufferText]
	}
	return m.build(typ, nulls, nil, bitmap, bytesOf(offsets), data), nil
}

func (m *maker) appendText(dst []byte, one cell) []byte {
	switch one.kind {
	case cellText, cellWide:
		at, n := one.span()
		return append(dst, m.text[at:at+n]...)
	case cellWhole:
		return strconv.AppendInt(dst, int64(one.bits), 10)
	case cellFloat:
		return strconv.AppendFloat(dst, math.Float64frombits(one.bits), 'g', -1, 64)
	case cellBool:
		return strconv.AppendBool(dst, one.bits != 0)
	}
	return dst
}

// lists makes lists of one length; lists of other lengths become null.
func (m *maker) lists(c *column, typ *arrow.FixedSizeListType) (arrow.Array, error) {
	width := int(typ.Len())
	fits := func(one cell) bool {
		_, n := one.span()
		return one.kind == cellList && n == width
	}
	bitmap, nulls, err := m.validity(c, fits)
	if err != nil {
		return nil, err
	}
	if width > 0 && m.rows > math.MaxInt32/width {
		return nil, tooLarge("column %s has %d lists of %d numbers", arrowio.Quote(c.name), m.rows, width)
	}
	values, err := take[float64](m, bufferValues, m.rows*width)
	if err != nil {
		return nil, err
	}
	for i, one := range c.cells {
		if fits(one) {
			at, n := one.span()
			copy(values[i*width:], m.numbers[at:at+n])
		}
	}
	inner, missing, err := m.missing(values)
	if err != nil {
		return nil, err
	}
	if m.slot != nil && m.slot.array != nil {
		m.slot.array.Data().Children()[0].(*array.Data).SetNullN(missing)
		return m.build(typ, nulls, nil), nil
	}
	child := build(arrow.PrimitiveTypes.Float64, len(values), missing, nil, inner, bytesOf(values))
	defer child.Release()
	return m.build(typ, nulls, child, bitmap), nil
}

// nullNumber represents null among the numbers of lists: a NaN that arithmetic never produces.
const nullNumber = 0x7ff86e756c6c2121

// missing returns the bitmap of the non-null numbers, or nil if no number is null. Arrays of a slot
// always have a bitmap.
func (m *maker) missing(values []float64) (bitmap []byte, nulls int, err error) {
	isNull := func(v float64) bool { return math.Float64bits(v) == nullNumber }
	if m.slot == nil && !slices.ContainsFunc(values, isNull) {
		return nil, 0, nil
	}
	if bitmap, err = take[byte](m, bufferInner, int(bitutil.BytesForBits(int64(len(values))))); err != nil {
		return nil, 0, err
	}
	for i, v := range values {
		if isNull(v) {
			nulls++
		} else {
			bitutil.SetBit(bitmap, i)
		}
	}
	return bitmap, nulls, nil
}

// decimals makes decimals from the 16 bytes that each cell refers to.
func (m *maker) decimals(c *column, typ *arrow.Decimal128Type) (arrow.Array, error) {
	isText := func(one cell) bool { return one.kind == cellText }
	bitmap, nulls, err := m.validity(c, isText)
	if err != nil {
		return nil, err
	}
	values, err := take[byte](m, bufferValues, m.rows*arrow.Decimal128SizeBytes)
	if err != nil {
		return nil, err
	}
	for i, one := range c.cells {
		if isText(one) {
			at, n := one.span()
			copy(values[i*arrow.Decimal128SizeBytes:], m.text[at:at+n])
		}
	}
	return m.build(typ, nulls, nil, bitmap, values), nil
}
