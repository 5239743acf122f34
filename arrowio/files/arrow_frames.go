package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Bounds on what one Arrow message may claim before its bytes are there.
const (
	maxMetadataBytes = 64 << 20
	maxBufferBytes   = 2 << 30
)

// continuation starts every message in versions of the format since 0.15.
const continuation = 0xffffffff

// frames cuts an Arrow stream into messages. It replaces the library's own message reader, which
// allocates whatever length a damaged file claims: that ends the process, and nothing can recover
// it. Message and Retain are the methods that ipc.NewReaderFromMessageReader requires.
type frames struct {
	r      io.Reader
	left   int64 // bytes that may be left of the stream, -1 if not known
	schema bool  // the first message, the schema, has been read
	meta   []byte
	body   bytes.Buffer
	msg    *ipc.Message
	err    error // kept because the library wraps it beyond recognition
}

var _ ipc.MessageReader = (*frames)(nil)

// Retain and Release do nothing: the buffers are plain memory.
func (f *frames) Retain()  {}
func (f *frames) Release() {}

// Message returns the next message, valid until the next call; io.EOF at the end
// of the stream.
func (f *frames) Message() (*ipc.Message, error) {
	if f.err == nil {
		f.err = f.advance()
	}
	if f.err != nil {
		return nil, f.err
	}
	return f.msg, nil
}

func (f *frames) advance() error {
	size, err := f.metadataSize()
	if err != nil {
		return err
	}
	if err := f.claim(int64(size)); err != nil {
		return fmt.Errorf("message metadata: %w", err)
	}
	if cap(f.meta) < size {
		f.meta = make([]byte, size)
	}
	f.meta = f.meta[:size]
	if _, err := io.ReadFull(f.r, f.meta); err != nil {
		return cutShort(err)
	}
	bodyBytes, err := f.checkMetadata()
	if err != nil {
		return err
	}
	if err := f.claim(bodyBytes); err != nil {
		return fmt.Errorf("message body: %w", err)
	}
	f.body.Reset() // the library copies out of it
	if f.left >= 0 {
		f.body.Grow(int(bodyBytes))
	}
	if _, err := io.CopyN(&f.body, f.r, bodyBytes); err != nil {
		return cutShort(err)
	}
	f.msg = ipc.NewMessage(memory.NewBufferBytes(f.meta), memory.NewBufferBytes(f.body.Bytes()))
	return nil
}

// metadataSize reads a message's prefix; io.EOF if the stream ends there.
func (f *frames) metadataSize() (int, error) {
	word, err := f.word()
	if err != nil {
		return 0, err
	}
	if word == continuation {
		if word, err = f.word(); errors.Is(err, io.EOF) {
			return 0, cutShort(io.ErrUnexpectedEOF)
		} else if err != nil {
			return 0, err
		}
	}
	switch {
	case word == 0:
		return 0, io.EOF
	case word > maxMetadataBytes:
		return 0, fmt.Errorf("%w: a message claims %d bytes of metadata", ErrCorrupt, word)
	}
	return int(word), nil
}

// word reads four bytes; io.EOF if there is none.
func (f *frames) word() (uint32, error) {
	if f.left >= 0 && f.left < 4 {
		return 0, io.EOF
	}
	var b [4]byte
	if _, err := io.ReadFull(f.r, b[:]); errors.Is(err, io.EOF) {
		return 0, io.EOF
	} else if err != nil {
		return 0, cutShort(err)
	}
	if f.left >= 0 {
		f.left -= 4
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// claim takes n bytes from what may be left of the stream.
func (f *frames) claim(n int64) error {
	if n < 0 || f.left >= 0 && n > f.left {
		return fmt.Errorf("%w: it claims %d bytes where %d are left", ErrCorrupt, n, f.left)
	}
	if f.left >= 0 {
		f.left -= n
	}
	return nil
}

// checkMetadata returns the body's length, after checking that the schema, which the library
// allocates by its counts, is really there.
func (f *frames) checkMetadata() (bodyBytes int64, err error) {
	message, err := readMessageTable(f.meta)
	if err != nil {
		return 0, err
	}
	if !f.schema {
		f.schema = true
		if err := message.checkSchema(); err != nil {
			return 0, err
		}
	}
	return message.bodyBytes, nil
}

// cutShort says what a read that ended early means.
func cutShort(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it ends inside a message", ErrCorrupt)
	}
	return err
}

// boundedAllocator refuses single allocations that only a damaged file asks for. It panics, because
// the libraries that allocate cannot return an error; guard recovers the panic.
type boundedAllocator struct{ memory.Allocator }

func (a boundedAllocator) Allocate(size int) []byte {
	checkBuffer(size)
	return a.Allocator.Allocate(size)
}

func (a boundedAllocator) Reallocate(size int, b []byte) []byte {
	checkBuffer(size)
	return a.Allocator.Reallocate(size, b)
}

func checkBuffer(size int) {
	if size < 0 || size > maxBufferBytes {
		panic(fmt.Errorf("a buffer of %d bytes is asked for", size))
	}
}
