package tensors

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Answer is the answer to a request.
type Answer struct {
	Model, Version, ID string
	// FeatureSet becomes one of the parameters, as do the columns with imputed values or unseen
	// categories, if any.
	FeatureSet      string
	Imputed, Unseen []string
	Tensors         []Tensor
}

// Tensor is an output: numbers, or texts that are each one of a list.
type Tensor struct {
	Name    string
	Rows    int
	Width   int  // values per row; 1 = the shape is [rows]
	Binary  bool // its values follow the JSON
	Numbers []float32
	Texts   []string // all possible texts, if Numbers is nil
	Number  []int32  // [Rows] index of each row's text
}

// AppendNumber writes a number as JSON that reads back as the same float32. It must be finite.
func AppendNumber(dst []byte, v float32) []byte {
	return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
}

// AppendText writes a string as JSON, replacing invalid UTF-8.
func AppendText(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // the error only names the replaced bytes
	return dst
}

// Append appends the answer to dst and returns it with the length of its JSON; binary values follow
// the JSON.
func (a *Answer) Append(dst []byte) (body []byte, header int) {
	first := len(dst)
	dst = append(dst, `{"model_name":`...)
	dst = AppendText(dst, a.Model)
	dst = append(dst, `,"model_version":`...)
	dst = AppendText(dst, a.Version)
	if a.ID != "" {
		dst = append(dst, `,"id":`...)
		dst = AppendText(dst, a.ID)
	}
	dst = append(dst, `,"parameters":{"feature_set":`...)
	dst = AppendText(dst, a.FeatureSet)
	dst = appendColumns(dst, `,"imputed":`, a.Imputed)
	dst = appendColumns(dst, `,"unseen":`, a.Unseen)
	dst = append(dst, `},"outputs":[`...)
	for i := range a.Tensors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = a.Tensors[i].appendJSON(dst)
	}
	dst = append(dst, `]}`...)
	header = len(dst) - first
	for i := range a.Tensors {
		if a.Tensors[i].Binary {
			dst = a.Tensors[i].appendBinary(dst)
		}
	}
	return dst, header
}

// appendColumns writes a parameter, a text: the protocol has no lists there. Nothing is written for
// no columns.
func appendColumns(dst []byte, name string, columns []string) []byte {
	const most = 4 << 10
	if len(columns) == 0 {
		return dst
	}
	text := strings.Join(columns, ", ")
	return AppendText(append(dst, name...), text[:min(len(text), most)])
}

func (t *Tensor) appendJSON(dst []byte) []byte {
	datatype := "FP32"
	if t.Numbers == nil && t.Texts != nil {
		datatype = DatatypeBytes
	}
	dst = append(dst, `{"name":`...)
	dst = AppendText(dst, t.Name)
	dst = append(dst, `,"datatype":"`...)
	dst = append(dst, datatype...)
	dst = append(dst, `","shape":[`...)
	dst = strconv.AppendInt(dst, int64(t.Rows), 10)
	if t.Width > 1 {
		dst = append(dst, ',')
		dst = strconv.AppendInt(dst, int64(t.Width), 10)
	}
	if t.Binary {
		dst = append(dst, `],"parameters":{"binary_data_size":`...)
		dst = strconv.AppendInt(dst, t.binarySize(), 10)
		return append(dst, `}}`...)
	}
	dst = append(dst, `],"data":[`...)
	for i, v := range t.Numbers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendNumber(dst, v)
	}
	for i, n := range t.Number {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendText(dst, t.Texts[n])
	}
	return append(dst, `]}`...)
}

func (t *Tensor) binarySize() (size int64) {
	for _, n := range t.Number {
		size += 4 + int64(len(t.Texts[n]))
	}
	return size + 4*int64(len(t.Numbers))
}

func (t *Tensor) appendBinary(dst []byte) []byte {
	for _, v := range t.Numbers {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	for _, n := range t.Number {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(t.Texts[n])))
		dst = append(dst, t.Texts[n]...)
	}
	return dst
}
