package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxTagBytes bounds a tagged field of a response; the known ones are short.
const maxTagBytes = 1 << 15

// responseReader reads the big-endian fields of one response and never beyond its length. After an
// error every field reads as zero.
type responseReader struct {
	from    io.Reader
	left    int
	scratch [8]byte
	err     error
}

// readResponse reads the header of a response: its length, its correlation id, and tagged fields.
func readResponse(from io.Reader, correlation int32) *responseReader {
	r := &responseReader{from: from, left: 4}
	r.left = int(r.int32())
	if id := r.int32(); r.err == nil && id != correlation {
		r.fail("response has correlation id %d instead of %d", id, correlation)
	}
	r.tags()
	return r
}

// rest reads the rest of the response. It allocates memory as bytes arrive, because the stated
// length is not trusted.
func (r *responseReader) rest() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	body, err := io.ReadAll(io.LimitReader(r.from, int64(r.left)))
	if err == nil && len(body) < r.left {
		err = io.ErrUnexpectedEOF
	}
	return body, err
}

func (r *responseReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *responseReader) full(into []byte) {
	if r.err == nil && len(into) > r.left {
		r.fail("response ends early")
	}
	if r.err == nil {
		_, err := io.ReadFull(r.from, into)
		r.left -= len(into)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		r.err = err
	}
	if r.err != nil {
		clear(into)
	}
}

func (r *responseReader) int16() int16 {
	r.full(r.scratch[:2])
	return int16(binary.BigEndian.Uint16(r.scratch[:]))
}

func (r *responseReader) int32() int32 {
	r.full(r.scratch[:4])
	return int32(binary.BigEndian.Uint32(r.scratch[:]))
}

func (r *responseReader) int64() int64 {
	r.full(r.scratch[:8])
	return int64(binary.BigEndian.Uint64(r.scratch[:]))
}

func (r *responseReader) bytes(n int) []byte {
	b := make([]byte, n)
	r.full(b)
	return b
}

// discard skips n bytes.
func (r *responseReader) discard(n int) {
	if r.err == nil && n > r.left {
		r.fail("response ends early")
	}
	if r.err != nil {
		return
	}
	skipped, err := io.CopyN(io.Discard, r.from, int64(n))
	r.left -= int(skipped)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	r.err = err
}

// uvarint reads a number of at most 32 bits.
func (r *responseReader) uvarint() (n uint32) {
	for shift := 0; shift < 35; shift += 7 {
		r.full(r.scratch[:1])
		b := r.scratch[0]
		if n |= uint32(b&0x7f) << shift; b < 0x80 {
			return n
		}
	}
	r.fail("response has a number of more than 32 bits")
	return 0
}

// length reads the length of a list or of bytes; -1 is null.
func (r *responseReader) length() int { return int(r.uvarint()) - 1 }

// tags skips tagged fields.
func (r *responseReader) tags() {
	for n := r.uvarint(); n > 0 && r.err == nil; n-- {
		r.uvarint()
		size := r.uvarint()
		if size > maxTagBytes {
			r.fail("response has a tagged field of %d bytes", size)
		}
		r.discard(int(size))
	}
}

// count reads the number of elements of a list. More than most is an error.
func (r *responseReader) count(most int, what string) int {
	n := r.length()
	if n > most {
		r.fail("fetch response has %d %s for %d requested partitions", n, what, most)
	}
	if r.err != nil {
		return 0
	}
	return max(n, 0)
}
