package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/eerf-stream/eerf/internal/hostile"
)

const (
	// mutantBudget is the reader's budget: small, so that a breach shows and bombs cost little.
	mutantBudget = 64 << 10
	// budgetTimes is how many times the budget reading may allocate in all: once for what is charged to it, and once for
	// the first buffer of a body that expands by more than usual.
	budgetTimes = 2
	// anyMemory is for errors and for the small tables of codecs.
	anyMemory = 256 << 10
)

// codecMemory is what a codec may allocate for a batch in addition to the budget: its tables and, as stated by a frame,
// blocks of 4 MiB or a window.
var codecMemory = map[Compression]int{
	CompressionGzip: 128 << 10, CompressionSnappy: 0, CompressionLZ4: 9 << 20, CompressionZstd: zstdWindowBytes + 8<<20,
}

// codecReads is how often a batch may be decompressed: to measure it, and again to keep it.
const codecReads = 2

// mayAllocate is what reading a set may allocate.
func mayAllocate(set []byte) int64 {
	most := budgetTimes*mutantBudget + anyMemory
	for {
		b, whole, err := parseBatch(set)
		if err != nil || !whole {
			return int64(most)
		}
		most += codecReads * codecMemory[Compression(b.attributes&codecBits)]
		set = set[b.bytes:]
	}
}

// TestMutants feeds the reader damaged record batches, including ones damaged before compression and ones that expand far
// beyond the budget. An unreadable batch gets a reason, and reading goes on after it.
func TestMutants(t *testing.T) {
	forge := newBatchForge(t)
	reader := newSetReader(mutantBudget)
	defer reader.close()
	hostile.Run(t, hostile.Suite{
		Make: forge.mutant,
		Try: func(m *hostile.Meter, mutant []byte) (string, error) {
			from, set := int64(mutant[0]%32), mutant[1:]
			aborted := []abortedTransaction{{producer: 9, first: 12}}
			m.Within(mayAllocate(set), func() {
				_, _, _ = reader.read(set, from, aborted) // an error costs memory too
			})
			return tryMutant(reader, set, from, aborted)
		},
	}, 25_000)
}

// tryMutant reads a record set and uses all of the result.
func tryMutant(reader *setReader, set []byte, from int64, aborted []abortedTransaction) (reason string, err error) {
	records, next, err := reader.read(set, from, aborted)
	if err != nil {
		return unreadableReason(err)
	}
	if next < from {
		return "", fmt.Errorf("from %d next is %d", from, next)
	}
	previous, size := from-1, 0
	for _, r := range records {
		if r.Offset <= previous || r.Offset >= next {
			return "", fmt.Errorf("offset %d after %d, next %d", r.Offset, previous, next)
		}
		previous = r.Offset
		size += len(bytes.Clone(r.Key)) + len(bytes.Clone(r.Value))
		for _, h := range r.Headers {
			size += len(h.Key) + len(bytes.Clone(h.Value))
		}
	}
	if size > mutantBudget+len(set) {
		return "", fmt.Errorf("%d records hold %d bytes", len(records), size)
	}
	if len(records) == 0 {
		return "nothing", nil
	}
	return hostile.Accepted, nil
}

// unreadableReason is a word for why a batch is skipped.
func unreadableReason(err error) (string, error) {
	var bad *unreadableError
	switch {
	case !errors.As(err, &bad):
		return "", err
	case errors.Is(err, ErrOverBudget):
		return "over_budget", nil
	case errors.Is(err, errChecksum):
		return "checksum", nil
	case errors.Is(err, ErrCorruptBatch):
		return "corrupt", nil
	case errors.Is(err, ErrOldFormat):
		return "old_format", nil
	}
	return "", err
}

// batchForge makes batches that no producer would make.
type batchForge struct {
	bodies  []*hostile.Message // encoded records
	batches []*hostile.Message // whole ones, of every codec
	bombs   []*hostile.Message // ones that expand
	gzip    *gzip.Writer
	lz4     *lz4.Writer
	zstd    *zstd.Encoder
	body    []byte
	packed  bytes.Buffer
}

