package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

// viewRecord has strings as views, short and long ones and nulls, and a dictionary of them.
func viewRecord(first int) arrow.Record {
	mem := memory.DefaultAllocator
	text := array.NewStringViewBuilder(mem)
	number := array.NewInt64Builder(mem)
	for i := range 5 {
		number.Append(int64(first + i))
		if i == 3 {
			text.AppendNull()
		} else {
			text.Append(fmt.Sprintf("a text beyond the twelve bytes, %d", first+i)[:5+6*i])
		}
	}
	columns := []arrow.Array{number.NewArray(), text.NewArray()}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: columns[0].DataType(), Nullable: true},
		{Name: "t", Type: columns[1].DataType(), Nullable: true},
	}, nil)
	return array.NewRecord(schema, columns, 5)
}

// TestFilesThatAreNoStreams reads an Arrow file whose messages do not follow its first bytes, as
// polars writes it: only the footer tells where they are.
func TestFilesThatAreNoStreams(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.arrow")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	first := viewRecord(0)
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(first.Schema()), ipc.WithZstd())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := w.Write(viewRecord(10 * i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := textsOf(t, path)

	// Move the messages, and write other bytes where they were.
	end := len(written) - 4 - len(arrowMagic)
	before := end - int(binary.LittleEndian.Uint32(written[end:]))
	footer, err := arrowio.ReadFooter(written[before:end], int64(before))
	if err != nil {
		t.Fatal(err)
	}
	const shift = 64
	moved := append([]byte("ARROW1\x00\x00"), bytes.Repeat([]byte{7}, shift)...)
	moved = append(moved, written[8:]...)
	at := int(footer.Blocks[0].Offset)
	copy(moved[8:at+shift], bytes.Repeat([]byte{9}, at+shift-8))
	index := moved[before+shift:]
	for _, b := range footer.Blocks {
		old := binary.LittleEndian.AppendUint64(nil, uint64(b.Offset))
		old = binary.LittleEndian.AppendUint32(old, uint32(b.Metadata))
		place := bytes.Index(index, old)
		if place < 0 {
			t.Fatalf("block %+v is not in the footer", b)
		}
		binary.LittleEndian.PutUint64(index[place:], uint64(b.Offset+shift))
	}
	if err := os.WriteFile(path, moved, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := textsOf(t, path); got != want {
		t.Errorf("moved %s\nwritten %s", got, want)
	}
}

// TestViewsBecomeStrings reads views of strings as strings.
func TestViewsBecomeStrings(t *testing.T) {
	var stream bytes.Buffer
	rec := viewRecord(0)
	w := ipc.NewWriter(&stream, ipc.WithSchema(rec.Schema()))
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rows.arrows")
	if err := os.WriteFile(path, stream.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = `0 "a tex" 1 "a text beyo" 2 "a text beyond the" 3 (null) 4 "a text beyond the twelve byte" `
	if got := textsOf(t, path); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestDamagedFooters damages every byte of a footer: reading ends with an error or other rows.
func TestDamagedFooters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.arrow")
	rec := viewRecord(0)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(rec.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := len(whole) - 4 - len(arrowMagic)
	for at := end - int(binary.LittleEndian.Uint32(whole[end:])); at < len(whole); at++ {
		for _, to := range []byte{0, 0x7f, 0xff} {
			damaged := bytes.Clone(whole)
			damaged[at] = to
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := Open(path, Options{})
			if err != nil {
				continue
			}
			for err == nil {
				var rec arrow.Record
				if rec, err = r.Next(); err == nil {
					rec.Release()
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// textsOf renders all values of a file.
func textsOf(t *testing.T, path string) (all string) {
	t.Helper()
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		rec, err := r.Next()
		if err == io.EOF { //nolint:errorlint // Next returns io.EOF itself
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		for row := range int(rec.NumRows()) {
			for _, column := range rec.Columns() {
				if text, ok := column.(*array.LargeString); ok && !text.IsNull(row) {
					all += fmt.Sprintf("%q ", text.Value(row))
				} else {
					all += column.ValueStr(row) + " "
				}
			}
		}
		rec.Release()
	}
}
