package datasets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/files"
)

// idx is an idx file of bytes with the given dimensions.
func idx(values []byte, dims ...uint32) string {
	b := []byte{0, 0, idxBytes, byte(len(dims))}
	for _, n := range dims {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return string(append(b, values...))
}

// count is 0, 1, 2, ... n-1 as bytes.
func count(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// readPair reads two files to their end and returns their rows and labels.
func readPair(t testing.TB, values, labels string) (x, y []byte, err error) {
	t.Helper()
	dir := write(t, map[string]string{"v": values, "l": labels})
	p, err := openIDXPair(filepath.Join(dir, "v"), filepath.Join(dir, "l"))
	if err != nil {
		return nil, nil, err
	}
	defer p.Close()
	for {
		rec, err := p.Next()
		if errors.Is(err, io.EOF) {
			return x, y, nil
		}
		if err != nil {
			return x, y, err
		}
		y = append(y, rec.Column(0).(*array.Uint8).Uint8Values()...)
		x = append(x, rec.Column(1).(*array.FixedSizeList).ListValues().(*array.Uint8).Uint8Values()...)
		if err := checkRecord(rec.NumRows(), rec.Column(1).Len()); err != nil {
			t.Fatal(err)
		}
		rec.Release()
	}
}

func checkRecord(rows int64, length int) error {
	if rows < 1 || int(rows) != length {
		return fmt.Errorf("a record of %d rows has a column of %d", rows, length)
	}
	return nil
}

func TestIDXRowsAreThoseOfTheFile(t *testing.T) {
	for _, rows := range []int{1, 2, idxBatchRows, idxBatchRows + 1, 3*idxBatchRows + 7} {
		values, labels := count(rows*6), count(rows)
		x, y, err := readPair(t, zipped(t, idx(values, uint32(rows), 2, 3)), idx(labels, uint32(rows)))
		if err != nil || !bytes.Equal(x, values) || !bytes.Equal(y, labels) {
			t.Errorf("%d rows: %d values, %d labels, %v", rows, len(x), len(y), err)
		}
	}
	if x, y, err := readPair(t, idx(nil, 0, 2, 3), idx(nil, 0)); err != nil || len(x)+len(y) > 0 {
		t.Errorf("no rows: %v %v %v", x, y, err)
	}
}

func TestIDXFilesThatLie(t *testing.T) {
	good, labels := idx(count(12), 2, 2, 3), idx(count(2), 2)
	for name, c := range map[string]struct{ values, labels, says string }{
		"empty":               {"", labels, "v: offset 0: corrupt: the content ends there, 4 bytes early"},
		"text":                {"5.1,3.5,1.4", labels, "35 2e 31 2c is not the start of an idx file of bytes"},
		"floats":              {"\x00\x00\x0d\x03" + good[4:], labels, "is not the start"},
		"no dimensions":       {idx(nil), labels, "is not the start"},
		"header cut":          {good[:9], labels, "v: offset 9: corrupt: the content ends there, 3 bytes early"},
		"values cut":          {good[:20], labels, "v: offset 20: corrupt: the content ends there, 8 bytes early"},
		"gzip cut":            {zipped(t, idx(count(5000), 50, 100))[:60], idx(count(50), 50), "v: offset"},
		"not gzip":            {"\x1f\x8b\x08", labels, "gzip"},
		"more rows than told": {good + "x", labels, "v: offset 28: corrupt: bytes after the last row"},
		"labels cut":          {good, labels[:9], "l: offset 9"},
		"more labels":         {good, labels + "x", "l: offset 10: corrupt: bytes after the last row"},
		"other rows":          {good, idx(count(3), 3), "3 labels for the 2 rows of"},
		"wide labels":         {good, idx(count(4), 2, 2), "2 bytes a row, want one label"},
		"zero width":          {idx(nil, 2, 0, 3), labels, "rows of 0 bytes"},
		"too wide":            {idx(nil, 2, 1<<31, 1<<31), labels, "rows of 2147483648 bytes, want 1 to"},
		"many dimensions":     {"\x00\x00\x08\xff" + strings.Repeat("\x00\x00\x00\x01", 9), labels, "the content ends there"},
		"four billion rows":   {idx(nil, 1<<32-1, 2, 3), idx(nil, 1<<32-1), "the content ends there"},
	} {
		_, _, err := readPair(t, c.values, c.labels)
		var fault *files.Error
		if err == nil || !strings.Contains(err.Error(), c.says) || !errors.As(err, &fault) || fault.Path == "" {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func FuzzIDX(f *testing.F) {
	f.Add([]byte(idx(count(12), 2, 2, 3)), []byte(idx(count(2), 2)))
	f.Add([]byte(idx(nil, 1<<32-1, 256, 255)), []byte(idx(nil, 1<<32-1)))
	f.Add([]byte(zipped(f, idx(count(12), 12))), []byte(idx(count(12), 12, 1)))
	f.Add([]byte{0, 0, 8, 255}, []byte{})
	f.Fuzz(func(t *testing.T, values, labels []byte) {
		x, y, err := readPair(t, string(values), string(labels))
		var fault *files.Error
		switch {
		case err != nil && !errors.As(err, &fault):
			t.Fatalf("%v does not name the file", err)
		case err == nil && len(y) > 0 && len(x)%len(y) != 0:
			t.Fatalf("%d values for %d labels", len(x), len(y))
		}
	})
}

func TestIDXFileThatIsNotThere(t *testing.T) {
	if _, err := openIDXPair("absent", "absent"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
