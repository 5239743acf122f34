package formats

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/twmb/avro"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/internal/hostile"
)

// tables is the allowance of decoding beyond its budget: the tables of a codec, and the Go objects
// of an error.
const tables = 1 << 20

const nestedAvro = `{"type": "record", "name": "Event", "namespace": "shop", "fields": [
	{"name": "id", "type": "long"},
	{"name": "who", "type": ["null", {"type": "record", "name": "Person", "fields": [
		{"name": "name", "type": "string"}, {"name": "parent", "type": ["null", "Person"], "default": null},
		{"name": "score", "type": ["null", "double"], "default": null}]}], "default": null},
	{"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
	{"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
	{"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
	{"name": "v", "type": {"type": "array", "items": "double"}},
	{"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": "string"}}},
	{"name": "either", "type": ["int", "string"]},
	{"name": "mark", "type": {"type": "fixed", "name": "Mark", "size": 4}}]}`

const nestedProto = `syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "google/protobuf/duration.proto";
message Other { int32 x = 1; }
message Event {
  int64 id = 1;
  Person who = 2;
  enum Kind { NONE = 0; A = 1; }
  Kind kind = 3;
  google.protobuf.Timestamp at = 4;
  repeated double v = 5;
  repeated sint32 w = 6 [packed = false];
  map<string, int32> tags = 7;
  google.protobuf.DoubleValue maybe = 8;
  google.protobuf.StringValue text = 9;
  optional bool flag = 10;
  uint64 big = 11;
  google.protobuf.Duration took = 12;
  message Person { string name = 1; Person parent = 2; double score = 3; }
}`

var registered = schemas{
	1: {Format: Avro, Text: nestedAvro},
	2: {Format: Protobuf, Text: nestedProto},
	3: {Format: JSON, Text: "{}"},
}

func nestedRow(i int) map[string]any {
	return map[string]any{
		"id": int64(i),
		"who": map[string]any{
			"name":   "Åsa",
			"parent": map[string]any{"name": "x", "parent": nil, "score": nil},
			"score":  1.5,
		},
		"kind":   "B",
		"price":  []byte{0xff, 0x38},
		"at":     int64(1_700_000_000_000),
		"v":      []float64{1, 2, float64(i)},
		"tags":   map[string]any{"k": []string{"a", "b"}},
		"either": "text",
		"mark":   []byte{1, 2, 3, 4},
	}
}

func nestedAvroMessage(t testing.TB, i int) []byte {
	t.Helper()
	body, err := avro.MustParse(nestedAvro).Encode(nestedRow(i))
	if err != nil {
		t.Fatal(err)
	}
	return framed(1, body)
}

const nestedProtoJSON = `{"id": "5", "who": {"name": "Åsa", "parent": {"name": "x"}, "score": 1.5}, "kind": "A", "at": "2023-11-14T22:13:20.5Z",
	"v": [1, 2.5], "w": [-1, 7], "tags": {"k": 3}, "maybe": 2.5, "text": "t", "flag": false, "big": "18446744073709551615", "took": "1.5s"}`

func nestedProtoMessage(t testing.TB) []byte {
	t.Helper()
	file, err := compileProto(registered[2])
	if err != nil {
		t.Fatal(err)
	}
	m := dynamicpb.NewMessage(file.Messages().ByName("Event"))
	if err := protojson.Unmarshal([]byte(nestedProtoJSON), m); err != nil {
		t.Fatal(err)
	}
	body, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return framed(2, slices.Concat(binary.AppendVarint(binary.AppendVarint(nil, 1), 1), body))
}

// bases are the messages from which mutants are made.
func bases(t testing.TB) map[Format][]*hostile.Message {
	rec := sampleRecord(t, 7)
	_, plain := messages(t, JSON, rec, false)
	message := func(name string, b []byte) *hostile.Message {
		return &hostile.Message{
			Name:  name,
			Bytes: b,
			Order: binary.LittleEndian,
			Marks: marksOf(b),
			Parts: []int{0, min(5, len(b)-1)},
		}
	}
	return map[Format][]*hostile.Message{
		JSON: {
			message(
				"rows",
				plain[0],
			),
			message(
				"lines",
				[]byte("{\"a\": 1.5e3, \"b\": \"\\u00e9x\"}\n{\"a\": null, \"b\": [1, 2], \"c\": {\"d\": {\"e\": true}}}\n"),
			),
			message("framed", framed(3, []byte(`{"a": [{"b": [[1]]}, "x"], "n": -12345678901234567890, "f": 0.1}`))),
		},
		Avro: {
			message("framed", nestedAvroMessage(t, 3)),
		},
		Protobuf: {message("framed", nestedProtoMessage(t))},
	}
}

// marksOf treats every byte as a length: in these formats nearly every byte is one.
func marksOf(b []byte) []hostile.Mark {
	marks := make([]hostile.Mark, min(len(b), 400))
	for i := range marks {
		marks[i] = hostile.Mark{At: i, Width: 1}
	}
	return marks
}

var hostileLimits = arrowio.Limits{MaxMessageBytes: 1 << 20, BudgetBytes: 10 << 20, MaxRows: 1000, MaxColumns: 100}

