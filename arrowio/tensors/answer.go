package tensors

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unsafe"

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
	Name     string
	Datatype string // of the protocol: FP32, FP64 or BYTES
	Rows     int
	Width    int       // values per row; 1 = the shape is [rows]
	Binary   bool      // its values follow the JSON
	Numbers  []float32 // of FP32
	Doubles  []float64 // of FP64
	Texts    []string  // of BYTES: all possible texts
	Number   []int32   // [Rows] index of each row's text
}

// AppendNumber writes a number as JSON that reads back as the same number of its type. NaN and
// infinities, which JSON lacks and sets of other programs may give, become null.
func AppendNumber[T float32 | float64](dst []byte, v T) []byte {
	if v-v != 0 {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, float64(v), 'g', -1, 8*int(unsafe.Sizeof(v)))
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
	dst = append(dst, `{"name":`...)
	dst = AppendText(dst, t.Name)
	dst = append(dst, `,"datatype":"`...)
	dst = append(dst, t.Datatype...)
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
	dst = appendNumbers(dst, t.Numbers)
	dst = appendNumbers(dst, t.Doubles)
	for i, n := range t.Number {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendText(dst, t.Texts[n])
	}
	return append(dst, `]}`...)
}

// appendNumbers writes numbers with commas between them.
func appendNumbers[T float32 | float64](dst []byte, values []T) []byte {
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendNumber(dst, v)
	}
	return dst
}

func (t *Tensor) binarySize() (size int64) {
	for _, n := range t.Number {
		size += 4 + int64(len(t.Texts[n]))
	}
	return size + 4*int64(len(t.Numbers)) + 8*int64(len(t.Doubles))
}

func (t *Tensor) appendBinary(dst []byte) []byte {
	for _, v := range t.Numbers {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(v))
	}
	for _, v := range t.Doubles {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
	}
	for _, n := range t.Number {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(t.Texts[n])))
		dst = append(dst, t.Texts[n]...)
	}
	return dst
}
