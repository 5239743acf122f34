// Package formatstest writes rows as messages of JSON, and of Avro and Protobuf by the libraries
// that know these formats.
package formatstest

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/bufbuild/protocompile"
	"github.com/twmb/avro"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Framed is a message that names its schema, as Confluent's serializers write it.
func Framed(id uint32, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, id), body...)
}

// typeNames are the types of columns in Avro and in Protobuf.
func typeNames(t testing.TB, of arrow.DataType) (inAvro, inProto string) {
	switch of.ID() {
	case arrow.FLOAT64:
		return "double", "double"
	case arrow.FLOAT32:
		return "float", "float"
	case arrow.INT64:
		return "long", "int64"
	case arrow.INT32:
		return "int", "int32"
	case arrow.BOOL:
		return "boolean", "bool"
	case arrow.STRING:
		return "string", "string"
	}
	t.Fatalf("a column of %v", of)
	return "", ""
}

// valueOf is a value as the libraries take it; nil for a null. Elements of lists are float64.
func valueOf(a arrow.Array, row int) any {
	if a.IsNull(row) {
		return nil
	}
	switch a := a.(type) {
	case *array.Float32:
		return a.Value(row)
	case *array.Float64:
		return a.Value(row)
	case *array.FixedSizeList:
		first, end := a.ValueOffsets(row)
		return a.ListValues().(*array.Float64).Float64Values()[first:end]
	}
	return a.GetOneForMarshal(row)
}

// Avro returns the schema of a record's rows, whose fields are all nullable, and a message for each
// row.
func Avro(t testing.TB, rec arrow.Record) (schema string, messages [][]byte) {
	t.Helper()
	var fields []string
	for _, f := range rec.Schema().Fields() {
		kind := `{"type": "array", "items": "double"}`
		if f.Type.ID() != arrow.FIXED_SIZE_LIST {
			name, _ := typeNames(t, f.Type)
			kind = fmt.Sprintf("%q", name)
		}
		fields = append(fields, fmt.Sprintf(`{"name": %q, "type": ["null", %s], "default": null}`, f.Name, kind))
	}
	schema = `{"type": "record", "name": "Event", "fields": [` + strings.Join(fields, ", ") + `]}`
	compiled := avro.MustParse(schema)
	for row := range int(rec.NumRows()) {
		values := map[string]any{}
		for i, column := range rec.Columns() {
			values[rec.ColumnName(i)] = valueOf(column, row)
		}
		message, err := compiled.Encode(values)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, message)
	}
	return schema, messages
}

// Protobuf returns the text of a .proto file with the message of a record's rows, and a message for
// each row.
func Protobuf(t testing.TB, rec arrow.Record) (schema string, messages [][]byte) {
	t.Helper()
	schema = "syntax = \"proto3\";\nmessage Event {\n"
	for i, f := range rec.Schema().Fields() {
		label, name := "repeated", "double"
		if f.Type.ID() != arrow.FIXED_SIZE_LIST {
			label = "optional"
			_, name = typeNames(t, f.Type)
		}
		schema += fmt.Sprintf("  %s %s %s = %d;\n", label, name, f.Name, i+1)
	}
	schema += "}\n"
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{"event.proto": schema}),
	}}
	files, err := compiler.Compile(context.Background(), "event.proto")
	if err != nil {
		t.Fatal(err)
	}
	event := files[0].Messages().Get(0)
	for row := range int(rec.NumRows()) {
		made := dynamicpb.NewMessage(event)
		for i, column := range rec.Columns() {
			field := event.Fields().Get(i)
			switch value := valueOf(column, row).(type) {
			case nil:
			case []float64:
				for _, v := range value {
					made.Mutable(field).List().Append(protoreflect.ValueOfFloat64(v))
				}
			default:
				made.Set(field, protoreflect.ValueOf(value))
			}
		}
		message, err := proto.Marshal(made)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, message)
	}
	return schema, messages
}
