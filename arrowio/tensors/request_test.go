package tensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
)

var testLimits = arrowio.Limits{MaxMessageBytes: 1 << 20, BudgetBytes: 1 << 20, MaxRows: 1000, MaxColumns: 20}

// inJSON is a request with every datatype, a vector and missing numbers.
const inJSON = `{"id": "7", "parameters": {"binary_data_output": true, "other": [1, {"a": 2}]}, "inputs": [
	{"name": "age", "shape": [3], "datatype": "INT64", "data": [39, -1, 9223372036854775807]},
	{"data": [1.5, null, -2e3], "datatype": "FP32", "shape": [3, 1], "name": "gain"},
	{"name": "x", "shape": [3, 2], "datatype": "FP64", "data": [[1, 2], [3, null], [5, 6]]},
	{"name": "city", "shape": [3], "datatype": "BYTES", "data": ["Å\u00e9", "", "x"]},
	{"name": "new", "shape": [3], "datatype": "BOOL", "data": [true, false, true]},
	{"name": "n", "shape": [3], "datatype": "UINT8", "data": [0, 1, 255]}],
	"outputs": [{"name": "prediction"}, {"name": "features", "parameters": {"binary_data": false}}]}`

// inBinary is a request whose values follow its JSON, and the length of the JSON.
func inBinary() ([]byte, int) {
	var values []byte
	for _, v := range []float64{1.5, math.NaN()} {
		values = binary.LittleEndian.AppendUint64(values, math.Float64bits(v))
	}
	for _, text := range []string{"Åé", ""} {
		values = append(binary.LittleEndian.AppendUint32(values, uint32(len(text))), text...)
	}
	values = append(values, 1, 0)
	head := `{"inputs": [{"name": "gain", "shape": [2], "datatype": "FP64", "parameters": {"binary_data_size": 16}},
		{"name": "city", "shape": [2], "datatype": "BYTES", "parameters": {"binary_data_size": 12}},
		{"name": "new", "shape": [2], "datatype": "BOOL", "parameters": {"binary_data_size": 2}},
		{"name": "age", "shape": [2], "datatype": "INT32", "data": [1, 2]}]}`
	return append([]byte(head), values...), len(head)
}

func TestRequests(t *testing.T) {
	d := NewDecoder(testLimits)
	r, err := d.Decode([]byte(inJSON), len(inJSON))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Rows.Release()
	const want = `[39 -1 9223372036854775807] [1.5 (null) -2000] [[1 2] [3 (null)] [5 6]] ["Åé" "" ` +
		`"x"] [true false true] [0 1 255]`
	if got := strings.Join(columnsOf(r), " "); got != want {
		t.Errorf("columns %s\nwant    %s", got, want)
	}
	if r.ID != "7" || !r.Binary || len(r.Outputs) != 2 || r.Outputs[0].Binary != nil ||
		r.Outputs[1].Binary == nil || *r.Outputs[1].Binary {
		t.Errorf("request %+v", r)
	}
	body, header := inBinary()
	b, err := d.Decode(body, header)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Rows.Release()
	if got := strings.Join(columnsOf(b), " "); got != `[1.5 NaN] ["Åé" ""] [true false] [1 2]` {
		t.Errorf("columns %s", got)
	}
}

func columnsOf(r *Request) (texts []string) {
	for _, c := range r.Rows.Columns() {
		texts = append(texts, fmt.Sprint(c))
	}
	return texts
}

