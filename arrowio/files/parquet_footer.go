package files

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet/metadata"
)

// Fields of FileMetaData and SchemaElement in parquet.thrift.
const (
	footerSchema     = 2
	elementChildren  = 5
	footerTailBytes  = 8 // length and magic
	maxFooterBytes   = 256 << 20
	storedSchemaName = "ARROW:schema"
)

// checkParquetFooter walks the footer and checks every count in it against the bytes that are
// there, and the nesting of the schema. The library allocates by those counts and recurses by that
// nesting, and running out of memory or stack cannot be recovered.
func checkParquetFooter(f io.ReaderAt, size int64) error {
	tail := make([]byte, footerTailBytes)
	if size < int64(len(parquetMagic)+footerTailBytes) {
		return fmt.Errorf("%w: %d bytes are too few for a Parquet file", ErrCorrupt, size)
	}
	if _, err := f.ReadAt(tail, size-footerTailBytes); err != nil {
		return bare(err)
	}
	switch {
	case bytes.Equal(tail[4:], []byte("PARE")):
		return fmt.Errorf("%w: an encrypted Parquet file", ErrUnsupported)
	case !bytes.Equal(tail[4:], parquetMagic):
		return fmt.Errorf("%w: no Parquet file, or one cut off: its end is missing", ErrCorrupt)
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > size-footerTailBytes || n > maxFooterBytes {
		return fmt.Errorf("%w: a footer of %d bytes in a file of %d", ErrCorrupt, n, size)
	}
	footer := make([]byte, n)
	if _, err := f.ReadAt(footer, size-footerTailBytes-n); err != nil {
		return bare(err)
	}
	w := footerWalk{thriftWalk: thriftWalk{buf: footer}}
	if err := w.fileMetaData(); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// checkStoredSchema checks the Arrow schema that writers store in the footer.
func checkStoredSchema(meta metadata.KeyValueMetadata) error {
	stored := meta.FindValue(storedSchemaName)
	if stored == nil {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(*stored)
	if err != nil {
		if raw, err = base64.RawStdEncoding.DecodeString(*stored); err != nil {
			return fmt.Errorf("its stored Arrow schema: %w", err)
		}
	}
	f := frames{r: bytes.NewReader(raw), left: int64(len(raw))}
	if _, err := f.Message(); err != nil {
		return fmt.Errorf("its stored Arrow schema: %w", err)
	}
	return nil
}

// footerWalk records the number of children of each schema element.
type footerWalk struct {
	thriftWalk
	children []int64
}

// fileMetaData walks the footer's only struct.
func (w *footerWalk) fileMetaData() error {
	last := int16(0)
	for {
		id, kind, err := w.field(last)
		if err != nil || kind == thriftStop {
			return errors.Join(err, w.checkTree())
		}
		if last = id; id == footerSchema && kind == thriftList {
			err = w.schemaElements()
		} else {
			err = w.skip(kind, 1)
		}
		if err != nil {
			return err
		}
	}
}

func (w *footerWalk) schemaElements() error {
	n, kind, err := w.list()
	if err != nil {
		return err
	}
	if kind != thriftStruct {
		return errThrift
	}
	for range n {
		if err := w.schemaElement(); err != nil {
			return err
		}
	}
	return nil
}

func (w *footerWalk) schemaElement() error {
	children := int64(0)
	last := int16(0)
	for {
		id, kind, err := w.field(last)
		if err != nil {
			return err
		}
		if kind == thriftStop {
			w.children = append(w.children, children)
			return nil
		}
		if last = id; id == elementChildren && kind == thriftI32 {
			children, err = w.zigzag()
		} else {
			err = w.skip(kind, 2)
		}
		if err != nil {
			return err
		}
	}
}

// checkTree checks that the elements, listed depth first, form one tree that is
// not deep.
func (w *footerWalk) checkTree() error {
	var open []int64 // number of children still missing, for each ancestor
	for i, n := range w.children {
		if n < 0 || n > int64(len(w.children)-i-1) {
			return fmt.Errorf("a schema element with %d children among %d elements", n, len(w.children))
		}
		if i > 0 && len(open) == 0 {
			return errors.New("schema elements outside the tree")
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if open = append(open, n); len(open) > maxSchemaDepth {
			return fmt.Errorf("a schema nested more than %d deep", maxSchemaDepth)
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return errors.New("the schema is incomplete")
	}
	return nil
}
