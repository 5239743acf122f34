package files

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// validator checks that reading any value of a column stays within its buffers. The libraries check
// that only in part; a damaged file would otherwise panic far from here, where values are used.
type validator struct {
	// sound holds dictionaries already checked: records share them, and they can be larger than the
	// records.
	sound map[arrow.ArrayData]struct{}
}

// maxSoundDictionaries bounds the memory kept for dictionaries that are no
// longer in use.
const maxSoundDictionaries = 256

// record checks every column of rec.
func (v *validator) record(rec arrow.Record) error {
	for i, column := range rec.Columns() {
		if err := v.data(column.DataType(), column.Data()); err != nil {
			return &Error{Column: rec.ColumnName(i), Err: fmt.Errorf("%w: %w", ErrCorrupt, err)}
		}
	}
	return nil
}

// data checks d, which holds values of type t.
func (v *validator) data(t arrow.DataType, d arrow.ArrayData) error {
	n := int64(d.Offset()) + int64(d.Len())
	if d.Offset() < 0 || d.Len() < 0 || n > math.MaxInt32*int64(64) {
		return fmt.Errorf("%d values from %d on", d.Len(), d.Offset())
	}
	if err := checkBitmap(d, n); err != nil {
		return err
	}
	switch t := t.(type) {
	case *arrow.NullType:
		return nil
	case arrow.ExtensionType:
		return v.data(t.StorageType(), d)
	case *arrow.DictionaryType:
		return v.dictionary(t, d, n)
	case *arrow.StringType, *arrow.BinaryType:
		return checkOffsets(d, 4, int64(bufferLen(d, 2)))
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return checkOffsets(d, 8, int64(bufferLen(d, 2)))
	case *arrow.ListType, *arrow.MapType:
		return v.list(t.(arrow.ListLikeType), d, 4)
	case *arrow.LargeListType:
		return v.list(t, d, 8)
	case *arrow.FixedSizeListType:
		return v.fixedList(t, d, n)
	case *arrow.StructType:
		return v.structs(t, d, n)
	case arrow.FixedWidthDataType:
		return checkWidth(d, n, int64(t.BitWidth()))
	}
	return fmt.Errorf("%w: type %s", ErrUnsupported, t)
}

// checkBitmap checks that the null bitmap covers n values.
func checkBitmap(d arrow.ArrayData, n int64) error {
	buffers := d.Buffers()
	if len(buffers) == 0 || buffers[0] == nil {
		return nil
	}
	have := int64(buffers[0].Len())
	if have == 0 && d.NullN() == 0 {
		return nil
	}
	if have < bitutil.BytesForBits(n) {
		return fmt.Errorf("a null bitmap of %d bytes for %d values", have, n)
	}
	return nil
}

// checkWidth checks that the values buffer holds n values of the width.
func checkWidth(d arrow.ArrayData, n, bits int64) error {
	if have := int64(bufferLen(d, 1)); d.Len() > 0 && have < bitutil.BytesForBits(n*bits) {
		return fmt.Errorf("%d bytes for %d values of %d bits", have, n, bits)
	}
	return nil
}

// checkOffsets checks that offsets of this size in bytes increase within 0..limit.
func checkOffsets(d arrow.ArrayData, size int, limit int64) error {
	if d.Len() == 0 {
		return nil
	}
	n := d.Offset() + d.Len() + 1
	if have := bufferLen(d, 1); have/size < n {
		return fmt.Errorf("%d bytes of offsets for %d values", have, n-1)
	}
	raw := d.Buffers()[1].Bytes()[d.Offset()*size : n*size]
	last := int64(0)
	for ; len(raw) > 0; raw = raw[size:] {
		var next int64
		if size == 4 {
			next = int64(int32(binary.NativeEndian.Uint32(raw)))
		} else {
			next = int64(binary.NativeEndian.Uint64(raw))
		}
		if next < last || next > limit {
			return fmt.Errorf("an offset of %d after %d, where the end is %d", next, last, limit)
		}
		last = next
	}
	return nil
}

func (v *validator) list(t arrow.ListLikeType, d arrow.ArrayData, size int) error {
	child, err := onlyChild(d)
	if err != nil {
		return err
	}
	if err := checkOffsets(d, size, int64(child.Len())); err != nil {
		return err
	}
	return v.data(t.Elem(), child)
}

func (v *validator) fixedList(t *arrow.FixedSizeListType, d arrow.ArrayData, n int64) error {
	child, err := onlyChild(d)
	if err != nil {
		return err
	}
	if width := int64(t.Len()); int64(child.Len())/width < n {
		return fmt.Errorf("%d elements for %d lists of %d", child.Len(), n, width)
	}
	return v.data(t.Elem(), child)
}

func (v *validator) structs(t *arrow.StructType, d arrow.ArrayData, n int64) error {
	if len(d.Children()) != t.NumFields() {
		return fmt.Errorf("%d children for %d fields", len(d.Children()), t.NumFields())
	}
	for i, child := range d.Children() {
		if int64(child.Len()) < n {
			return fmt.Errorf("%d values of field %q for %d rows", child.Len(), t.Field(i).Name, n)
		}
		if err := v.data(t.Field(i).Type, child); err != nil {
			return err
		}
	}
	return nil
}

// dictionary checks the values and the indices, except those of null values.
func (v *validator) dictionary(t *arrow.DictionaryType, d arrow.ArrayData, n int64) error {
	width := t.IndexType.(arrow.FixedWidthDataType).BitWidth()
	if err := checkWidth(d, n, int64(width)); err != nil {
		return err
	}
	if d.Len() == 0 {
		return nil
	}
	values := d.Dictionary()
	if values == nil {
		return fmt.Errorf("a dictionary is missing")
	}
	if err := checkIndices(d, width/8, int64(values.Len())); err != nil {
		return err
	}
	if _, ok := v.sound[values]; ok {
		return nil
	}
	if err := v.data(t.ValueType, values); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	if v.sound == nil || len(v.sound) >= maxSoundDictionaries {
		v.sound = make(map[arrow.ArrayData]struct{})
	}
	v.sound[values] = struct{}{}
	return nil
}

// checkIndices checks that indices of this size in bytes are within 0..limit-1. A negative index of
// a signed type appears as one beyond every limit.
func checkIndices(d arrow.ArrayData, size int, limit int64) error {
	raw := d.Buffers()[1].Bytes()
	var bitmap []byte
	if b := d.Buffers()[0]; b != nil {
		bitmap = b.Bytes()
	}
	for i := d.Offset(); i < d.Offset()+d.Len(); i++ {
		if len(bitmap) > 0 && !bitutil.BitIsSet(bitmap, i) {
			continue
		}
		var index uint64
		switch at := raw[i*size:]; size {
		case 1:
			index = uint64(at[0])
		case 2:
			index = uint64(binary.NativeEndian.Uint16(at))
		case 4:
			index = uint64(binary.NativeEndian.Uint32(at))
		default:
			index = binary.NativeEndian.Uint64(at)
		}
		if index >= uint64(limit) {
			return fmt.Errorf("index %d into a dictionary of %d values", index, limit)
		}
	}
	return nil
}

func onlyChild(d arrow.ArrayData) (arrow.ArrayData, error) {
	if len(d.Children()) != 1 {
		return nil, fmt.Errorf("%d children of a list", len(d.Children()))
	}
	return d.Children()[0], nil
}

// bufferLen returns the bytes of a buffer, 0 if it is missing.
func bufferLen(d arrow.ArrayData, i int) int {
	if buffers := d.Buffers(); i < len(buffers) && buffers[i] != nil {
		return buffers[i].Len()
	}
	return 0
}
