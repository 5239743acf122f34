package sets

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
)

// idx is an idx file of bytes with the given dimensions.
func idx(values string, dims ...uint32) string {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, n := range dims {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return string(b) + values
}

func TestIDXPairs(t *testing.T) {
	dir := write(t, map[string]string{"v": idx("abcdefgh", 2, 2, 2), "l.gz": zipped(t, idx("\x01\x02", 2))})
	reader, err := folder(dir).idx("v", "l")()
	if err != nil {
		t.Fatal(err)
	}
	rec, err := reader.Next()
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	x := rec.Column(1).(*array.FixedSizeList).ListValues().(*array.Uint8).Uint8Values()
	if string(x) != "abcdefgh" || !slices.Equal(rec.Column(0).(*array.Uint8).Uint8Values(), []byte{1, 2}) {
		t.Errorf("%v", rec)
	}
	for says, pair := range map[string][2]string{
		"not an idx file":       {"\x00\x00\x09\x01", idx("a", 1)},
		"the header is cut off": {idx("", 1, 1)[:9], idx("a", 1)},
		"3 bytes for 2 rows":    {idx("abc", 2, 2), idx("ab", 2)},
		"want one label for":    {idx("abcd", 2, 2), idx("abc", 3)},
		"gzip: ":                {zipped(t, idx("abcd", 2, 2))[:20], idx("ab", 2)},
	} {
		dir := write(t, map[string]string{"v": pair[0], "l": pair[1]})
		if _, err := folder(dir).idx("v", "l")(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q in it", err, says)
		}
	}
}

func TestLIBSVMRowsAreDense(t *testing.T) {
	rec, err := parseLIBSVM([]byte("+1 1:0.5 3:2\n-1 2:-1e-1\t3:1 \n0\n"), 3)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	x := rec.Column(1).(*array.FixedSizeList).ListValues().(*array.Float32).Float32Values()
	if !slices.Equal(rec.Column(0).(*array.Int64).Int64Values(), []int64{1, -1, 0}) ||
		!slices.Equal(x, []float32{0.5, 0, 2, 0, -0.1, 1, 0, 0, 0}) {
		t.Errorf("%v", rec)
	}
	for _, line := range []string{"one 1:1", "1 0:1", "1 4:1", "1 x:1", "1 2:x", ""} {
		if _, err := parseLIBSVM([]byte("1 1:1\n"+line+"\n"), 3); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%q: %v", line, err)
		}
	}
}
