package stages_test

import (
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// row is an event before the test changes it.
type row struct {
	id    int64
	x     [3]float64
	color any // string or nil
	y     any // float64 or nil
}

// rowNumbered returns row n of the stream, which depends only on n.
func rowNumbered(n int64) row {
	r := row{id: n, color: []string{"red", "green", "blue"}[n*n%3]}
	for i := range r.x {
		r.x[i] = math.Sin(float64(n+1)*(12.9898+7.1*float64(i))) * 2
	}
	y := math.Cos(1.3*r.x[0]-r.x[1]) + 0.3*r.x[2]
	r.y = y
	return r
}

// rows returns rows first up to, not including, next of the stream; edit, if not nil, changes
// single rows.
func rows(first, next int64, edit func(n int64, r *row)) arrow.Record {
	var list []row
	for n := first; n < next; n++ {
		r := rowNumbered(n)
		if edit != nil {
			edit(n, &r)
		}
		list = append(list, r)
	}
	return record(list)
}

// record builds the event columns of rows.
func record(list []row) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "x0", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "x1", Type: arrow.PrimitiveTypes.Float32},
		{Name: "x2", Type: arrow.PrimitiveTypes.Float64},
		{Name: "color", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, r := range list {
		b.Field(0).(*array.Int64Builder).Append(r.id)
		if x := r.x[0]; x == missing {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.Float64Builder).Append(x)
		}
		b.Field(2).(*array.Float32Builder).Append(float32(r.x[1]))
		b.Field(3).(*array.Float64Builder).Append(r.x[2])
		if color, ok := r.color.(string); ok {
			b.Field(4).(*array.StringBuilder).Append(color)
		} else {
			b.Field(4).AppendNull()
		}
		if y, ok := r.y.(float64); ok {
			b.Field(5).(*array.Float64Builder).Append(y)
		} else {
			b.Field(5).AppendNull()
		}
	}
	return b.NewRecord()
}

// missing is a value of x0 that becomes a null.
const missing = -12345
