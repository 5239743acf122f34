package files

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// largest remembers the largest buffer that it gave.
type largest struct {
	memory.Allocator
	size atomic.Int64
}

func (l *largest) note(size int) {
	for now := l.size.Load(); int64(size) > now && !l.size.CompareAndSwap(now, int64(size)); now = l.size.Load() {
	}
}

func (l *largest) Allocate(size int) []byte {
	l.note(size)
	return l.Allocator.Allocate(size)
}

func (l *largest) Reallocate(size int, b []byte) []byte {
	l.note(size)
	return l.Allocator.Reallocate(size, b)
}

// A Parquet file of a few hundred bytes whose rows all refer to one long text is refused before it
// exhausts memory.
func TestParquetDictionaryThatExpandsIsRefused(t *testing.T) {
	const limit, text, rows = 128 << 20, 1 << 20, 200
	path := filepath.Join(t.TempDir(), "expands.parquet")
	schema := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String}}, nil)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	properties := parquet.NewWriterProperties(
		parquet.WithDictionaryDefault(true),
		parquet.WithDictionaryPageSizeLimit(64<<20), parquet.WithCompression(compress.Codecs.Zstd),
	)
	w, err := pqarrow.NewFileWriter(schema, file, properties, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for range rows {
		b.Field(0).(*array.StringBuilder).Append(strings.Repeat("x", text))
	}
	rec := b.NewRecord()
	defer rec.Release()
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	given := &largest{Allocator: memory.DefaultAllocator}
	r, err := Open(path, Options{Allocator: given})
	if err == nil {
		defer r.Close()
		_, err = r.Next()
	}
	if !errors.Is(err, arrowio.ErrTooLarge) {
		t.Errorf("error %v, want %v", err, arrowio.ErrTooLarge)
	}
	if size := given.size.Load(); size > limit/4 {
		t.Errorf("a buffer of %d bytes of %d", size, limit)
	}
}
