package arrowio

import (
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
)

// checkNulls compares a validity bitmap with the claimed null count.
func checkNulls(bitmap []byte, n, nulls int) error {
	if got := n - bitutil.CountSetBits(bitmap, 0, n); got != nulls {
		return corrupt("%d nulls claimed, %d marked", nulls, got)
	}
	return nil
}

// checkText checks that every value that is not null is UTF-8. The quick check is whether the data
// as a whole is valid and no offset is inside a character. If that fails, the reason may be bytes
// under nulls, so the values are checked one by one.
func checkText(data, offsets []byte, width int, validity []byte) error {
	if width == 4 {
		return validText(data, arrow.Int32Traits.CastFromBytes(offsets), validity)
	}
	return validText(data, arrow.Int64Traits.CastFromBytes(offsets), validity)
}

// validText is checkText for one width.
func validText[T int32 | int64](data []byte, offsets []T, validity []byte) error {
	if utf8.Valid(data[offsets[0]:]) && splitsNothing(data, offsets) {
		return nil
	}
	for i := range len(offsets) - 1 {
		if validity != nil && bitutil.BitIsNotSet(validity, i) {
			continue
		}
		if !utf8.Valid(data[offsets[i]:offsets[i+1]]) {
			return corrupt("value %d is not UTF-8", i)
		}
	}
	return nil
}

// splitsNothing reports whether every offset is at the start of a character.
func splitsNothing[T int32 | int64](data []byte, offsets []T) bool {
	for _, o := range offsets {
		if int(o) < len(data) && !utf8.RuneStart(data[o]) {
			return false
		}
	}
	return true
}

// checkIndexes checks that every index that is not null is below size, the number of entries in a
// dictionary. Under nulls anything is allowed; pandas writes -1.
func checkIndexes(dtype arrow.Type, raw, validity []byte, size int) error {
	switch dtype {
	case arrow.INT8:
		return inRange(arrow.Int8Traits.CastFromBytes(raw), validity, size)
	case arrow.UINT8:
		return inRange(raw, validity, size)
	case arrow.INT16:
		return inRange(arrow.Int16Traits.CastFromBytes(raw), validity, size)
	case arrow.UINT16:
		return inRange(arrow.Uint16Traits.CastFromBytes(raw), validity, size)
	case arrow.INT32:
		return inRange(arrow.Int32Traits.CastFromBytes(raw), validity, size)
	case arrow.UINT32:
		return inRange(arrow.Uint32Traits.CastFromBytes(raw), validity, size)
	case arrow.INT64:
		return inRange(arrow.Int64Traits.CastFromBytes(raw), validity, size)
	default:
		return inRange(arrow.Uint64Traits.CastFromBytes(raw), validity, size)
	}
}

// inRange is checkIndexes for one type.
func inRange[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](
	indexes []T,
	validity []byte,
	size int,
) error {
	for i, x := range indexes {
		// A negative index becomes a huge one.
		if uint64(x) >= uint64(size) && (validity == nil || bitutil.BitIsSet(validity, i)) {
			return corrupt("index %d of row %d in a dictionary of %d", x, i, size)
		}
	}
	return nil
}
