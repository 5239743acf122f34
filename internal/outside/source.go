package outside

import (
	"fmt"
	"math"
	"strconv"
)

// Source is a group of values from one origin.
type Source struct {
	Name   string // the document, the headers of a topic, the endpoint
	Where  string // topic and key, or address
	Writer string // who may write it
	Beyond string // consequence of a value beyond its bound
	Values []Value
}

// Value is one value of a source.
type Value struct {
	Name  string
	Shape *Shape
}

// TextOf is the shape of a text of at most so many bytes.
func TextOf(most int) *Shape { return &Shape{Kind: Text, Most: most} }

// WholeOf is the shape of a whole number from 0 on.
func WholeOf(high int64) *Shape { return &Shape{Kind: Whole, High: float64(high)} }

// Document returns the values of a document: its leaves, by path.
func Document(s *Shape) []Value {
	var values []Value
	s.Leaves("", func(path string, leaf *Shape) { values = append(values, Value{path, leaf}) })
	return values
}

// Leaves calls visit for every list and every value that is no object, by path: a.b for a member,
// a[] for elements.
func (s *Shape) Leaves(path string, visit func(path string, s *Shape)) {
	switch s.Kind {
	case Object:
		for _, name := range s.Names {
			member := name
			if path != "" {
				member = path + "." + name
			}
			s.Fields[name].Leaves(member, visit)
		}
	case List:
		visit(path, s)
		s.Element.Leaves(path+"[]", visit)
	default:
		visit(path, s)
	}
}

// Bound describes the bound for people.
func (s *Shape) Bound() string {
	null := ""
	if s.Nullable {
		null = ", or null"
	}
	switch s.Kind {
	case Text:
		return fmt.Sprintf("text, %d bytes", s.Most) + null
	case List:
		if s.Least > 0 {
			return fmt.Sprintf("list of %d", s.Most)
		}
		return fmt.Sprintf("list, %d elements", s.Most)
	case Whole:
		return fmt.Sprintf("whole, %s to %s", number(s.Low), number(s.High)) + null
	case Real:
		if s.High >= math.MaxFloat32 {
			return "number, finite" + null
		}
		return fmt.Sprintf("number, %s to %s", number(s.Low), number(s.High)) + null
	case Digits:
		return "text of a whole number of 64 bits"
	case Time:
		return "time, 1970 to 9999"
	case Truth:
		return "true or false"
	}
	return string(s.Kind)
}

// number is a number in few characters.
func number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e16 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// CheckText returns an error unless the text, as in a header, is within the bound: decimal digits
// for a whole number.
func (s *Shape) CheckText(text string) error {
	switch s.Kind {
	case Whole:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || float64(n) < s.Low || float64(n) > s.High || len(text) > maxDigits {
			return fmt.Errorf("%w: %.40q is not a whole number of %s to %s", ErrBound, text, number(s.Low), number(s.High))
		}
	default:
		if len(text) > s.Most {
			return fmt.Errorf("%w: %d bytes, at most %d", ErrBound, len(text), s.Most)
		}
	}
	return nil
}
