package tensors

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/eerf-stream/eerf/arrowio"
)

// Bounds on the lengths of texts in a request.
const (
	maxName  = 1024
	maxShape = 8
	maxID    = 256
)

// Request is a request for predictions or features.
type Request struct {
	ID      string
	Outputs []Output     // requested; empty = all of the model's
	Binary  bool         // default of Output.Binary
	Rows    arrow.Record // a column for each input; the caller releases it
}

// Output is a requested output.
type Output struct {
	Name   string
	Binary *bool // nil = the request's default
}

// input is an input of the request, before its values are read.
type input struct {
	name     string
	datatype string
	shape    []int64
	data     []byte // JSON; nil = the values are binary
	binary   int64  // size of the binary values; -1 = they are in JSON
}

// Decoder reads requests. It belongs to one goroutine.
type Decoder struct {
	limits arrowio.Limits
	budget arrowio.Budget
	body   []byte
	reader bytes.Buffer
	json   *jsontext.Decoder
}

// NewDecoder returns a Decoder within limits.
func NewDecoder(limits arrowio.Limits) *Decoder {
	d := &Decoder{limits: arrowio.NewDecoder(limits).Limits()}
	// The library would keep all names of an object to compare them, out of any budget: see [seen].
	d.json = jsontext.NewDecoder(&d.reader, jsontext.AllowDuplicateNames(true))
	return d
}

// unforeseen starts the text of an error that no check anticipated.
const unforeseen = "unforeseen fault while decoding"

// Decode reads a request whose JSON is the first header bytes of the body; binary values follow it.
// It never panics.
func (d *Decoder) Decode(body []byte, header int) (r *Request, err error) {
	if n := int64(len(body)); n > d.limits.MaxMessageBytes {
		return nil, tooLarge("request of %d bytes, at most %d", n, d.limits.MaxMessageBytes)
	}
	if header < 0 || header > len(body) {
		return nil, wrong("the length of its JSON, %d, is not within its %d bytes", header, len(body))
	}
	d.budget = arrowio.NewBudget(d.limits.BudgetBytes)
	d.body = body[:header]
	d.reader = *bytes.NewBuffer(d.body)
	d.json.Reset(&d.reader, jsontext.AllowDuplicateNames(true))
	defer func() {
		d.body, d.reader = nil, bytes.Buffer{}
		if p := recover(); p != nil { // a second line of defence after all checks
			r, err = nil, wrong("%s: %v", unforeseen, p)
		}
	}()
	r = &Request{}
	inputs, err := d.request(r)
	if err != nil {
		return nil, err
	}
	r.Rows, err = d.rows(inputs, body[header:])
	return r, err
}

// request reads the JSON, except the values.
func (d *Decoder) request(r *Request) (inputs []input, err error) {
	err = d.object(func(key string) (err error) {
		switch key {
		case "id":
			r.ID, err = d.text(maxID)
		case "inputs":
			return d.array(func() error {
				if len(inputs) >= d.limits.MaxColumns {
					return tooLarge("more than %d inputs", d.limits.MaxColumns)
				}
				one, err := d.input()
				inputs = append(inputs, one)
				return err
			})
		case "outputs":
			return d.array(func() error {
				if len(r.Outputs) >= maxShape {
					return tooLarge("more than %d outputs", maxShape)
				}
				one, err := d.output()
				r.Outputs = append(r.Outputs, one)
				return err
			})
		case "parameters":
			return d.object(func(key string) (err error) {
				if key == "binary_data_output" {
					r.Binary, err = d.truth()
					return err
				}
				return d.skip()
			})
		default:
			return d.skip()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, err := d.json.ReadToken(); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, wrong("something follows the request")
	}
	return inputs, nil
}

func (d *Decoder) input() (one input, err error) {
	one.binary = -1
	if err := d.budget.Take(inputCost); err != nil {
		return one, err
	}
	err = d.object(func(key string) (err error) {
		switch key {
		case "name":
			one.name, err = d.text(maxName)
		case "datatype":
			one.datatype, err = d.text(maxName)
		case "shape":
			return d.array(func() error {
				if len(one.shape) >= maxShape {
					return tooLarge("a shape of more than %d numbers", maxShape)
				}
				n, err := d.whole()
				one.shape = append(one.shape, n)
				return err
			})
		case "data":
			one.data, err = d.raw()
		case "parameters":
			return d.object(func(key string) (err error) {
				if key == "binary_data_size" {
					one.binary, err = d.whole()
					return err
				}
				return d.skip()
			})
		default:
			return d.skip()
		}
		return err
	})
	return one, err
}

func (d *Decoder) output() (one Output, err error) {
	err = d.object(func(key string) (err error) {
		switch key {
		case "name":
			one.Name, err = d.text(maxName)
			return err
		case "parameters":
			return d.object(func(key string) error {
				switch key {
				case "binary_data":
					binary, err := d.truth()
					one.Binary = &binary
					return err
				case "classification":
					return wrong("output %s: classification is not offered, probabilities are", arrowio.Quote(one.Name))
				}
				return d.skip()
			})
		}
		return d.skip()
	})
	return one, err
}

// rows makes the record of the inputs. binary follows the JSON.
func (d *Decoder) rows(inputs []input, binary []byte) (arrow.Record, error) {
	if len(inputs) == 0 {
		return nil, wrong("it has no inputs")
	}
	fields, columns := make([]arrow.Field, 0, len(inputs)), make([]arrow.Array, 0, len(inputs))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	rows := int64(-1)
	for i := range inputs {
		in := &inputs[i]
		values, n, err := d.column(in, &binary)
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", arrowio.Quote(in.name), err)
		}
		columns = append(columns, values)
		fields = append(fields, arrow.Field{Name: in.name, Type: values.DataType(), Nullable: true})
		if rows >= 0 && n != rows {
			return nil, wrong("input %s has %d rows, the inputs before it have %d", arrowio.Quote(in.name), n, rows)
		}
		rows = n
	}
	if len(binary) > 0 {
		return nil, wrong("%d bytes follow the last input", len(binary))
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, rows), nil
}

// Helpers to read JSON.

func bad(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return wrong("it ends too early")
	}
	text := err.Error()
	const shown = 200
	return wrong("%s", text[:min(len(text), shown)])
}

