package files

import (
	"encoding/binary"
	"errors"
)

// Types of the Thrift compact protocol, which Parquet uses for footers and page headers.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxThriftDepth bounds the nesting of structs and lists.
const maxThriftDepth = 16

// errThrift marks Thrift data that ends early or claims more than there is.
var errThrift = errors.New("a length in its metadata points outside the metadata")

// thriftWalk skips values of the compact protocol, checking each length
// against the bytes that are left. Every element of a list takes at least a
// byte, so a list cannot claim more elements than there are bytes.
type thriftWalk struct {
	buf []byte
	at  int
}

// field reads a field's header; kind is thriftStop at the end of the struct.
func (w *thriftWalk) field(last int16) (id int16, kind byte, err error) {
	b, err := w.byte()
	if err != nil || b&0x0f == thriftStop {
		return 0, thriftStop, err
	}
	if delta := int16(b >> 4); delta != 0 {
		return last + delta, b & 0x0f, nil
	}
	v, err := w.zigzag()
	return int16(v), b & 0x0f, err
}

// list reads a list's header.
func (w *thriftWalk) list() (n int, kind byte, err error) {
	b, err := w.byte()
	if err != nil {
		return 0, 0, err
	}
	n = int(b >> 4)
	if n == 15 {
		if n, err = w.length(); err != nil {
			return 0, 0, err
		}
	}
	if n > len(w.buf)-w.at {
		return 0, 0, errThrift
	}
	return n, b & 0x0f, nil
}

// skip skips a field's value.
func (w *thriftWalk) skip(kind byte, depth int) error {
	if depth > maxThriftDepth {
		return errThrift
	}
	switch kind {
	case thriftTrue, thriftFalse:
		return nil // the value is in the field's header
	case thriftStruct:
		return w.skipStruct(depth)
	case thriftList, thriftSet:
		return w.skipList(depth)
	case thriftMap:
		return w.skipMap(depth)
	}
	return w.skipScalar(kind)
}

func (w *thriftWalk) skipStruct(depth int) error {
	for {
		_, kind, err := w.field(0)
		if err != nil || kind == thriftStop {
			return err
		}
		if err := w.skip(kind, depth+1); err != nil {
			return err
		}
	}
}

func (w *thriftWalk) skipList(depth int) error {
	n, kind, err := w.list()
	if err != nil {
		return err
	}
	for range n {
		if err := w.skipElement(kind, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *thriftWalk) skipMap(depth int) error {
	n, err := w.length()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := w.byte()
	if err != nil {
		return err
	}
	for range n {
		if err := w.skipElement(kinds>>4, depth+1); err != nil {
			return err
		}
		if err := w.skipElement(kinds&0x0f, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// skipElement skips a value in a list or map, where booleans take a byte.
func (w *thriftWalk) skipElement(kind byte, depth int) error {
	if kind == thriftTrue || kind == thriftFalse {
		return w.advance(1)
	}
	return w.skip(kind, depth)
}

func (w *thriftWalk) skipScalar(kind byte) error {
	switch kind {
	case thriftByte:
		return w.advance(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := w.varint()
		return err
	case thriftDouble:
		return w.advance(8)
	case thriftBinary:
		n, err := w.length()
		if err != nil {
			return err
		}
		return w.advance(n)
	}
	return errThrift
}

func (w *thriftWalk) byte() (byte, error) {
	if w.at >= len(w.buf) {
		return 0, errThrift
	}
	b := w.buf[w.at]
	w.at++
	return b, nil
}

func (w *thriftWalk) advance(n int) error {
	if n < 0 || n > len(w.buf)-w.at {
		return errThrift
	}
	w.at += n
	return nil
}

func (w *thriftWalk) varint() (uint64, error) {
	v, n := binary.Uvarint(w.buf[w.at:])
	if n <= 0 {
		return 0, errThrift
	}
	w.at += n
	return v, nil
}

// length reads a length, which cannot exceed the bytes left.
func (w *thriftWalk) length() (int, error) {
	v, err := w.varint()
	if err != nil || v > uint64(len(w.buf)-w.at) {
		return 0, errThrift
	}
	return int(v), nil
}

func (w *thriftWalk) zigzag() (int64, error) {
	v, err := w.varint()
	return int64(v>>1) ^ -int64(v&1), err
}