// TestMutants damages valid messages of every format. A refusal must have a reason. Every value of
// an accepted message must be readable, the record must encode as Arrow, and a second decoder must
// give the same result.
func TestMutants(t *testing.T) {
	for f, messages := range bases(t) {
		t.Run(string(f), func(t *testing.T) {
			options := Options{Limits: hostileLimits, Registry: registered}
			d := NewDecoder(options)
			hostile.Run(t, hostile.Suite{
				Make: func(r *rand.Rand, into []byte) []byte {
					return messages[r.IntN(len(messages))].Mutate(r, into, messages)
				},
				Try: func(m *hostile.Meter, mutant []byte) (string, error) {
					m.Within(hostileLimits.BudgetBytes+2*int64(len(mutant))+tables, func() {
						recs, _ := d.Decode(mutant)
						release(recs)
					})
					d.Trim()
					m.Held(keptPlansBytes + restingHeap + tables)
					return tryMutant(d, options, mutant)
				},
			}, 4_000)
		})
	}
}

func release(recs []arrow.Record) {
	for _, rec := range recs {
		rec.Release()
	}
}

// freshOnes is the interval of mutants that are also read by a fresh decoder, which parses the
// schemas itself.
const freshOnes = 16

// tryMutant decodes a damaged message and reads all of the result. It returns the reason for a
// refusal.
func tryMutant(d *Decoder, options Options, mutant []byte) (reason string, err error) {
	recs, err := d.Decode(mutant)
	defer release(recs)
	again, other := recs, err
	if crc32.ChecksumIEEE(mutant)%freshOnes == 0 {
		again, other = NewDecoder(options).Decode(mutant)
		defer release(again)
	}
	switch {
	case Reason(err) != Reason(other):
		return "", fmt.Errorf("%w, and of a fresh decoder %w", err, other)
	case err != nil && (len(recs) > 0 || strings.Contains(err.Error(), unforeseen)):
		return "", err
	case err != nil:
		return Reason(err), nil
	}
	if len(recs) != len(again) {
		return "", fmt.Errorf("%d records, and of a fresh decoder %d", len(recs), len(again))
	}
	for i, rec := range recs {
		if !sameRecords(rec, again[i]) {
			return "", fmt.Errorf("%v, and of a fresh decoder %v", rec, again[i])
		}
		if _, err := arrowio.EncodeStream(rec.Schema(), rec); err != nil {
			return "", fmt.Errorf("what was accepted is not written: %w", err)
		}
	}
	return hostile.Accepted, nil
}

func sameRecords(a, b arrow.Record) bool {
	if !a.Schema().Equal(b.Schema()) {
		return false
	}
	for i := range int(a.NumCols()) {
		for row := range int(a.NumRows()) {
			if a.Column(i).IsNull(row) != b.Column(i).IsNull(row) {
				return false
			}
		}
		left, right := a.Column(i).Data().Buffers(), b.Column(i).Data().Buffers()
		for j := range left {
			if (left[j] == nil) != (right[j] == nil) || left[j] != nil && !bytes.Equal(left[j].Bytes(), right[j].Bytes()) {
				return false
			}
		}
	}
	return true
}

// TestNested reads the messages from which mutants are made.
func TestNested(t *testing.T) {
	d := NewDecoder(Options{Registry: registered})
	for name, c := range map[string]struct {
		value []byte
		names []string
		cells [][]string
	}{
		"avro": {
			nestedAvroMessage(t, 3),
			[]string{"id", "who.name", "who.parent", "who.score", "kind", "price", "at", "v", "tags", "either", "mark"},
			[][]string{
				{"3", "Åsa", "(null)", "1.5", "B", "-2", "2023-11-14 22:13:20Z", "[1,2,3]", "(null)", "(null)", "AQIDBA=="},
			},
		},
		"protobuf": {
			nestedProtoMessage(t),
			[]string{
				"id",
				"who.name",
				"who.parent",
				"who.score",
				"kind",
				"at",
				"v",
				"w",
				"tags",
				"maybe",
				"text",
				"flag",
				"big",
				"took",
			},
			[][]string{
				{
					"5",
					"Åsa",
					"(null)",
					"1.5",
					"A",
					"2023-11-14 22:13:20.5Z",
					"[1,2.5]",
					"[-1,7]",
					"(null)",
					"2.5",
					"t",
					"false",
					"18446744073709551615",
					"1.5",
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			names, _, cells, err := rows(t, d, c.value)
			if err != nil || !reflect.DeepEqual(names, c.names) || !reflect.DeepEqual(cells, c.cells) {
				t.Errorf("%q\n%q %v", names, cells, err)
			}
		})
	}
}

// TestCompiledDescriptor reads with a schema as registered by confluent-kafka for Python.
func TestCompiledDescriptor(t *testing.T) {
	const schema = "CgtldmVudC5wcm90bxIEc2hvcBofZ29vZ2xlL3Byb3RvYnVmL3RpbWVzdGFtcC5wcm90byIHCgVPdGhlciJoCgVFdmVudBIOCgZhbW91bnQYASABKAESCwoDYWdlGAIgASgR" +
		"Eg8KB2NvdW50cnkYAyABKAkSJgoCYXQYBCABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEgkKAXYYBSADKAFiBnByb3RvMw=="
	value, err := hex.DecodeString(
		"00000000030202090000000000000440100d1a02736522060880e2cfaa062a10000000000000f03f0000000000000440",
	)
	if err != nil {
		t.Fatal(err)
	}
	names, _, cells, err := rows(t, NewDecoder(Options{Registry: schemas{3: {Format: Protobuf, Text: schema}}}), value)
	if want := [][]string{{"2.5", "-7", "se", "2023-11-14 22:13:20Z", "[1,2.5]"}}; err != nil ||
		!reflect.DeepEqual(cells, want) {
		t.Errorf("%q %q %v", names, cells, err)
	}
}