func newBatchForge(t *testing.T) *batchForge {
	t.Helper()
	f := &batchForge{gzip: gzip.NewWriter(io.Discard), lz4: lz4.NewWriter(io.Discard)}
	var err error
	if f.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true)); err != nil {
		t.Fatal(err)
	}
	many := make([]testRecord, 40)
	for i := range many {
		many[i] = testRecord{delta: int64(i), key: []byte("key"), value: bytes.Repeat([]byte{byte(i)}, 50), headers: int64(i % 3)}
	}
	for _, records := range [][]testRecord{some(0, 1, 2), some(0, 3, 9), {{key: []byte{0, 0, 0, 0}}}, {{headers: 3}}, many} {
		f.add(t, records)
	}
	f.addBombs(t)
	return f
}

// add adds the records as a body, and as a batch of every codec.
func (f *batchForge) add(t *testing.T, records []testRecord) {
	b := testBatch{base: 10, count: int32(len(records))}
	for _, r := range records {
		b.body = append(b.body, r.encode()...)
		b.lastDelta = max(b.lastDelta, int32(r.delta))
	}
	body := b.body
	f.bodies = append(f.bodies, &hostile.Message{Name: "records", Bytes: body, Order: binary.BigEndian, Marks: bodyMarks(0, len(body))})
	for _, attributes := range []uint16{0, controlBit | transactionalBit, transactionalBit} {
		b.attributes, b.producer = attributes, 9
		f.batches = append(f.batches, batchMessage("plain", b.encode()))
	}
	for _, name := range slices.Sorted(maps.Keys(compressors)) {
		b.attributes, b.body = compressors[name].codec, compressors[name].compress(t, body)
		f.batches = append(f.batches, batchMessage(name, b.encode()))
	}
}