func TestFaultyRequestsAreRefused(t *testing.T) {
	input := func(rest string) string { return `{"inputs": [{"name": "a", ` + rest + `}]}` }
	tests := []struct {
		name, body, want string
	}{
		{"nothing", ``, "ends too early"},
		{"no object", `[]`, "an object is expected"},
		{"cut off", `{"inputs": [`, "ends too early"},
		{"more after it", `{"inputs": []} {}`, "something follows"},
		{"no inputs", `{}`, "no inputs"},
		{"an unknown type", input(`"shape": [1], "datatype": "FP16", "data": [1]`), `datatype "FP16"`},
		{"no shape", input(`"datatype": "FP32", "data": [1]`), "no shape"},
		{"no data", input(`"datatype": "FP32", "shape": [1]`), "no data"},
		{
			"fewer values than the shape",
			input(`"datatype": "FP32", "shape": [2], "data": [1.25]`),
			"1 values, its shape has 2",
		},
		{"more values than the shape", input(`"datatype": "FP32", "shape": [1], "data": [1, 2]`), "more than the 1 values"},
		{"a shape beyond the data", input(`"datatype": "FP32", "shape": [1000], "data": [1]`), "its data"},
		{"too many rows", input(`"datatype": "FP32", "shape": [1001], "data": [1]`), "at most 1000"},
		{
			"a shape that overflows",
			input(`"datatype": "FP32", "shape": [1000, 2147483647, 2147483647], "data": [1]`),
			"shape",
		},
		{"a negative shape", input(`"datatype": "FP32", "shape": [-1], "data": []`), "not a length"},
		{"a fraction of a row", input(`"datatype": "FP32", "shape": [1.5], "data": []`), "not a length"},
		{"text for numbers", input(`"datatype": "FP32", "shape": [1], "data": ["1"]`), "not a value of its datatype"},
		{"null for text", input(`"datatype": "BYTES", "shape": [1], "data": [null]`), "not a value of its datatype"},
		{"a number beyond its type", input(`"datatype": "INT8", "shape": [1], "data": [128]`), "not one of its datatype"},
		{"a number beyond float32", input(`"datatype": "FP32", "shape": [1], "data": [1e39]`), "not one of its datatype"},
		{"lists of text", input(`"datatype": "BYTES", "shape": [1, 2], "data": ["a", "b"]`), "[rows]"},
		{"deep data", input(`"datatype": "FP32", "shape": [1], "data": [[[[[[[[[[1]]]]]]]]]]`), "deep"},
		{
			"binary that is not there",
			input(`"datatype": "FP32", "shape": [1], "parameters": {"binary_data_size": 4}`),
			"4 bytes of binary data",
		},
		{"data twice", input(`"datatype": "FP32", "shape": [1], "data": [1], "parameters": {"binary_data_size": 0}`), "both"},
		{"a name without end", input(`"datatype": "` + strings.Repeat("x", 2000) + `"`), "a name of"},
		{
			"inputs of other lengths",
			`{"inputs": [{"name": "a", "shape": [1], "datatype": "FP32", "data": [1]}, {"name": "b", ` +
				`"shape": [2], "datatype": "FP32", "data": [1, 2]}]}`,
			"2 rows",
		},
		{"too many inputs", `{"inputs": [` + strings.Repeat(`{},`, 30) + `{}]}`, "more than 20 inputs"},
		{"too many outputs", `{"outputs": [` + strings.Repeat(`{},`, 30) + `{}]}`, "outputs"},
		{"classification", `{"outputs": [{"name": "a", "parameters": {"classification": 3}}]}`, "classification"},
		{"a key twice", `{"id": "a", "id": "b"}`, "duplicate"},
	}
	d := NewDecoder(testLimits)
	for _, test := range tests {
		r, err := d.Decode([]byte(test.body), len(test.body))
		if err == nil || !strings.Contains(err.Error(), test.want) || r != nil && r.Rows != nil {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
			continue
		}
		if !errors.Is(err, ErrTensors) && arrowio.Reason(err) == "" {
			t.Errorf("%s: %v has no reason", test.name, err)
		}
	}
	for _, header := range []int{-1, 3} {
		if _, err := d.Decode([]byte("{}"), header); !errors.Is(err, ErrTensors) {
			t.Errorf("JSON of %d bytes: %v", header, err)
		}
	}
}

func TestTheBudgetOfARequest(t *testing.T) {
	limits := testLimits
	limits.BudgetBytes = 2048
	text := `{"inputs": [{"name": "a", "datatype": "FP64", "shape": [900], "data": [` + strings.TrimSuffix(
		strings.Repeat("1,", 900),
		",",
	) + `]}]}`
	if _, err := NewDecoder(limits).Decode([]byte(text), len(text)); !errors.Is(err, arrowio.ErrBudget) {
		t.Errorf("error %v, want %v", err, arrowio.ErrBudget)
	}
	limits.MaxMessageBytes = 10
	if _, err := NewDecoder(limits).Decode([]byte(text), len(text)); !errors.Is(err, arrowio.ErrTooLarge) {
		t.Errorf("error %v, want %v", err, arrowio.ErrTooLarge)
	}
}

