package files

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet/metadata"
)

// Fields in parquet.thrift of PageHeader and of the headers for each kind of page.
const (
	pageType, pageUncompressed, pageCompressed = 1, 2, 3
	pageData, pageDictionary, pageDataV2       = 5, 7, 8
	headerValues                               = 1

	typeData, typeDictionary, typeDataV2 = 0, 2, 3
)

const (
	// headerBytes is the first guess of a page header's size; those with long minima and maxima
	// take more.
	headerBytes    = 512
	maxHeaderBytes = 16 << 20
	maxPageBytes   = 1 << 30
	// oldWriterPadding is how much too small the sizes written by parquet-mr before 1.2.9 may be
	// (PARQUET-816).
	oldWriterPadding = 100
)

// pageHeader is what a page says about itself.
type pageHeader struct {
	bytes                    int // of the header
	kind                     int64
	uncompressed, compressed int64
	values                   int64
	counted                  bool // values was given
}

// checkPages walks the page headers of a column chunk: the pages must follow each other inside the
// chunk and hold its values. The library believes them: it allocates what they claim, and reads on
// forever if there are fewer values than the chunk claims.
func checkPages(src *source, group *metadata.RowGroupMetaData, column int, padding int64) error {
	chunk, err := group.ColumnChunk(column)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	start := chunk.DataPageOffset()
	if d := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && d > 0 && d < start {
		start = d
	}
	size := chunk.TotalCompressedSize()
	fail := func(err error) error {
		return &Error{Column: chunk.PathInSchema().String(), Err: fmt.Errorf("%w: %w", ErrCorrupt, err)}
	}
	if start < 0 || size < 0 || start > src.size || size > src.size-start {
		return fail(fmt.Errorf("its values are said to be at %d..%d of %d bytes", start, start+size, src.size))
	}
	end := min(start+size+padding, src.size)
	for values := int64(0); values < chunk.NumValues(); {
		header, err := readPageHeader(src, start, end)
		if err != nil {
			return fail(err)
		}
		if err := header.check(end - start); err != nil {
			return fail(err)
		}
		if header.kind != typeDictionary {
			values += header.values
		}
		start += int64(header.bytes) + header.compressed
	}
	return nil
}

// check checks a page against the bytes from its header to the chunk's end.
func (h *pageHeader) check(left int64) error {
	switch {
	case h.kind != typeData && h.kind != typeDictionary && h.kind != typeDataV2:
		return fmt.Errorf("a page of unknown type %d", h.kind)
	case !h.counted || h.values < 0:
		return errors.New("a page without its number of values")
	case h.compressed < 0 || h.compressed > left-int64(h.bytes):
		return fmt.Errorf("a page of %d bytes where %d are left", h.compressed, left-int64(h.bytes))
	case h.uncompressed < 0 || h.uncompressed > maxPageBytes:
		return fmt.Errorf("a page of %d bytes uncompressed", h.uncompressed)
	case h.kind == typeDictionary && h.values > h.uncompressed:
		return fmt.Errorf("a dictionary of %d values in %d bytes", h.values, h.uncompressed)
	}
	return nil
}

// readPageHeader reads the header at start.
func readPageHeader(src io.ReaderAt, start, end int64) (*pageHeader, error) {
	for size := int64(headerBytes); ; size *= 4 {
		buf := make([]byte, min(size, max(0, end-start)))
		if _, err := src.ReadAt(buf, start); err != nil {
			return nil, err
		}
		h, err := parsePageHeader(buf)
		if err == nil || int64(len(buf)) < size || size >= maxHeaderBytes {
			return h, err
		}
	}
}

func parsePageHeader(buf []byte) (*pageHeader, error) {
	w := thriftWalk{buf: buf}
	var h pageHeader
	last := int16(0)
	for {
		id, kind, err := w.field(last)
		if err != nil {
			return nil, err
		}
		if kind == thriftStop {
			h.bytes = w.at
			return &h, nil
		}
		last = id
		if err := h.field(&w, id, kind); err != nil {
			return nil, err
		}
	}
}

// field reads one field of the header.
func (h *pageHeader) field(w *thriftWalk, id int16, kind byte) (err error) {
	number := kind == thriftI32
	switch {
	case id == pageType && number:
		h.kind, err = w.zigzag()
	case id == pageUncompressed && number:
		h.uncompressed, err = w.zigzag()
	case id == pageCompressed && number:
		h.compressed, err = w.zigzag()
	case (id == pageData || id == pageDictionary || id == pageDataV2) && kind == thriftStruct:
		err = h.inner(w, id)
	default:
		err = w.skip(kind, 1)
	}
	return err
}

// inner reads the header for the page's kind; only its number of values matters.
func (h *pageHeader) inner(w *thriftWalk, of int16) error {
	last := int16(0)
	for {
		id, kind, err := w.field(last)
		if err != nil || kind == thriftStop {
			return err
		}
		last = id
		if id != headerValues || kind != thriftI32 {
			if err := w.skip(kind, 2); err != nil {
				return err
			}
			continue
		}
		values, err := w.zigzag()
		if err != nil {
			return err
		}
		if of == headerOf(h.kind) {
			h.values, h.counted = values, true
		}
	}
}

// headerOf returns the field that holds the header of a kind of page.
func headerOf(kind int64) int16 {
	switch kind {
	case typeData:
		return pageData
	case typeDictionary:
		return pageDictionary
	case typeDataV2:
		return pageDataV2
	}
	return 0
}
