package outside

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrBound reports a value that is not of its shape or beyond its bound.
var ErrBound = errors.New("not within its bounds")

// Check returns an error unless the text is one JSON value of this shape: of the right kinds,
// within all bounds, without duplicate names and without nulls where none is allowed. Members that
// the shape does not name are skipped, within bounds of their own. Its own memory does not grow
// with the text.
func (s *Shape) Check(text []byte) error {
	c := &checker{dec: jsontext.NewDecoder(bytes.NewBuffer(text))}
	if err := c.value(s); err != nil {
		return err
	}
	if _, err := c.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return c.fault("text after the value")
	}
	return nil
}

// Member returns the first value under a name of the object in text, unchecked; nil if the text is
// no object or has no such member. It is how a reader looks at a version before it knows the shape.
func Member(text []byte, name string) []byte {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return nil
	}
	for dec.PeekKind() == '"' {
		key, err := dec.ReadValue()
		if err != nil {
			return nil
		}
		if string(key) == `"`+name+`"` {
			value, err := dec.ReadValue()
			if err != nil {
				return nil
			}
			return bytes.Clone(value)
		}
		if !skip(dec) {
			return nil
		}
	}
	return nil
}

// skip passes over a value that is not nested too deep.
func skip(dec *jsontext.Decoder) bool {
	for depth := dec.StackDepth(); ; {
		if _, err := dec.ReadToken(); err != nil || dec.StackDepth() > depth+maxDepth {
			return false
		}
		if dec.StackDepth() <= depth {
			return true
		}
	}
}

// checker walks the tokens of a text.
type checker struct {
	dec     *jsontext.Decoder
	scratch []byte
	memory  int64 // of the elements of lists so far
}

// fault names the place and the fault.
func (c *checker) fault(format string, args ...any) error {
	at := string(c.dec.StackPointer())
	if at == "" {
		at = "the document"
	}
	return fmt.Errorf("%.200s: %w: %s", at, ErrBound, fmt.Sprintf(format, args...))
}

// syntax wraps an error of the library.
func (c *checker) syntax(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return c.fault("the text ends too early")
	}
	const shown = 200
	return c.fault("%.*s", shown, err.Error())
}

// value checks the next value.
func (c *checker) value(s *Shape) error {
	if c.dec.StackDepth() > maxDepth {
		return c.fault("nested too deep")
	}
	kind := c.dec.PeekKind()
	if kind == 'n' && s.Nullable {
		return c.skip()
	}
	switch s.Kind {
	case Object:
		if kind == '{' {
			return c.object(s)
		}
	case List:
		if kind == '[' {
			return c.list(s)
		}
	case Text, Time, Digits:
		if kind == '"' {
			return c.text(s)
		}
	case Whole, Real:
		if kind == '0' {
			return c.number(s)
		}
	case Truth:
		if kind == 't' || kind == 'f' {
			return c.skip()
		}
	}
	raw, err := c.dec.ReadToken()
	if err != nil {
		return c.syntax(err)
	}
	return c.fault("a value that begins with %q instead of a %s", raw.Kind(), s.Kind)
}

// skip consumes a token.
func (c *checker) skip() error {
	if _, err := c.dec.ReadToken(); err != nil {
		return c.syntax(err)
	}
	return nil
}

// unquoted returns the text that comes next, in memory that the next call uses again.
func (c *checker) unquoted() ([]byte, error) {
	raw, err := c.dec.ReadValue()
	if err != nil {
		return nil, c.syntax(err)
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	if c.scratch, err = jsontext.AppendUnquote(c.scratch[:0], raw); err != nil {
		return nil, c.syntax(err)
	}
	return c.scratch, nil
}

// object checks an object: the fields of the shape, and at most a few members besides.
func (c *checker) object(s *Shape) error {
	if err := c.skip(); err != nil {
		return err
	}
	for unknown := 0; ; {
		if kind := c.dec.PeekKind(); kind == '}' || kind == 0 {
			return c.skip()
		}
		name, err := c.unquoted()
		if err != nil {
			return err
		}
		if field := s.Fields[string(name)]; field != nil {
			err = c.value(field)
		} else if unknown++; unknown > maxUnknownMembers {
			err = c.fault("more than %d unknown members", maxUnknownMembers)
		} else {
			err = c.unknown()
		}
		if err != nil {
			return err
		}
	}
}

// unknown passes over a value that no shape describes, within bounds.
func (c *checker) unknown() error {
	if c.dec.StackDepth() > maxDepth {
		return c.fault("nested too deep")
	}
	switch c.dec.PeekKind() {
	case '{':
		return c.object(&Shape{})
	case '[':
		return c.elements(maxUnknownList, c.unknown)
	}
	return c.skip()
}

// list checks a list.
func (c *checker) list(s *Shape) error {
	n := 0
	err := c.elements(s.Most, func() error {
		n++
		if c.memory += s.Size; c.memory > maxMemory {
			return c.fault("lists of more than %d bytes of memory", maxMemory)
		}
		return c.value(s.Element)
	})
	if err == nil && n < s.Least {
		err = c.fault("%d elements, want %d", n, s.Least)
	}
	return err
}

// elements checks the elements of a list, at most so many.
func (c *checker) elements(most int, element func() error) error {
	if err := c.skip(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if kind := c.dec.PeekKind(); kind == ']' || kind == 0 {
			return c.skip()
		}
		if n == most {
			return c.fault("more than %d elements", most)
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// text checks a text.
func (c *checker) text(s *Shape) error {
	text, err := c.unquoted()
	if err != nil {
		return err
	}
	if len(text) > s.Most {
		return c.fault("%d bytes, at most %d", len(text), s.Most)
	}
	switch s.Kind {
	case Time:
		at, err := time.Parse(time.RFC3339Nano, string(text))
		if err != nil || !ValidTime(at) {
			return c.fault("%q is not a time of the years 1970 to 9999 in RFC 3339", text)
		}
	case Digits:
		if _, err := strconv.ParseUint(string(text), 10, 64); err != nil {
			return c.fault("%q is not a number of 64 bits", text)
		}
	}
	return nil
}

// ValidTime reports whether a time is within the years 1970 to 9999, which every clock and format
// can represent.
func ValidTime(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 1970 && year <= 9999
}

// maxDigits bounds the text of a number.
const maxDigits = 64

// number checks a number.
func (c *checker) number(s *Shape) error {
	raw, err := c.dec.ReadValue()
	if err != nil {
		return c.syntax(err)
	}
	if len(raw) > maxDigits {
		return c.fault("a number of %d digits", len(raw))
	}
	if s.Kind == Whole && bytes.ContainsAny(raw, ".eE") {
		return c.fault("%s is not a whole number", raw)
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsInf(v, 0) || v < s.Low || v > s.High {
		return c.fault("%s is not within %v to %v", raw, s.Low, s.High)
	}
	return nil
}
