package datasets

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/files"
)

// idxBytes is the type code of unsigned bytes, the only supported one.
const idxBytes = 0x08

// idxFile reads the rows of an idx file of bytes: two zero bytes, a type code, the number of dimensions, each dimension
// as a big-endian uint32, then the values with the last dimension varying fastest. The first dimension is the rows.
type idxFile struct {
	path   string
	file   *os.File
	size   int64 // of the file as stored, compressed or not
	text   *bufio.Reader
	offset int64 // of the next byte, in the content
	rows   int64 // not yet read
	width  int   // bytes of a row
}

// openIDX opens a file, gzipped or not, and reads its header. It refuses rows with more bytes than an encoder
// accepts.
func openIDX(path string) (*idxFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open idx file: %w", err)
	}
	f := &idxFile{path: path, file: file}
	if err := f.start(); err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

func (f *idxFile) start() error {
	info, err := f.file.Stat()
	if err != nil {
		return f.fault("%w", err)
	}
	f.size = info.Size()
	f.text = bufio.NewReaderSize(f.file, 1<<18)
	if head, _ := f.text.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(f.text)
		if err != nil {
			return f.fault("%w: gzip: %w", arrowio.ErrCorrupt, err)
		}
		f.text = bufio.NewReaderSize(unzipped, 1<<18)
	}
	return f.header()
}

// header reads type and dimensions.
func (f *idxFile) header() error {
	var magic [4]byte
	if err := f.read(magic[:]); err != nil {
		return err
	}
	if magic[0] != 0 || magic[1] != 0 || magic[2] != idxBytes || magic[3] == 0 {
		return f.fault("%w: % x is not the start of an idx file of bytes", arrowio.ErrCorrupt, magic)
	}
	width := int64(1)
	for i := range magic[3] {
		var word [4]byte
		if err := f.read(word[:]); err != nil {
			return err
		}
		n := int64(binary.BigEndian.Uint32(word[:]))
		if i == 0 {
			f.rows = n
			continue
		}
		if width *= n; width < 1 || width > encoder.MaxDim {
			return f.fault("%w: rows of %d bytes, want 1 to %d", arrowio.ErrTooLarge, width, encoder.MaxDim)
		}
	}
	f.width = int(width)
	return nil
}

// read fills p or says at which offset the content ends.
func (f *idxFile) read(p []byte) error {
	n, err := io.ReadFull(f.text, p)
	f.offset += int64(n)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return f.fault("%w: the content ends there, %d bytes early", arrowio.ErrCorrupt, len(p)-n)
	default:
		return f.fault("%w", err)
	}
}

// next returns the bytes of up to n rows, fewer only at the end of the file, and none after it. It refuses a file with
// bytes after its last row.
func (f *idxFile) next(n int) ([]byte, error) {
	n = int(min(int64(n), f.rows))
	if n == 0 {
		if _, err := f.text.ReadByte(); err == nil {
			return nil, f.fault("%w: bytes after the last row", arrowio.ErrCorrupt)
		} else if !errors.Is(err, io.EOF) {
			return nil, f.fault("%w", err)
		}
		return nil, nil
	}
	p := make([]byte, n*f.width)
	if err := f.read(p); err != nil {
		return nil, err
	}
	f.rows -= int64(n)
	return p, nil
}

// fault is an error in the file at the current offset.
func (f *idxFile) fault(format string, args ...any) error {
	return &files.Error{Path: f.path, Err: fmt.Errorf("offset %d: %w", f.offset, fmt.Errorf(format, args...))}
}

func (f *idxFile) Close() error { return f.file.Close() }
