package outside

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Bounds of values whose field declares no other.
const (
	// MaxCount bounds whole numbers: counts, offsets and sequence numbers. It is exact in a double.
	MaxCount = 1_000_000_000_000_000
	// LastCount bounds whole numbers that another one follows, such as the offset of a record.
	LastCount = MaxCount - 1
	// MaxText bounds the bytes of texts.
	MaxText = 1024
	// MaxWord bounds the bytes of texts that name a constant.
	MaxWord = 64
)

// Bounds of objects and lists under names that no field has.
const (
	maxUnknownMembers = 256
	maxUnknownList    = 1024
	// maxDepth bounds the nesting of any value.
	maxDepth = 12
)

// maxMemory bounds the memory of the elements of all lists of a value, without the garbage of
// growing lists. An element may take a hundred times the bytes of its text.
const maxMemory = 16 << 20

// Kind is the kind of a value.
type Kind string

// The kinds of values.
const (
	Object Kind = "object"
	List   Kind = "list"
	Text   Kind = "text"
	Whole  Kind = "whole number"
	Digits Kind = "digits in a text" // an unsigned number of 64 bits
	Real   Kind = "number"
	Truth  Kind = "true or false"
	Time   Kind = "time"
)

// Shape is the form of a JSON value with its bounds.
type Shape struct {
	Kind Kind
	// Low and High bound a number.
	Low, High float64
	// Most bounds the bytes of a text and the elements of a list; Least is their least number.
	Least, Most int
	// Nullable is set if null may stand for the value.
	Nullable bool
	// Element is the shape of a list's elements, each of which takes Size bytes of memory.
	Element *Shape
	Size    int64
	// Fields are the members of an object by name, Names their names in order.
	Fields map[string]*Shape
	Names  []string
}

// ShapeOf returns the shape of the JSON that T is read from. It panics if a list has no bound or a
// tag does not parse.
func ShapeOf[T any]() *Shape { return shapeOf(reflect.TypeFor[T](), "", nil) }

var (
	timeType = reflect.TypeFor[time.Time]()
	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// shapeOf returns the shape of a type under the bound of its field.
func shapeOf(t reflect.Type, bound string, options []string) *Shape {
	if rest, ok := strings.CutPrefix(bound, "null"); ok {
		s := shapeOf(t, strings.TrimSpace(rest), options)
		s.Nullable = true
		return s
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == timeType:
		return &Shape{Kind: Time, Most: MaxWord}
	case reflect.PointerTo(t).Implements(textType):
		return &Shape{Kind: Text, Most: MaxWord}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &Shape{Kind: Truth}
	case reflect.Float32, reflect.Float64:
		return within(&Shape{Kind: Real, Low: -math.MaxFloat64, High: math.MaxFloat64}, bound)
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Uint32, reflect.Uint64:
		return wholeShape(t.Kind(), bound, options)
	case reflect.String:
		return textShape(t, bound)
	case reflect.Slice, reflect.Array:
		return listShape(t, bound)
	case reflect.Struct:
		if bound != "" {
			panic(fmt.Sprintf("outside: bound %q on an object", bound))
		}
		s := &Shape{Kind: Object, Fields: map[string]*Shape{}}
		s.addFields(t)
		return s
	}
	panic(fmt.Sprintf("outside: values of type %v are not read", t))
}

// wholeShape is the shape of an integer.
func wholeShape(kind reflect.Kind, bound string, options []string) *Shape {
	for _, o := range options {
		if o == "string" {
			return &Shape{Kind: Digits, Most: 20}
		}
	}
	s := &Shape{Kind: Whole, High: MaxCount}
	switch kind {
	case reflect.Int32:
		s.High = math.MaxInt32 - 1
	case reflect.Uint32:
		s.High = math.MaxUint32
	}
	return within(s, bound)
}

// within narrows a number to a range such as "1..1024".
func within(s *Shape, bound string) *Shape {
	if bound == "" {
		return s
	}
	low, high, ok := strings.Cut(bound, "..")
	var errLow, errHigh error
	s.Low, errLow = strconv.ParseFloat(low, 64)
	s.High, errHigh = strconv.ParseFloat(high, 64)
	if !ok || errLow != nil || errHigh != nil {
		panic(fmt.Sprintf("outside: bound %q is not a range such as 0..10", bound))
	}
	return s
}

// textShape is the shape of a text: a bound of "255" allows as many bytes.
func textShape(t reflect.Type, bound string) *Shape {
	s := &Shape{Kind: Text, Most: MaxText}
	if t != reflect.TypeFor[string]() { // a type of its own has constants
		s.Most = MaxWord
	}
	return s.counted(bound)
}

// listShape is the shape of a list: "list 16" has up to 16 elements, "list 16 of 255" in addition
// bounds each of them.
func listShape(t reflect.Type, bound string) *Shape {
	s := &Shape{Kind: List, Size: int64(t.Elem().Size())}
	if t.Kind() == reflect.Array {
		s.Least, s.Most = t.Len(), t.Len()
		s.Element = shapeOf(t.Elem(), bound, nil)
		return s
	}
	rest, ok := strings.CutPrefix(bound, "list ")
	if !ok {
		panic(fmt.Sprintf("outside: a list of %v has the bound %q, want one such as \"list 16\"", t.Elem(), bound))
	}
	most, element, _ := strings.Cut(rest, " of ")
	s.Element = shapeOf(t.Elem(), element, nil)
	return s.counted(most)
}

// counted parses the greatest number of bytes or elements.
func (s *Shape) counted(bound string) *Shape {
	if bound == "" {
		return s
	}
	n, err := strconv.Atoi(bound)
	if err != nil || n < 1 {
		panic(fmt.Sprintf("outside: bound %q is not a number of bytes or elements", bound))
	}
	s.Most = n
	return s
}

// addFields adds the fields of a struct. A field hides one of the same name in an embedded struct.
func (s *Shape) addFields(t reflect.Type) {
	for _, f := range reflect.VisibleFields(t) {
		tag := strings.Split(f.Tag.Get("json"), ",")
		name := tag[0]
		if name == "-" || f.Anonymous && name == "" || !f.IsExported() {
			continue
		}
		if name == "" {
			panic(fmt.Sprintf("outside: field %s of %v has no name in JSON", f.Name, t))
		}
		if hidden(t, f) {
			continue
		}
		if _, twice := s.Fields[name]; !twice {
			s.Names = append(s.Names, name)
		} else if len(f.Index) > 1 {
			continue // hidden by a field nearer to the top
		}
		s.Fields[name] = shapeOf(f.Type, f.Tag.Get("bound"), tag[1:])
	}
}

// hidden reports whether a field belongs to an embedded struct that has a name in JSON, or is left
// out: it is a member of that object.
func hidden(t reflect.Type, f reflect.StructField) bool {
	for i := 1; i < len(f.Index); i++ {
		outer := t.FieldByIndex(f.Index[:i])
		if name, _, _ := strings.Cut(outer.Tag.Get("json"), ","); name != "" {
			return true
		}
	}
	return false
}
