package files

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
)

// TestDamagedValuesNeverPanic damages the body of an Arrow stream, whose buffers the library does
// not check, and touches every value that is read.
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
