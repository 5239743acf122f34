package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

// fileKind is one way to write a format: the extension decides between variants, such as an Arrow
// file and a stream.
type fileKind struct {
	format    *format
	extension string
}

func (k fileKind) name() string { return "a" + k.extension }

// binary reports whether the format states its types and is recognised by its first bytes.
func (k fileKind) binary() bool { return len(k.format.magics) > 0 }

// TestConformance runs every behaviour that the commands expect of a file format on every format of
// [known], for each extension that gives other bytes, and compressed where the format can be. A new
// format has only to be registered.
func TestConformance(t *testing.T) {
	for i := range known {
		f := &known[i]
		extensions := slices.Clone(f.extensions)
		if _, err := encoderOf("a.gz", plainSchema, f.name); err == nil {
			extensions = append(extensions, extensions[0]+".gz")
		}
		tested := map[string]bool{}
		for _, extension := range extensions {
			k := fileKind{f, extension}
			t.Run(extension[1:], func(t *testing.T) {
				t.Run("the format is recognised by name and first bytes", func(t *testing.T) { formatIsRecognised(t, k) })
				content := string(contentOf(t, written(t, k.name(), plainRecord(t, 10))))
				if !tested[content] {
					conform(t, k)
				}
				tested[content] = true
			})
		}
	}
}

func conform(t *testing.T, k fileKind) {
	for _, behaviour := range []struct {
		name string
		test func(t *testing.T, k fileKind)
	}{
		{"rows come back as written", rowsComeBack},
		{"a file without rows keeps its columns", noRowsKeepColumns},
		{"records outlive a reader that is closed early", closedEarly},
		{"progress ends at the size of the file", progressEndsAtSize},
		{"a file appears only when it is complete", appearsWhenComplete},
		{"a pipe is read or refused", pipeIsReadOrRefused},
		{"an empty file is named as such", emptyFile},
		{"content of another format is refused", otherContent},
		{"a wrong first byte is refused", wrongMagic},
		{"a truncated file never passes for a complete one", truncatedFile},
		{"flipped bytes give rows or an error", flippedBytes},
		{"huge lengths take no memory", hugeLengths},
	} {
		t.Run(behaviour.name, func(t *testing.T) { behaviour.test(t, k) })
	}
}

var plainSchema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

// plainRecord has columns of the types that every format can hold, with nulls.
func plainRecord(t testing.TB, rows int) arrow.Record {
	t.Helper()
	full := sampleRecord(t, memory.DefaultAllocator, rows)
	defer full.Release()
	return array.NewRecord(plainSchema, full.Columns()[:4], int64(rows))
}

// recordsOf returns records to write in a format: plain values, and where the format states its
// types also lists and dictionaries.
func recordsOf(t testing.TB, k fileKind, rows int) map[string]arrow.Record {
	t.Helper()
	records := map[string]arrow.Record{"plain": plainRecord(t, rows)}
	if k.binary() {
		records["lists"] = sampleRecord(t, memory.DefaultAllocator, rows)
		records["dictionaries"] = dictionaryRecord(t)
	}
	t.Cleanup(func() {
		for _, rec := range records {
			rec.Release()
		}
	})
	return records
}

func rowsComeBack(t *testing.T, k fileKind) {
	for what, rec := range recordsOf(t, k, 1000) {
		part := rec.NewSlice(30, 95)
		defer part.Release()
		want := append(append(rowTexts(rec), rowTexts(part)...), rowTexts(rec)...)
		path := written(t, k.name(), rec, part, rec)
		schema, rows := mustDrain(t, path, Options{BatchRows: 32})
		if got, want := columnsText(schema), columnsText(rec.Schema()); got != want {
			t.Errorf("%s: columns %q, want %q", what, got, want)
		}
		equalLines(t, rows, want)
		_, _, sizes, _ := drain(path, Options{BatchRows: 32})
		for _, n := range sizes {
			if n < 1 || n > 32 {
				t.Fatalf("%s: a record of %d rows", what, n)
			}
		}
	}
}

func noRowsKeepColumns(t *testing.T, k fileKind) {
	rec := plainRecord(t, 0)
	defer rec.Release()
	schema, rows := mustDrain(t, written(t, k.name(), rec), Options{Schema: plainSchema})
	if columnsText(schema) != columnsText(plainSchema) || len(rows) != 0 {
		t.Errorf("%d rows of %s", len(rows), columnsText(schema))
	}
}

