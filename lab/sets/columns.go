package sets

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/files"
)

func text(name string) arrow.Field  { return arrow.Field{Name: name, Type: arrow.BinaryTypes.String} }
func whole(name string) arrow.Field { return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64} }
func decimal(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64}
}

// headless returns options for a text file without a header whose columns have the given types.
func headless(columns []arrow.Field) files.Options {
	numbered := make([]arrow.Field, len(columns))
	for i, c := range columns {
		numbered[i] = arrow.Field{Name: fmt.Sprintf("f%d", i), Type: c.Type}
	}
	return files.Options{NoHeader: true, Schema: arrow.NewSchema(numbered, nil)}
}

// named renames the columns of records from a file without a header.
func named(columns []arrow.Field) func(arrow.Record) (arrow.Record, error) {
	schema := arrow.NewSchema(nullable(columns), nil)
	return func(rec arrow.Record) (arrow.Record, error) {
		if int(rec.NumCols()) != len(columns) {
			return nil, fmt.Errorf("the file has %d columns, want %d", rec.NumCols(), len(columns))
		}
		return array.NewRecord(schema, rec.Columns(), rec.NumRows()), nil
	}
}

func nullable(columns []arrow.Field) []arrow.Field {
	all := make([]arrow.Field, len(columns))
	for i, c := range columns {
		all[i] = arrow.Field{Name: c.Name, Type: c.Type, Nullable: true}
	}
	return all
}
