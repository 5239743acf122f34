package arrowio

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// touch reads every value of every record in all the ways that readers do: one by one, as text, and
// as whole slices. It returns something that depends on them, so that nothing is optimised away.
func touch(recs []arrow.Record) (sum int) {
	for _, rec := range recs {
		for _, col := range rec.Columns() {
			sum += touchArray(col)
		}
	}
	return sum
}

func touchArray(a arrow.Array) (sum int) {
	for i := range a.Len() {
		if render(a, i) != nil {
			sum++
		}
		if !a.IsNull(i) && !nested(a) {
			sum += len(a.ValueStr(i))
		}
	}
	switch a := a.(type) {
	case *array.Float32:
		sum += len(a.Float32Values())
	case *array.String:
		sum += len(a.ValueOffsets()) + len(a.ValueBytes())
	case *array.Binary:
		sum += len(a.ValueOffsets()) + len(a.ValueBytes())
	case *array.Dictionary:
		sum += touchArray(a.Dictionary())
	case array.ListLike:
		sum += touchArray(a.ListValues())
	}
	if s := array.NewSlice(a, int64(a.Len()/2), int64(a.Len())); s.Len() > 0 {
		render(s, s.Len()-1)
		s.Release()
	}
	return sum
}

// nested reports a type whose ValueStr marshals JSON, which fails on NaN whatever the bytes.
func nested(a arrow.Array) bool {
	switch a.(type) {
	case array.ListLike, *array.Struct:
		return true
	}
	return false
}
