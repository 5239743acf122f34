package arrowio

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// TestDecoderReleasesMemory decodes every stream, and damaged copies of it, at an odd address, with
// a counting allocator: everything released is given back, and so is what a refused message had
// taken.
func TestDecoderReleasesMemory(t *testing.T) {
	const copies = 200
	all := bases(t)
	for _, message := range all {
		t.Run(message.Name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			defer mem.AssertSize(t, 0)
			d := newDecoder(Limits{}, mem)
			rnd := rand.New(rand.NewPCG(2, 3))
			for i := range copies {
				m := append([]byte{0}, message.Bytes...)[1:]
				if i > 0 {
					m = message.Mutate(rnd, make([]byte, i%8), all)[i%8:]
				}
				recs, err := d.Decode(m)
				if i == 0 && err != nil {
					t.Fatal(err)
				}
				releaseAll(recs)
			}
		})
	}
}

// TestRecordsOutliveTheDecoder keeps records, and parts of them, while the decoder continues.
func TestRecordsOutliveTheDecoder(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	d := newDecoder(Limits{}, mem)
	stream := readFile(t, "pyarrow", "dictionary_replaced.arrows")
	recs, err := d.Decode(stream)
	if err != nil {
		t.Fatal(err)
	}
	want := renderAll(recs)
	column := recs[2].Column(0)
	column.Retain()
	for range 5 {
		more, err := d.Decode(stream)
		if err != nil {
			t.Fatal(err)
		}
		releaseAll(more)
	}
	last := want[2].(map[string]any)["w"].([]any)[0]
	releaseAll(recs)
	if got := render(column, 0); got != last {
		t.Errorf("got %v, want %v", got, last)
	}
	column.Release()
}