// Names that mean nothing are skipped without being kept, however many there are.
func TestManyNamesTakeNoMemory(t *testing.T) {
	limits := testLimits
	var body bytes.Buffer
	body.WriteString(`{"z":{`)
	for i := 0; body.Len() < 1<<20-40; i++ {
		fmt.Fprintf(&body, `"%s":0,`, strconv.FormatInt(int64(i), 36))
	}
	body.WriteString(`"z":0},"inputs":[]}`)
	d := NewDecoder(limits)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := d.Decode(body.Bytes(), body.Len())
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "no inputs") {
		t.Error(err)
	}
	if took := int64(after.TotalAlloc - before.TotalAlloc); took > limits.BudgetBytes {
		t.Errorf("%d bytes were allocated, the budget is %d", took, limits.BudgetBytes)
	}
}

// Answers can be read by the same rules.
func TestAnswers(t *testing.T) {
	a := Answer{Model: "shop", Version: "m-1", ID: "a\"b", FeatureSet: "fs-1", Tensors: []Tensor{
		{Name: "prediction", Datatype: DatatypeBytes, Rows: 2, Width: 1, Texts: []string{"no", "Åé"}, Number: []int32{1, 0}},
		{
			Name: "probabilities", Datatype: DatatypeFloat32, Rows: 2, Width: 2,
			Numbers: []float32{0.25, 0.75, 1e-7, 1}, Binary: true,
		},
	}}
	body, header := a.Append(nil)
	const want = `{"model_name":"shop","model_version":"m-1","id":"a\"b","parameters":{"feature_set":"fs-1"},"outputs":[` +
		`{"name":"prediction","datatype":"BYTES","shape":[2],"data":["Åé","no"]},` +
		`{"name":"probabilities","datatype":"FP32","shape":[2,2],"parameters":{"binary_data_size":16}}]}`
	if string(body[:header]) != want {
		t.Errorf("JSON %s\nwant %s", body[:header], want)
	}
	var values [4]float32
	if err := binary.Read(
		bytes.NewReader(body[header:]),
		binary.LittleEndian, &values,
	); err != nil || values != [4]float32{0.25, 0.75, 1e-7, 1} {
		t.Errorf("values %v, %v", values, err)
	}
	a.Tensors[0].Binary, a.Tensors[1].Binary = true, false
	body, header = a.Append(nil)
	if got := string(body[header:]); got != "\x04\x00\x00\x00Åé\x02\x00\x00\x00no" {
		t.Errorf("strings %q", got)
	}
}

// Numbers far from zero keep the digits of float64, in JSON and in binary.
func TestAnswersOfFloat64(t *testing.T) {
	tensor := Tensor{Name: "prediction", Datatype: DatatypeFloat64, Rows: 2, Width: 1, Doubles: []float64{1.7e9 + 0.125, -1e-300}}
	a := Answer{Model: "shop", Version: "m-1", FeatureSet: "fs-1", Tensors: []Tensor{tensor}}
	body, _ := a.Append(nil)
	const want = `{"name":"prediction","datatype":"FP64","shape":[2],"data":[1.700000000125e+09,-1e-300]}`
	if !strings.Contains(string(body), want) {
		t.Errorf("JSON %s\nwant %s", body, want)
	}
	a.Tensors[0].Binary = true
	body, header := a.Append(nil)
	var values [2]float64
	err := binary.Read(bytes.NewReader(body[header:]), binary.LittleEndian, &values)
	if err != nil || !slices.Equal(values[:], tensor.Doubles) {
		t.Errorf("values %v, %v", values, err)
	}
	if !strings.Contains(string(body[:header]), `"binary_data_size":16`) {
		t.Errorf("JSON %s", body[:header])
	}
}

// try decodes a request and reads all of the result.
func try(d *Decoder, body []byte, header int) error {
	r, err := d.Decode(body, header)
	switch {
	case err != nil && (strings.Contains(err.Error(), unforeseen) || !errors.Is(err, ErrTensors) &&
		arrowio.Reason(err) == ""):
		return err
	case err != nil:
		return nil
	}
	defer r.Rows.Release()
	for _, c := range r.Rows.Columns() {
		if c.Len() != int(r.Rows.NumRows()) {
			return fmt.Errorf("column of %d rows in %d", c.Len(), r.Rows.NumRows())
		}
		for i := range c.Len() {
			_ = c.ValueStr(i)
		}
		if texts, ok := c.(*array.String); ok && texts.ValueOffset(texts.Len()) > len(body) {
			return errors.New("more text than there are bytes")
		}
	}
	return nil
}