// object reads an object: do reads the value of each key.
func (d *Decoder) object(do func(key string) error) error {
	if kind := d.json.PeekKind(); kind != '{' {
		return d.unexpected(kind, "an object")
	}
	if _, err := d.json.ReadToken(); err != nil {
		return bad(err)
	}
	var twice seen
	for d.json.PeekKind() == '"' {
		key, err := d.text(maxName)
		if err != nil {
			return err
		}
		if err := twice.add(key); err != nil {
			return err
		}
		if err := do(key); err != nil {
			return err
		}
	}
	return d.next()
}

// names are the keys that have a meaning somewhere in a request.
var names = []string{
	"id", "inputs", "outputs", "parameters", "name", "datatype", "shape", "data",
	"binary_data", "binary_data_size", "binary_data_output", "classification",
}

// seen is the set of the names that an object has had. Other names are skipped and may repeat.
type seen uint

func (s *seen) add(name string) error {
	at := slices.Index(names, name)
	if at < 0 {
		return nil
	}
	if *s&(1<<at) != 0 {
		return wrong("duplicate name %s", arrowio.Quote(name))
	}
	*s |= 1 << at
	return nil
}

// array reads an array: do reads each element.
func (d *Decoder) array(do func() error) error {
	if kind := d.json.PeekKind(); kind != '[' {
		return d.unexpected(kind, "an array")
	}
	if _, err := d.json.ReadToken(); err != nil {
		return bad(err)
	}
	for {
		switch d.json.PeekKind() {
		case ']', 0:
			return d.next()
		}
		if err := do(); err != nil {
			return err
		}
	}
}

// next reads a closing token.
func (d *Decoder) next() error {
	if _, err := d.json.ReadToken(); err != nil {
		return bad(err)
	}
	return nil
}

func (d *Decoder) unexpected(kind jsontext.Kind, wanted string) error {
	if kind == 0 {
		if err := d.next(); err != nil {
			return err
		}
	}
	return wrong("%v where %s is expected", kind, wanted)
}

func (d *Decoder) skip() error {
	if err := d.json.SkipValue(); err != nil {
		return bad(err)
	}
	return nil
}

func (d *Decoder) text(most int) (string, error) {
	if kind := d.json.PeekKind(); kind != '"' {
		return "", d.unexpected(kind, "a string")
	}
	raw, err := d.json.ReadValue()
	if err != nil {
		return "", bad(err)
	}
	if len(raw) > most {
		return "", tooLarge("a name of %d bytes, at most %d", len(raw), most)
	}
	if err := d.budget.Take(2 * int64(len(raw))); err != nil {
		return "", err
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", bad(err)
	}
	return string(text), nil
}

func (d *Decoder) whole() (int64, error) {
	if kind := d.json.PeekKind(); kind != '0' {
		return 0, d.unexpected(kind, "a number")
	}
	raw, err := d.json.ReadValue()
	if err != nil {
		return 0, bad(err)
	}
	const digits = 19
	if len(raw) > digits {
		return 0, tooLarge("a number of %d digits", len(raw))
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < 0 {
		return 0, wrong("%s is not a length", raw)
	}
	return n, nil
}

func (d *Decoder) truth() (bool, error) {
	kind := d.json.PeekKind()
	if kind != 't' && kind != 'f' {
		return false, d.unexpected(kind, "true or false")
	}
	return kind == 't', d.next()
}

// raw skips a value and returns its position in the body.
func (d *Decoder) raw() ([]byte, error) {
	value, err := d.json.ReadValue()
	if err != nil {
		return nil, bad(err)
	}
	end := d.json.InputOffset()
	return d.body[end-int64(len(value)) : end], nil
}