// addBombs adds bodies of up to 256 times the budget: of zeros, of the smallest records, and of one record with only
// headers.
func (f *batchForge) addBombs(t *testing.T) {
	smallest := testRecord{}.encode()
	for _, size := range []int{mutantBudget / 2, mutantBudget - 64, mutantBudget, 2 * mutantBudget, 16 * mutantBudget, 256 * mutantBudget} {
		headers := binary.AppendVarint([]byte{0, 0, 0, 1, 1}, int64(size/2))
		headers = append(headers, make([]byte, size)...)
		for name, body := range map[string][]byte{
			"zeros":   make([]byte, size),
			"records": bytes.Repeat(smallest, size/len(smallest)),
			"headers": append(binary.AppendVarint(nil, int64(len(headers))), headers...),
		} {
			for codec, c := range compressors {
				b := testBatch{base: 10, attributes: c.codec, lastDelta: 1 << 20, count: int32(size / len(smallest)), body: c.compress(t, body)}
				if name == "headers" {
					b.count = 1
				}
				f.bombs = append(f.bombs, batchMessage(fmt.Sprintf("%s %s %d", codec, name, size), b.encode()))
			}
		}
	}
	slices.SortFunc(f.bombs, func(a, b *hostile.Message) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
}

// batchMessage marks the fields of a batch and the first bytes of its body.
func batchMessage(name string, set []byte) *hostile.Message {
	m := &hostile.Message{Name: name, Bytes: set, Order: binary.BigEndian, Parts: []int{0, batchHeaderBytes}}
	for at, width := range map[int]int{0: 8, 8: 4, 12: 4, 16: 1, 17: 4, 21: 2, 23: 4, 27: 8, 35: 8, 43: 8, 51: 2, 53: 4, 57: 4} {
		m.Marks = append(m.Marks, hostile.Mark{At: at, Width: width})
	}
	slices.SortFunc(m.Marks, func(a, b hostile.Mark) int { return a.At - b.At })
	m.Marks = append(m.Marks, bodyMarks(batchHeaderBytes, len(set))...)
	return m
}

// bodyMarks marks the lengths of records and the headers of compressed frames.
func bodyMarks(first, end int) (marks []hostile.Mark) {
	const head = 24
	for at := first; at < min(end, first+head); at++ {
		marks = append(marks, hostile.Mark{At: at, Width: 1})
		if at+4 <= end && at%4 == 0 {
			marks = append(marks, hostile.Mark{At: at, Width: 4})
		}
	}
	return marks
}

// mutant returns an offset to read from and a set of up to three batches.
func (f *batchForge) mutant(r *rand.Rand, into []byte) []byte {
	into = append(into, byte(r.Uint32()))
	for range 1 + r.IntN(3) {
		from := len(into)
		switch r.IntN(8) {
		case 0:
			into = f.bombs[r.IntN(len(f.bombs))].Mutate(r, into, f.batches)
		case 1:
			into = append(into, f.bombs[r.IntN(len(f.bombs))].Bytes...)
		case 2, 3, 4:
			into = f.packedMutant(r, into)
		case 5: // undamaged
			into = append(into, f.batches[r.IntN(len(f.batches))].Bytes...)
		default:
			into = f.batches[r.IntN(len(f.batches))].Mutate(r, into, f.batches)
		}
		if r.IntN(16) > 0 {
			correctChecksum(into[from:])
		}
	}
	return into
}

// packedMutant is a batch whose records were damaged before compression.
func (f *batchForge) packedMutant(r *rand.Rand, into []byte) []byte {
	if r.IntN(3) == 0 {
		f.body = forgedRecord(r, f.body[:0])
	} else {
		f.body = f.bodies[r.IntN(len(f.bodies))].Mutate(r, f.body[:0], f.bodies)
	}
	codec := uint16(r.IntN(5))
	b := testBatch{base: 10, attributes: codec, lastDelta: int32(r.IntN(64)), count: 1 + int32(r.IntN(4)), body: f.pack(codec, f.body)}
	if r.IntN(8) == 0 {
		b.count = int32(r.Uint32() >> r.IntN(32))
	}
	return append(into, b.encode()...)
}

// forgedRecord is a record in which any number may be wrong; its length is mostly right.
func forgedRecord(r *rand.Rand, into []byte) []byte {
	number := func(b []byte, likely int64) []byte {
		if r.IntN(6) == 0 {
			likely = []int64{-1, -2, 1 << 31, 1 << 40, math.MaxInt64, math.MinInt64, r.Int64N(1 << 20), r.Int64N(100)}[r.IntN(8)]
		}
		return binary.AppendVarint(b, likely)
	}
	b := append(make([]byte, 0, 64), 0)
	b = number(number(b, 0), r.Int64N(3)) // time, offset
	for range 2 {
		b = append(number(b, 3), "abc"...)
	}
	headers := r.Int64N(3)
	b = number(b, headers)
	for range headers {
		b = append(number(append(number(b, 1), 'k'), 1), 'v')
	}
	return append(number(into, int64(len(b))), b...)
}

// pack compresses a body. It is never nil, which would mean records.
func (f *batchForge) pack(codec uint16, body []byte) []byte {
	f.packed.Reset()
	var w io.WriteCloser
	switch codec {
	case 1:
		f.gzip.Reset(&f.packed)
		w = f.gzip
	case 2:
		return snappy.Encode(nil, body)
	case 3:
		f.lz4.Reset(&f.packed)
		w = f.lz4
	case 4:
		return f.zstd.EncodeAll(body, []byte{})
	default:
		return append([]byte{}, body...)
	}
	_, err := w.Write(body)
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err) // a buffer accepts everything
	}
	return bytes.Clone(f.packed.Bytes())
}

// correctChecksum corrects the checksum for what there is of the batch.
func correctChecksum(set []byte) {
	if len(set) < batchHeaderBytes {
		return
	}
	end := len(set)
	if b := parseHeader(set); b.bytes >= batchHeaderBytes && b.bytes < end {
		end = b.bytes
	}
	binary.BigEndian.PutUint32(set[17:], crc32.Checksum(set[batchCheckedBytes:end], castagnoli))
}

// TestBombsCostTheBudget reads each bomb alone: within the budget it is read, beyond it is refused.
func TestBombsCostTheBudget(t *testing.T) {
	forge := newBatchForge(t)
	reader := newSetReader(mutantBudget)
	defer reader.close()
	over := 0
	for _, bomb := range forge.bombs {
		records, _, err := reader.read(bomb.Bytes, 0, nil)
		if errors.Is(err, ErrOverBudget) {
			over++
		} else if !errors.Is(err, ErrCorruptBatch) && (err != nil || len(records) == 0) {
			t.Errorf("%s: %d records, %v", bomb.Name, len(records), err)
		}
	}
	if over < len(forge.bombs)*3/5 {
		t.Errorf("%d of %d bombs are over the budget", over, len(forge.bombs))
	}
	records, _, err := reader.read(forge.batches[0].Bytes, 0, nil)
	if err != nil || len(records) != 3 {
		t.Errorf("afterwards %d records, %v", len(records), err)
	}
}
