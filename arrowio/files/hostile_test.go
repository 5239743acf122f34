package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
)

// TestArrowBodyOfAnyClaimedLengthIsNotAllocated patches the length of a body: running out of memory
// could not be recovered.
func TestArrowBodyOfAnyClaimedLengthIsNotAllocated(t *testing.T) {
	rec := sampleRecord(t, memory.DefaultAllocator, 10)
	defer rec.Release()
	content, err := os.ReadFile(written(t, "a.arrows", rec))
	if err != nil {
		t.Fatal(err)
	}
	schema := 8 + int(binary.LittleEndian.Uint32(content[4:]))
	meta := content[schema+8:]
	body := uint64(len(content) - schema - 8 - int(binary.LittleEndian.Uint32(content[schema+4:])) - 8)
	at := bytes.Index(meta, binary.LittleEndian.AppendUint64(nil, body))
	if at < 0 {
		t.Fatal("no length of the body")
	}
	binary.LittleEndian.PutUint64(meta[at:], 1<<40)
	for name, content := range map[string][]byte{"a.arrows": content, "a.arrows.gz": zipped(t, content)} {
		_, _, _, err := drain(writeFile(t, name, content), Options{})
		if !errors.Is(err, arrowio.ErrTooLarge) && !errors.Is(err, arrowio.ErrCorrupt) ||
			!strings.Contains(err.Error(), "GOMEMLIMIT") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
