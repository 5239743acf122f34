package formats

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/arrowio/rowid"
)

// A row has one identity in whatever format it arrives: the number 0.1, a text and a flag, as CSV,
// JSON, Avro and Arrow. As float32 0.1 is another number, as the wire formats document.
func TestIdentityIsTheSameInEveryFormat(t *testing.T) {
	type read struct {
		name string
		rec  arrow.Record
	}
	var all []read
	decode := func(name string, o Options, value []byte) {
		o.Limits = small
		recs, err := NewDecoder(o).Decode(value)
		if err != nil || len(recs) != 1 {
			t.Fatalf("%s: %d records, %v", name, len(recs), err)
		}
		all = append(all, read{name, recs[0]})
	}
	ofAvro := func(kind string, number []byte) {
		text := avroSchema(fmt.Sprintf(
			`{"name": "vip", "type": "boolean"}, {"name": "a", "type": %q}, {"name": "city", "type": "string"}`, kind))
		body := append(append([]byte{1}, number...), append(binary.AppendVarint(nil, 4), "Rome"...)...)
		decode("Avro "+kind, Options{Registry: schemas{1: {Format: Avro, Text: text}}}, framed(1, body))
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte("city,a,vip\nRome,0.1,true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := files.Open(path, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rec, err := file.Next()
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, read{"CSV", rec})
	decode("JSON", Options{Format: JSON}, []byte(`{"a": 0.1, "city": "Rome", "vip": true}`))
	decode("JSON with an exponent", Options{Format: JSON}, []byte(`{"vip": true, "city": "Rome", "a": 1e-1}`))
	ofAvro("double", binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.1)))
	ofAvro("float", binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.1)))
	for _, kind := range []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
			{
				Name: "a",
				Type: kind,
			}, {Name: "city", Type: arrow.BinaryTypes.String}, {Name: "vip", Type: arrow.FixedWidthTypes.Boolean},
		}, nil))
		if err := b.Field(0).AppendValueFromString("0.1"); err != nil {
			t.Fatal(err)
		}
		b.Field(1).(*array.StringBuilder).Append("Rome")
		b.Field(2).(*array.BooleanBuilder).Append(true)
		one := b.NewRecord()
		b.Release()
		value, err := arrowio.EncodeStream(one.Schema(), one)
		if err != nil {
			t.Fatal(err)
		}
		decode("Arrow "+kind.String(), Options{}, value)
	}
	identity := func(of read) uint64 {
		return rowid.NewHasher(rowid.ContentOf(nil, nil, nil, []string{"vip"})).Identities(of.rec, nil, nil)[0]
	}
	want := identity(all[0])
	for _, of := range all {
		single := of.name == "Avro float" || of.name == "Arrow float32"
		if got := identity(of); (got == want) == single {
			t.Errorf("%s: identity %x, of CSV %x", of.name, got, want)
		}
		of.rec.Release()
	}
}
