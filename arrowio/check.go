package arrowio

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// CheckArray returns an error unless every value of an array that a library has made lies within
// its buffers. The libraries check that only in part; values of a damaged file would panic where
// they are used.
func CheckArray(a arrow.Array) error { return checkData(a.DataType(), a.Data()) }

// checkData checks d, which holds values of type t, from the start of its buffers.
func checkData(t arrow.DataType, d arrow.ArrayData) error {
	n := int64(d.Offset()) + int64(d.Len())
	if d.Offset() < 0 || d.Len() < 0 || n > math.MaxInt32*int64(64) {
		return corrupt("%d values from %d on", d.Len(), d.Offset())
	}
	if have := int64(len(bufferOf(d, 0))); (have > 0 || d.NullN() > 0) && have < bitutil.BytesForBits(n) &&
		t.ID() != arrow.NULL {
		return corrupt("a null bitmap of %d bytes for %d values", have, n)
	}
	switch t := t.(type) {
	case *arrow.NullType:
		return nil
	case arrow.ExtensionType:
		return checkData(t.StorageType(), d)
	case *arrow.DictionaryType:
		return checkDictionary(t, d, n)
	case *arrow.StringType, *arrow.BinaryType:
		return checkEnds(d, 4, int64(len(bufferOf(d, 2))))
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return checkEnds(d, 8, int64(len(bufferOf(d, 2))))
	case *arrow.StringViewType, *arrow.BinaryViewType:
		return checkViews(d)
	case arrow.NestedType:
		return checkNested(t, d, n)
	case arrow.FixedWidthDataType:
		return checkWidth(d, n*int64(t.BitWidth()))
	}
	return unsupported("%s", t)
}

// bufferOf returns a buffer's bytes, nil for an empty or missing buffer.
func bufferOf(d arrow.ArrayData, i int) []byte {
	if buffers := d.Buffers(); i < len(buffers) && buffers[i] != nil && buffers[i].Len() > 0 {
		return buffers[i].Bytes()
	}
	return nil
}

// checkWidth checks the width of the values in bits.
func checkWidth(d arrow.ArrayData, bits int64) error {
	if have := int64(len(bufferOf(d, 1))); have < bitutil.BytesForBits(bits) {
		return corrupt("%d bytes for %d values", have, d.Len())
	}
	return nil
}

// checkViews checks that every view is within a buffer. A view is its length and either up to
// inlineBytes bytes, or a prefix, the index of a buffer and an offset.
func checkViews(d arrow.ArrayData) error {
	const width, inlineBytes = 16, 12
	if err := checkWidth(d, 8*width*int64(d.Offset()+d.Len())); err != nil {
		return err
	}
	raw := bufferOf(d, 1)
	for i := d.Offset(); i < d.Offset()+d.Len(); i++ {
		view := raw[i*width:]
		length := int64(int32(binary.LittleEndian.Uint32(view)))
		if length >= 0 && length <= inlineBytes {
			continue
		}
		index := int64(int32(binary.LittleEndian.Uint32(view[8:])))
		offset := int64(int32(binary.LittleEndian.Uint32(view[12:])))
		if length < 0 || index < 0 || offset < 0 || index > math.MaxInt32-2 ||
			offset+length > int64(len(bufferOf(d, 2+int(index)))) {
			return corrupt("view %d of %d bytes at %d in buffer %d", i, length, offset, index)
		}
	}
	return nil
}

// checkEnds checks that offsets of this width ascend and do not exceed limit.
func checkEnds(d arrow.ArrayData, width int, limit int64) error {
	if d.Len() == 0 {
		return nil
	}
	raw, need := bufferOf(d, 1), (d.Offset()+d.Len()+1)*width
	if len(raw) < need {
		return corrupt("%d bytes of offsets for %d values", len(raw), d.Len())
	}
	_, last, err := checkOffsets(raw[:need], width)
	if err == nil && last > limit {
		err = corrupt("offsets up to %d where the end is %d", last, limit)
	}
	return err
}

func checkNested(t arrow.NestedType, d arrow.ArrayData, n int64) error {
	children := d.Children()
	if want := len(t.Fields()); len(children) != want {
		return corrupt("%d children of %d", len(children), want)
	}
	var err error
	width := int64(1) // values of a child for each of the array
	switch t := t.(type) {
	case *arrow.StructType:
	case *arrow.FixedSizeListType:
		width = int64(t.Len())
	case *arrow.ListType, *arrow.MapType:
		width, err = 0, checkEnds(d, 4, int64(children[0].Len()))
	case *arrow.LargeListType:
		width, err = 0, checkEnds(d, 8, int64(children[0].Len()))
	default:
		return unsupported("%s", t)
	}
	for i, child := range children {
		if err == nil && int64(child.Len()) < n*width {
			err = corrupt("%d values of %s for %d rows", child.Len(), Quote(t.Fields()[i].Name), n)
		}
		if err == nil {
			err = checkData(t.Fields()[i].Type, child)
		}
	}
	return err
}

// checkDictionary checks the values and the indexes, except the indexes of nulls.
func checkDictionary(t *arrow.DictionaryType, d arrow.ArrayData, n int64) error {
	index, ok := t.IndexType.(arrow.FixedWidthDataType)
	if !ok || !arrow.IsInteger(index.ID()) {
		return unsupported("dictionary of %s", t.IndexType)
	}
	if err := checkWidth(d, n*int64(index.BitWidth())); err != nil || d.Len() == 0 {
		return err
	}
	values := d.Dictionary()
	if values == nil {
		return corrupt("a dictionary is missing")
	}
	raw := bufferOf(d, 1)[:n*int64(index.BitWidth()/8)]
	if err := checkIndexes(index.ID(), raw, bufferOf(d, 0), values.Len()); err != nil {
		return err
	}
	return checkData(t.ValueType, values)
}
