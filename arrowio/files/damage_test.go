package files

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

// TestFilesCutOffAreErrors cuts files at many places: none panics, and none gives its rows as if it were whole.
func TestFilesCutOffAreErrors(t *testing.T) {
	rec := sampleRecord(t, memory.DefaultAllocator, 200)
	defer rec.Release()
	dict := dictionaryRecord(t)
	defer dict.Release()
	for name, path := range map[string]string{
		"arrow file": written(t, "a.arrow", rec, rec), "arrow stream": written(t, "a.arrows", rec, rec), "arrow dict": written(t, "d.arrows", dict, dict),
		"parquet": written(t, "a.parquet", rec, rec), "parquet dict": written(t, "d.parquet", dict, dict), "csv gzip": written(t, "a.csv.gz", rec),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, whole := mustDrain(t, path, Options{})
			target := filepath.Join(t.TempDir(), filepath.Base(path))
			for at := 1; at < len(content)-8; at += 1 + len(content)/200 {
				if err := os.WriteFile(target, content[:at], 0o600); err != nil {
					t.Fatal(err)
				}
				_, rows, _, err := drain(target, Options{})
				var e *Error
				if err == nil && len(rows) >= len(whole) || err != nil && (!errors.As(err, &e) || e.Path != target) {
					t.Errorf("cut at %d of %d: %d rows, error %v", at, len(content), len(rows), err)
				}
			}
		})
	}
}

// TestDamagedValuesNeverPanic damages the body of an Arrow stream, whose buffers the library does not check, and
// touches every value that is read.
func TestDamagedValuesNeverPanic(t *testing.T) {
	dict := dictionaryRecord(t)
	defer dict.Release()
	content, err := os.ReadFile(written(t, "d.arrows", dict))
	if err != nil {
		t.Fatal(err)
	}
	offsets := []byte{0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0}
	for name, c := range map[string]struct{ old, damaged []byte }{
		"falling offsets": {offsets, []byte{0, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0}},
		"offsets beyond":  {offsets, []byte{0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 1}},
		"index beyond":    {[]byte{0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}, []byte{0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0}},
	} {
		b := bytes.Replace(content, c.old, c.damaged, 1)
		if bytes.Equal(b, content) {
			t.Fatalf("%s: not found", name)
		}
		if _, _, _, err := drain(writeFile(t, "d.arrows", b), Options{}); !errors.Is(err, arrowio.ErrCorrupt) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
