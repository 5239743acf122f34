package files

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

// bufferBytes is the size of the buffers between file, gzip and parser; larger ones are no faster.
const bufferBytes = 256 << 10

// source is the file under a reader: its bytes, without gzip, which can be read again from the
// start. It counts the bytes read.
type source struct {
	path    string
	file    *os.File
	regular bool // a regular file: it has a size and can be read again
	size    int64
	read    atomic.Int64
	stream  *bufio.Reader // the content, nil before the first use and after rewind
	gzipped bool          // known after the first call of content
	closed  bool
}

// openSource opens path for reading and refuses anything that cannot hold rows.
func openSource(path string) (*source, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, bare(err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, bare(err)
	}
	if info.IsDir() {
		file.Close()
		return nil, errors.New("is a directory")
	}
	s := &source{path: path, file: file, regular: info.Mode().IsRegular()}
	if s.regular {
		s.size = info.Size()
	}
	return s, nil
}

// bare strips operation and path from a file system error, because *Error names the path.
func bare(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Read counts the bytes that it reads from the file.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	s.read.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) {
		err = bare(err)
	}
	return n, err
}

// content returns the file's bytes, decompressed, from where the last reader of them stopped (at
// first, and after rewind, from the start).
func (s *source) content() (*bufio.Reader, error) {
	if s.stream != nil {
		return s.stream, nil
	}
	raw := bufio.NewReaderSize(s, bufferBytes)
	head, err := raw.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	s.stream = raw
	if bytes.Equal(head, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(raw)
		if err != nil {
			return nil, gzipError(err)
		}
		s.stream, s.gzipped = bufio.NewReaderSize(gzipReader{unzipped}, bufferBytes), true
	} else if namedGzip(s.path) && len(head) > 0 {
		return nil, fmt.Errorf("%w: named .gz, but its content is not gzip", arrowio.ErrCorrupt)
	}
	return s.stream, nil
}

// namedGzip reports whether the path ends in .gz.
func namedGzip(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".gz") }

// plain returns an error unless the file can be read twice.
func (s *source) plain() error {
	if !s.regular {
		return fmt.Errorf(
			"%w: types are inferred in a first pass, and only a plain file can be read twice: give the schema",
			arrowio.ErrUnsupported,
		)
	}
	return nil
}

// rewind makes the next content start at the first byte of a regular file.
func (s *source) rewind() error {
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return bare(err)
	}
	s.stream = nil
	s.read.Store(0)
	return nil
}

// finish counts the whole file as read: a format may need nothing of its end.
func (s *source) finish() {
	if s.regular {
		s.read.Store(s.size)
	}
}

// progress returns the bytes read since the last rewind, and the size.
func (s *source) progress() (readBytes, totalBytes int64) { return s.read.Load(), s.size }

// ticker returns a function that a first pass calls from time to time to report its progress.
func (s *source) ticker(scan func(readBytes, totalBytes int64)) func() {
	if scan == nil {
		return func() {}
	}
	return func() { scan(s.progress()) }
}

// Close closes the file, once.
func (s *source) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	return bare(s.file.Close())
}

// gzipReader marks gzip's own errors as such.
type gzipReader struct{ r *gzip.Reader }

func (g gzipReader) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = gzipError(err)
	}
	return n, err
}

// gzipError explains an error of compress/gzip.
func gzipError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the gzip data end early", arrowio.ErrCorrupt)
	}
	return fmt.Errorf("%w: %w", arrowio.ErrCorrupt, err)
}

// skipBOM skips a UTF-8 byte order mark at the start of text, and refuses UTF-16, which would be
// read as one-letter columns.
func skipBOM(r *bufio.Reader) error {
	head, _ := r.Peek(3)
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, err := r.Discard(3)
		return err
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return fmt.Errorf("%w: the text is UTF-16; convert it to UTF-8", arrowio.ErrUnsupported)
	}
	return nil
}

// leastBound is the largest buffer that a reader may ask for where the process has no memory limit.
const leastBound = 2 << 30

// bounded returns an allocator that refuses a single buffer larger than a share of the memory of
// the process, which only a damaged or hostile file asks for: running out of memory cannot be
// recovered.
func (s *source) bounded(mem memory.Allocator, share int64) memory.Allocator {
	most := debug.SetMemoryLimit(-1) // reads it
	if most == math.MaxInt64 {
		most = max(leastBound, s.size)
	}
	return boundedAllocator{mem, most / share}
}

// boundedAllocator panics where it refuses, because the libraries that allocate cannot return an
// error; guard recovers it.
type boundedAllocator struct {
	memory.Allocator
	most int64
}

func (a boundedAllocator) Allocate(size int) []byte {
	a.check(size)
	return a.Allocator.Allocate(size)
}

func (a boundedAllocator) Reallocate(size int, b []byte) []byte {
	a.check(size)
	return a.Allocator.Reallocate(size, b)
}

func (a boundedAllocator) check(size int) {
	if size < 0 || int64(size) > a.most {
		panic(
			fmt.Errorf(
				"%w: a buffer of %d bytes; the memory limit of the process allows %d (GOMEMLIMIT, memory.limit)",
				arrowio.ErrTooLarge, size, a.most,
			),
		)
	}
}
