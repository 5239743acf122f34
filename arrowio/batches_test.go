package arrowio

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// coded returns a batch with one dictionary column of two texts that begin with prefix.
func coded(t testing.TB, prefix string, rows int) arrow.Record {
	t.Helper()
	of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	b := array.NewDictionaryBuilder(memory.DefaultAllocator, of).(*array.BinaryDictionaryBuilder)
	defer b.Release()
	for i := range rows {
		if err := b.AppendString(prefix + []string{"a", "b"}[i%2]); err != nil {
			t.Fatal(err)
		}
	}
	column := b.NewArray()
	defer column.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: of, Nullable: true}}, nil)
	return array.NewRecord(schema, []arrow.Array{column}, int64(rows))
}

// written returns batches as one stream, with its end mark.
func written(t testing.TB, batches ...arrow.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(batches[0].Schema()))
	for _, batch := range batches {
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readAll returns the batches of a sequence of streams up to its end or first error.
func readAll(from io.Reader, most int64) (found []arrow.Record, err error) {
	b, decoder := NewBatches(from, most), NewDecoder(Limits{MaxMessageBytes: most})
	for {
		value, err := b.Next()
		if err != nil {
			return found, err
		}
		records, err := decoder.Decode(bytes.Clone(value))
		if err != nil {
			return found, err
		}
		found = append(found, records...)
	}
}

func TestBatchesOfSeveralStreamsAreThoseWritten(t *testing.T) {
	var want []arrow.Record
	var streams []byte
	for i := range 3 {
		var own []arrow.Record
		for j := range 40 { // each replaces the dictionary of the one before
			own = append(own, coded(t, string(rune('a'+i))+string(rune('a'+j%26)), 1+j%5))
		}
		streams = append(streams, written(t, own...)...)
		want = append(want, own...)
	}
	longest := int64(4096) // so that replaced dictionaries have to go
	for name, from := range map[string]io.Reader{
		"whole":     bytes.NewReader(streams),
		"by bytes":  iotest.OneByteReader(bytes.NewReader(streams)),
		"by halves": iotest.HalfReader(bytes.NewReader(streams)),
		"no mark":   bytes.NewReader(streams[:len(streams)-prefixBytes]),
	} {
		found, err := readAll(from, longest)
		if !errors.Is(err, io.EOF) || !slices.EqualFunc(found, want, array.RecordEqual) {
			t.Errorf("%s: %d batches, want %d: %v", name, len(found), len(want), err)
		}
	}
}

func TestBatchesCutOffAreTruncated(t *testing.T) {
	stream := written(t, coded(t, "x", 3), coded(t, "y", 2))
	ends := map[int]bool{0: true} // between messages
	w := frames{rest: stream, first: true}
	for ok := true; ok; ends[len(stream)-len(w.rest)] = true {
		_, ok, _ = w.next()
	}
	for cut := range stream {
		_, err := readAll(bytes.NewReader(stream[:cut]), 1<<20)
		if want := map[bool]error{true: io.EOF, false: ErrTruncated}[ends[cut]]; !errors.Is(err, want) {
			t.Errorf("cut at %d of %d: %v, want %v", cut, len(stream), err, want)
		}
	}
}

func TestBatchesRefuseOtherInput(t *testing.T) {
	stream := written(t, coded(t, "x", 3))
	huge := bytes.Clone(stream)
	copy(huge[4:], []byte{0, 0, 0, 0x7f}) // metadata of 2 GiB
	for name, tt := range map[string]struct {
		input []byte
		most  int64
		want  error
	}{
		"text":            {[]byte("age,city\n1,Rome\n"), 1 << 20, ErrNotArrow},
		"arrow file":      {[]byte("ARROW1\x00\x00 and so on"), 1 << 20, ErrNotArrow},
		"only an end":     {[]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, 1 << 20, ErrNotArrow},
		"large metadata":  {huge, 1 << 20, ErrTooLarge},
		"large batch":     {stream, int64(len(stream)) - prefixBytes - 1, ErrTooLarge},
		"second schema":   {slices.Concat(stream[:len(stream)-prefixBytes], stream), 1 << 20, ErrCorrupt},
		"bytes in a gap":  {slices.Concat(stream[:len(stream)-prefixBytes], []byte("garbage!")), 1 << 20, ErrCorrupt},
		"batch at first":  {written(t, coded(t, "x", 3))[schemaBytes(t, stream):], 1 << 20, ErrCorrupt},
		"zeros at an end": {slices.Concat(stream, make([]byte, 64)), 1 << 20, ErrNotArrow},
	} {
		if _, err := readAll(bytes.NewReader(tt.input), tt.most); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// schemaBytes returns the length of a stream's schema.
func schemaBytes(t testing.TB, stream []byte) int {
	t.Helper()
	w := frames{rest: stream, first: true}
	if _, _, err := w.next(); err != nil {
		t.Fatal(err)
	}
	return len(stream) - len(w.rest)
}

func TestBatchesAllocateOnlyForBytesThatArrived(t *testing.T) {
	stream := written(t, coded(t, "x", 3))
	copy(stream[4:], []byte{0, 0, 0, 0x10}) // metadata of 256 MiB
	b := NewBatches(bytes.NewReader(stream), 1<<30)
	if _, err := b.Next(); !errors.Is(err, ErrTruncated) {
		t.Fatal(err)
	}
	if cap(b.value) > 2*readStep {
		t.Errorf("%d bytes for a claim of 256 MiB", cap(b.value))
	}
}

func FuzzBatches(f *testing.F) {
	stream := written(f, coded(f, "x", 3), coded(f, "y", 2))
	f.Add(stream)
	f.Add(slices.Concat(stream, stream))
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		damaged := bytes.Clone(stream)
		damaged[r.IntN(len(damaged))] ^= byte(1 + r.IntN(255))
		f.Add(damaged)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		b, decoder := NewBatches(bytes.NewReader(input), 1<<16), NewDecoder(Limits{MaxMessageBytes: 1 << 16})
		for batches := 0; ; batches++ {
			value, err := b.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) && Reason(err) == "" {
					t.Fatalf("an error without a reason: %v", err)
				}
				return
			}
			if len(value) > 1<<16 || batches > len(input) {
				t.Fatalf("batch %d of %d bytes from %d", batches, len(value), len(input))
			}
			if records, err := decoder.Decode(value); err == nil && len(records) != 1 {
				t.Fatalf("a message of %d batches", len(records))
			}
		}
	})
}
