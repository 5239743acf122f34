package files

import (
	"io"
	"regexp"
)

// paddedQuote finds a quote with blanks after it before the next field or line.
var paddedQuote = regexp.MustCompile(`"[ \t]+([^\w\s"]|\r?\n)`)

// closedQuotes reads CSV text without the blanks after closing quotes, as in "a" ,"b".
type closedQuotes struct {
	lines     io.ByteReader
	delimiter byte
	state     quoteState
	held      []byte // blanks after a closing quote, and the byte that follows them
}

// quoteState is the position of a byte in a field.
type quoteState uint8

const (
	fieldStart quoteState = iota
	bareField
	inQuotes
	afterQuote // a quote within quotes: the closing one, or the first of two
)

func (c *closedQuotes) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(c.held) > 0 {
			copied := copy(p[n:], c.held)
			c.held = c.held[:copy(c.held, c.held[copied:])]
			n += copied
			continue
		}
		b, err := c.lines.ReadByte()
		if err != nil {
			return n, err
		}
		if c.state == afterQuote && isBlank(b) {
			if err := c.hold(b); err != nil {
				return n, err
			}
			continue
		}
		c.advance(b)
		p[n] = b
		n++
	}
	return n, nil
}

// hold reads the blanks after a closing quote, of which b is the first, and drops them at the end of
// the field.
func (c *closedQuotes) hold(b byte) error {
	for isBlank(b) {
		c.held = append(c.held, b)
		var err error
		if b, err = c.lines.ReadByte(); err != nil {
			c.held = c.held[:0]
			return err
		}
		if len(c.held) > MaxLineBytes {
			return errLineTooLong
		}
	}
	if b == c.delimiter || b == '\n' || b == '\r' {
		c.held = c.held[:0]
	}
	c.state = bareField // otherwise the text goes on after the quote, which the parser refuses
	c.advance(b)
	c.held = append(c.held, b)
	return nil
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// advance moves past a byte.
func (c *closedQuotes) advance(b byte) {
	switch {
	case c.state == inQuotes:
		if b == '"' {
			c.state = afterQuote
		}
	case b == c.delimiter || b == '\n':
		c.state = fieldStart
	case c.state == fieldStart && isBlank(b):
	case b == '"' && (c.state == fieldStart || c.state == afterQuote):
		c.state = inQuotes
	default:
		c.state = bareField
	}
}