func closedEarly(t *testing.T, k fileKind) {
	r, err := Open(written(t, k.name(), recordsOf(t, k, 500)["plain"]), Options{BatchRows: 7})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	if rows := rowTexts(rec); rows[6] != "6|1.5|true|name 6, \"é\"" {
		t.Errorf("rows %q", rows)
	}
	rec.Release()
	if _, err := r.Next(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Next after Close: %v", err)
	}
}

func progressEndsAtSize(t *testing.T, k fileKind) {
	path := written(t, k.name(), recordsOf(t, k, 20000)["plain"])
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(path, Options{BatchRows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var watcher sync.WaitGroup
	watcher.Go(func() { r.Progress() }) // allowed from any goroutine; the race detector checks
	last := int64(-1)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rec.Release()
		read, total := r.Progress()
		if total != info.Size() || read < last || read > total {
			t.Fatalf("progress %d of %d after %d; the file has %d bytes", read, total, last, info.Size())
		}
		last = read
	}
	watcher.Wait()
	if read, total := r.Progress(); read != total {
		t.Errorf("progress %d of %d at the end", read, total)
	}
}

func formatIsRecognised(t *testing.T, k fileKind) {
	path := written(t, k.name(), recordsOf(t, k, 3)["plain"])
	if got := (Options{}).FormatOf(strings.ToUpper(path)); got != k.format.name {
		t.Errorf("format %q by the name", got)
	}
	nameless := filepath.Join(t.TempDir(), "nameless")
	if err := os.Rename(path, nameless); err != nil {
		t.Fatal(err)
	}
	_, rows, _, err := drain(nameless, Options{})
	if k.binary() {
		if err != nil || len(rows) != 3 {
			t.Errorf("%d rows by the first bytes, %v", len(rows), err)
		}
	} else if !errors.Is(err, ErrNoFormat) {
		t.Errorf("error %v, want ErrNoFormat", err)
	}
	if !strings.HasPrefix(k.extension, k.format.extensions[0]) { // the others may choose a variant
		return
	}
	if _, rows, _, err = drain(nameless, Options{Format: k.format.name}); err != nil || len(rows) != 3 {
		t.Errorf("%d rows with the format given, %v", len(rows), err)
	}
}

func appearsWhenComplete(t *testing.T, k fileKind) {
	rec, other := recordsOf(t, k, 10)["plain"], dictionaryRecord(t)
	defer other.Release()
	dir := t.TempDir()
	path := filepath.Join(dir, k.name())
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	create := func() *Writer {
		w, err := Create(path, rec.Schema(), "")
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := create()
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	wantContent(t, path, "old")
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	wantContent(t, path, "old")
	wantError(t, w.Write(rec), path, 0, "closed")

	w = create()
	wantError(t, w.Write(other), path, 0, "1 columns, the file 4")
	wantError(t, w.Write(rec), path, 0, "earlier write failed")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	wantContent(t, path, "old")

	w = create()
	if err := errors.Join(w.Write(rec), w.Close(), w.Close(), w.Discard()); err != nil {
		t.Fatal(err)
	}
	if _, rows := mustDrain(t, path, Options{}); len(rows) != 10 {
		t.Errorf("%d rows", len(rows))
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, want the mode of the replaced file: %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}

func pipeIsReadOrRefused(t *testing.T, k fileKind) {
	rec := recordsOf(t, k, 10)["plain"]
	path := pipe(t, k.name(), string(contentOf(t, written(t, k.name(), rec))))
	_, rows, _, err := drain(path, Options{Schema: plainSchema})
	if err != nil {
		wantError(t, err, path, 0)
		if !errors.Is(err, arrowio.ErrUnsupported) {
			t.Errorf("error %v, want ErrUnsupported", err)
		}
		return
	}
	equalLines(t, rows, rowTexts(rec))
}

func emptyFile(t *testing.T, k fileKind) {
	path := writeFile(t, k.name(), nil)
	_, _, _, err := drain(path, Options{})
	wantError(t, err, path, 0)
	if !errors.Is(err, ErrEmpty) {
		t.Errorf("error %v, want ErrEmpty", err)
	}
}

// otherContent reads the content of every other format under this format's name.
func otherContent(t *testing.T, k fileKind) {
	for i := range known {
		if other := &known[i]; other != k.format {
			k2 := fileKind{other, other.extensions[0]}
			wantBroken(t, writeFile(t, k.name(), contentOf(t, written(t, k2.name(), plainRecord(t, 100)))))
		}
	}
	wantBroken(t, writeFile(t, k.name(), bytes.Repeat([]byte{0, 1, 0xfe, 0x80}, 100)))
}

// wrongMagic damages the first byte of binary and compressed files; text begins with a name, which
// may be anything.
func wrongMagic(t *testing.T, k fileKind) {
	content := contentOf(t, written(t, k.name(), plainRecord(t, 100)))
	content[0] ^= 0x20
	if k.binary() || namedGzip(k.name()) {
		wantBroken(t, writeFile(t, k.name(), content))
	}
}

// wantBroken reads a file that is not what its name says.
func wantBroken(t *testing.T, path string) {
	t.Helper()
	_, rows, _, err := drain(path, Options{})
	var e *Error
	if !errors.As(err, &e) || e.Path != path || !errors.Is(err, arrowio.ErrCorrupt) &&
		!errors.Is(err, arrowio.ErrUnsupported) {
		t.Errorf(
			"%d rows, error %v; want one that names the file and says that it is damaged or not supported",
			len(rows), err,
		)
	}
}

func truncatedFile(t *testing.T, k fileKind) {
	for what, rec := range recordsOf(t, k, 200) {
		content := contentOf(t, written(t, k.name(), rec, rec))
		whole := 2 * int(rec.NumRows())
		for at := 1; at < len(content)-8; at += 1 + len(content)/100 {
			rows, err := readDamaged(t, k, content[:at])
			if err == nil && rows >= whole {
				t.Errorf("%s: cut at %d of %d bytes: all %d rows and no error", what, at, len(content), rows)
			}
		}
	}
}

// flippedBytes flips bits all over the file. A reader cannot notice each of them, but it neither
// panics nor gives values outside of their buffers.
func flippedBytes(t *testing.T, k fileKind) {
	for _, rec := range recordsOf(t, k, 50) {
		content := contentOf(t, written(t, k.name(), rec, rec))
		step := 1 + len(content)/120
		for _, bits := range []byte{0x01, 0x80, 0xff} {
			for at := 0; at < len(content); at += step {
				damaged := bytes.Clone(content)
				damaged[at] ^= bits
				_, _ = readDamaged(t, k, damaged)
			}
		}
	}
}

// hugeLengths overwrites parts of the file by large numbers, as a damaged or hostile length would
// be. The libraries may reserve what a length claims, but must not fill it.
func hugeLengths(t *testing.T, k fileKind) {
	const limit, most = 64 << 20, 512 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	before := peakMemory(t)
	for what, rec := range recordsOf(t, k, 50) {
		content := contentOf(t, written(t, k.name(), rec))
		step := 1 + len(content)/80
		for _, huge := range [][]byte{
			binary.LittleEndian.AppendUint32(nil, 1<<31-1),
			binary.LittleEndian.AppendUint64(nil, 1<<40),
			{0xfe, 0xff, 0xff, 0xff, 0x0f}, // a zigzag varint of 1<<31 - 1
		} {
			for at := 0; at+len(huge) < len(content); at += step {
				damaged := bytes.Clone(content)
				copy(damaged[at:], huge)
				_, _ = readDamaged(t, k, damaged)
				if peak := peakMemory(t); peak-before > most {
					t.Fatalf("%s: %x at %d of %d takes %d MiB", what, huge, at, len(content), (peak-before)>>20)
				}
			}
		}
	}
}

// peakMemory returns the largest resident memory of the process so far.
func peakMemory(t *testing.T) int64 {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return usage.Maxrss << 10
}

// readDamaged reads a damaged file to its end and touches every value. An error has to name the
// file.
func readDamaged(t *testing.T, k fileKind, content []byte) (rows int, err error) {
	t.Helper()
	path := writeFile(t, k.name(), content)
	_, texts, _, err := drain(path, Options{})
	var e *Error
	if err != nil && (!errors.As(err, &e) || e.Path != path || e.Err == nil) {
		t.Errorf("error %v does not name the file", err)
	}
	return len(texts), err
}

func contentOf(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
