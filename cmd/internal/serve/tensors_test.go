package serve

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/featurize"
)

// tensorsOf encodes rows as a request for all outputs, in JSON or, like Triton's clients, in binary
// after the JSON. Missing numbers are null or NaN; other columns must have all values.
func tensorsOf(t testing.TB, pair *featurize.Pair, rows arrow.Record, inBinary bool) (body []byte, header int) {
	t.Helper()
	var inputs []map[string]any
	var values []byte
	for i, field := range rows.Schema().Fields() {
		datatype, data, raw := tensorOf(t, rows.Column(i))
		shape := []int64{rows.NumRows()}
		if list, ok := field.Type.(*arrow.FixedSizeListType); ok {
			shape = append(shape, int64(list.Len()))
		}
		input := map[string]any{"name": field.Name, "shape": shape, "datatype": datatype}
		if inBinary {
			input["parameters"] = map[string]any{"binary_data_size": len(raw)}
			values = append(values, raw...)
		} else {
			input["data"] = data
		}
		inputs = append(inputs, input)
	}
	var outputs []map[string]any
	for _, o := range outputsOf(pair) {
		outputs = append(outputs, map[string]any{"name": o.Name, "parameters": map[string]any{"binary_data": inBinary}})
	}
	head, err := json.Marshal(map[string]any{"inputs": inputs, "outputs": outputs})
	must(t, err)
	return append(head, values...), len(head)
}

func tensorOf(t testing.TB, column arrow.Array) (datatype string, data []any, raw []byte) {
	t.Helper()
	if list, ok := column.(*array.FixedSizeList); ok {
		first, _ := list.ValueOffsets(0)
		_, end := list.ValueOffsets(list.Len() - 1)
		values := array.NewSlice(list.ListValues(), first, end)
		defer values.Release()
		return tensorOf(t, values)
	}
	for i := range column.Len() {
		switch c := column.(type) {
		case *array.Float64:
			datatype = "FP64"
			v := c.Value(i)
			if c.IsNull(i) {
				data, v = append(data, nil), math.NaN()
			} else {
				data = append(data, v)
			}
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
		case *array.Float32:
			datatype, data = "FP32", append(data, c.Value(i))
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(c.Value(i)))
		case *array.Boolean:
			datatype, data = "BOOL", append(data, c.Value(i))
			raw = append(raw, map[bool]byte{true: 1}[c.Value(i)])
		case *array.String:
			datatype, data = "BYTES", append(data, c.Value(i))
			raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(c.Value(i)))), c.Value(i)...)
		default:
			t.Fatalf("column of %s", column.DataType())
		}
	}
	return datatype, data, raw
}

// readTensors reads an answer; header is the length of its JSON.
func readTensors(t testing.TB, body []byte, header string) *answers {
	t.Helper()
	length, err := strconv.Atoi(header)
	must(t, err)
	var d struct {
		Outputs []struct {
			Name       string
			Datatype   string
			Shape      []int
			Data       json.RawMessage
			Parameters struct {
				Size int `json:"binary_data_size"`
			}
		}
	}
	must(t, json.Unmarshal(body[:length], &d))
	rest := body[length:]
	var got answers
	for _, o := range d.Outputs {
		var numbers []float64
		switch {
		case o.Data != nil && o.Datatype == "BYTES":
			must(t, json.Unmarshal(o.Data, &got.classes))
		case o.Data != nil && o.Datatype == "FP32":
			var short []float32
			must(t, json.Unmarshal(o.Data, &short))
			numbers = widened(short)
		case o.Data != nil:
			must(t, json.Unmarshal(o.Data, &numbers))
		default:
			numbers = readBinary(&got, o.Datatype, rest[:o.Parameters.Size])
			rest = rest[o.Parameters.Size:]
		}
		if o.Name == wire.ColumnFeatures {
			got.features = narrowed(numbers)
		} else {
			got.numbers = append(got.numbers, numbers...)
		}
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes too many", len(rest))
	}
	return &got
}

// readBinary adds classes to the answers and returns numbers.
func readBinary(got *answers, datatype string, raw []byte) (numbers []float64) {
	for len(raw) > 0 {
		switch datatype {
		case "BYTES":
			length := binary.LittleEndian.Uint32(raw)
			got.classes = append(got.classes, string(raw[4:4+length]))
			raw = raw[4+length:]
		case "FP64":
			numbers = append(numbers, math.Float64frombits(binary.LittleEndian.Uint64(raw)))
			raw = raw[8:]
		default:
			numbers = append(numbers, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
			raw = raw[4:]
		}
	}
	return numbers
}
