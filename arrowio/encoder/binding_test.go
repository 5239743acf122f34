package encoder

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

// Rows of many partitions share what they look values up in, and keep no large schema.
func TestRowsKeepNoEncoderAlive(t *testing.T) {
	e := sampleEncoder()
	fields := []arrow.Field{
		{Name: "age", Type: f64},
		{Name: "member", Type: flags},
		{Name: "work", Type: text},
		{Name: "v", Type: list(2, f64)},
	}
	small := arrow.NewSchema(fields, nil)
	large := arrow.NewSchema(append(fields, arrow.Field{Name: strings.Repeat("n", 1<<20), Type: f64}), nil)
	var one, other binding
	for _, schema := range []*arrow.Schema{small, large} {
		if err := one.bind(e, schema); err != nil {
			t.Fatal(err)
		}
		if err := other.bind(e, schema); err != nil {
			t.Fatal(err)
		}
		if one.tables == nil || one.tables != other.tables {
			t.Error("tables are there twice")
		}
		if kept := one.schema != nil; kept != (schema == small) {
			t.Errorf("a schema of %d fields is kept: %v", schema.NumFields(), kept)
		}
	}
}
