package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/eerf-stream/eerf/pipeline"
)

// testBatch is a batch to encode; zero fields are derived.
type testBatch struct {
	base       int64
	lastDelta  int32 // with no records
	attributes uint16
	producer   int64
	records    []testRecord
	body       []byte // instead of records
	count      int32  // instead of the number of records
}

type testRecord struct {
	delta      int64
	key, value []byte
	headers    int64
}

func (b testBatch) encode() []byte {
	body, count, lastDelta := b.body, b.count, b.lastDelta
	if body == nil {
		for _, r := range b.records {
			body = append(body, r.encode()...)
			lastDelta = max(lastDelta, int32(r.delta))
		}
	}
	if count == 0 {
		count = int32(len(b.records))
	}
	be := binary.BigEndian
	set := be.AppendUint64(nil, uint64(b.base))
	set = be.AppendUint32(set, uint32(batchHeaderBytes-batchLengthBytes+len(body)))
	set = be.AppendUint32(set, 7) // leader epoch
	set = append(set, batchFormat)
	set = be.AppendUint32(set, 0) // checksum
	set = be.AppendUint16(set, b.attributes)
	set = be.AppendUint32(set, uint32(lastDelta))
	set = be.AppendUint64(set, 1000)
	set = be.AppendUint64(set, 2000)
	set = be.AppendUint64(set, uint64(b.producer))
	set = be.AppendUint16(set, 0)
	set = be.AppendUint32(set, 0)
	set = be.AppendUint32(set, uint32(count))
	set = append(set, body...)
	return checked(set)
}

// checked sets the checksum of a batch.
func checked(set []byte) []byte {
	binary.BigEndian.PutUint32(set[17:], crc32.Checksum(set[batchCheckedBytes:], castagnoli))
	return set
}

func (r testRecord) encode() []byte {
	body := []byte{0}
	body = binary.AppendVarint(body, r.delta) // the time too
	body = binary.AppendVarint(body, r.delta)
	for _, b := range [][]byte{r.key, r.value} {
		if b == nil {
			body = binary.AppendVarint(body, -1)
		} else {
			body = append(binary.AppendVarint(body, int64(len(b))), b...)
		}
	}
	body = binary.AppendVarint(body, r.headers)
	for range min(r.headers, 10) {
		body = append(body, 0, 1) // key "", value null
	}
	return append(binary.AppendVarint(nil, int64(len(body))), body...)
}

func some(deltas ...int64) (records []testRecord) {
	for _, delta := range deltas {
		records = append(records, testRecord{delta: delta, value: []byte(fmt.Sprint(delta))})
	}
	return records
}

const testBudget = 1 << 20

func newReader(t testing.TB) *setReader {
	reader := newSetReader(testBudget)
	t.Cleanup(reader.close)
	return reader
}

func offsetsOf(records []pipeline.Record) string {
	all := []string{}
	for _, r := range records {
		all = append(all, fmt.Sprint(r.Offset))
	}
	return strings.Join(all, " ")
}

func TestReadingSkipsHiddenRecords(t *testing.T) {
	abort := testBatch{base: 30, attributes: controlBit | transactionalBit, producer: 9,
		records: []testRecord{{key: []byte{0, 0, 0, 0}}}}
	for _, test := range []struct {
		name    string
		from    int64
		set     [][]byte
		aborted []abortedTransaction
		offsets string
		next    int64
	}{
		{"a batch", 10, [][]byte{testBatch{base: 10, records: some(0, 1, 2)}.encode()}, nil, "10 11 12", 13},
		{"a batch again, and more", 10, [][]byte{testBatch{base: 10, records: some(0, 1)}.encode(),
			testBatch{base: 10, records: some(0, 1, 2)}.encode()}, nil, "10 11 12", 13},
		{"from its middle", 11, [][]byte{testBatch{base: 10, records: some(0, 1, 2)}.encode()}, nil, "11 12", 13},
		{"the tail of a batch was compacted away", 11,
			[][]byte{testBatch{base: 10, lastDelta: 9, records: some(1)}.encode()}, nil, "11", 20},
		{"nothing of it is left at the offset", 12,
			[][]byte{testBatch{base: 10, lastDelta: 9, records: some(1)}.encode()}, nil, "", 20},
		{"empty batches in a row", 10, [][]byte{testBatch{base: 10, lastDelta: 4}.encode(),
			testBatch{base: 15, lastDelta: 4}.encode(), testBatch{base: 25, records: some(0)}.encode()}, nil, "25", 26},
		{"only empty batches", 10, [][]byte{testBatch{base: 10, lastDelta: 4}.encode()}, nil, "", 15},
		{"an old batch in front", 20, [][]byte{testBatch{base: 10, records: some(0)}.encode(),
			testBatch{base: 20, records: some(0)}.encode()}, nil, "20", 21},
		{"a control batch", 30, [][]byte{abort.encode(), testBatch{base: 31, records: some(0)}.encode()}, nil, "31", 32},
		{"an emptied control batch", 30,
			[][]byte{testBatch{base: 30, attributes: controlBit, lastDelta: 0}.encode()}, nil, "", 31},
		{"an aborted transaction ends at its marker", 20, [][]byte{
			testBatch{base: 20, attributes: transactionalBit, producer: 9, records: some(0, 1)}.encode(),
			testBatch{base: 22, attributes: transactionalBit, producer: 8, records: some(0)}.encode(),
			testBatch{base: 23, producer: 9, records: some(0)}.encode(),
			abort.encode(),
			testBatch{base: 31, attributes: transactionalBit, producer: 9, records: some(0)}.encode(),
		}, []abortedTransaction{{9, 20}}, "22 23 31", 32},
		{"an aborted transaction without data here", 30, [][]byte{
			abort.encode(),
			testBatch{base: 31, attributes: transactionalBit, producer: 9, records: some(0)}.encode(),
		}, []abortedTransaction{{9, 20}}, "31", 32},
		{"a set cut at the size asked for", 10, [][]byte{testBatch{base: 10, records: some(0)}.encode(),
			testBatch{base: 11, records: some(0, 1, 2)}.encode()[:70]}, nil, "10", 11},
		{"a set cut within a header", 10, [][]byte{testBatch{base: 10, records: some(0)}.encode(),
			testBatch{base: 11, records: some(0)}.encode()[:12]}, nil, "10", 11},
		{"nothing", 10, nil, nil, "", 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			records, next, err := newReader(t).read(bytes.Join(test.set, nil), test.from, test.aborted)
			if err != nil || offsetsOf(records) != test.offsets || next != test.next {
				t.Errorf("records %q, next %d, %v; want %q, %d", offsetsOf(records), next, err, test.offsets, test.next)
			}
		})
	}
}

func TestUnreadableBatchesAreReportedAndSkipped(t *testing.T) {
	patched := func(b testBatch, at int, bytes ...byte) []byte {
		set := b.encode()
		copy(set[at:], bytes)
		return checked(set)
	}
	long := testBatch{base: 10, records: some(0, 1, 2)}
	damaged := long.encode()
	damaged[len(damaged)-1] ^= 1
	for _, test := range []struct {
		name string
		set  []byte
		next int64
		err  error
	}{
		{"a damaged one", damaged, 13, errChecksum},
		{
			"a count that is too high",
			testBatch{base: 10, records: some(0, 1, 2), count: 1 << 30}.encode(),
			13,
			pipeline.ErrCorruptBatch,
		},
		{
			"a count that is too low",
			testBatch{base: 10, records: some(0, 1, 2), count: 2}.encode(),
			13,
			pipeline.ErrCorruptBatch,
		},
		{"a negative count", testBatch{base: 10, records: some(0, 1, 2), count: -1}.encode(), 13, pipeline.ErrCorruptBatch},
		{"a last offset before the first", patched(long, 23, 0xff, 0xff, 0xff, 0xfe), 11, pipeline.ErrCorruptBatch},
		{"a record beyond the last offset", patched(long, 23, 0, 0, 0, 1), 12, pipeline.ErrCorruptBatch},
		{"offsets that go back", testBatch{base: 10, records: some(1, 1)}.encode(), 12, pipeline.ErrCorruptBatch},
		{"a length under that of a header", patched(long, 8, 0, 0, 0, 9), 11, pipeline.ErrCorruptBatch},
		{"a negative length", patched(long, 8, 0xff, 0, 0, 9), 11, pipeline.ErrCorruptBatch},
		{
			"a record that is not there",
			testBatch{base: 10, lastDelta: 2, body: []byte{200, 1, 0, 0, 0, 0, 0, 0}, count: 1}.encode(),
			13,
			pipeline.ErrCorruptBatch,
		},
		{
			"a key that is not there",
			testBatch{base: 10, lastDelta: 2, body: []byte{14, 0, 0, 0, 0x7e, 0, 0, 0}, count: 1}.encode(),
			13,
			pipeline.ErrCorruptBatch,
		},
		{
			"headers that are not there",
			testBatch{base: 10, records: []testRecord{{headers: 1 << 40}}}.encode(),
			11,
			pipeline.ErrCorruptBatch,
		},
		{"an unknown codec", testBatch{base: 10, attributes: 6, records: some(0)}.encode(), 11, pipeline.ErrCorruptBatch},
		{
			"a body that is not compressed",
			testBatch{base: 10, attributes: 4, records: some(0)}.encode(),
			11,
			pipeline.ErrCorruptBatch,
		},
		{"an old format", patched(long, 16, 1), 11, pipeline.ErrOldFormat},
		{"more records than memory", testBatch{base: 10, records: make([]testRecord, 1), count: testBudget / 8,
			body: make([]byte, testBudget/8*minRecordBytes), lastDelta: 1 << 30}.encode(), 11 + 1<<30, pipeline.ErrOverBudget},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := testBatch{base: 5, records: some(0, 1, 2, 3, 4)}.encode()
			records, next, err := newReader(t).read(append(before, test.set...), 5, nil)
			if err != nil || len(records) != 5 || next != 10 {
				t.Errorf("after another batch: %d records, next %d, %v", len(records), next, err)
			}
			_, _, err = newReader(t).read(test.set, 10, nil)
			var bad *unreadableError
			if !errors.As(err, &bad) || !errors.Is(err, test.err) || bad.base != 10 || bad.next != test.next {
				t.Errorf("%+v: %v", bad, err)
			}
		})
	}
}

// TestImpossibleOffsetsAreOutOfRange checks that impossible offsets are refused before the next
// offset is computed from them.
func TestImpossibleOffsetsAreOutOfRange(t *testing.T) {
	for _, base := range []int64{math.MinInt64, -1, math.MaxInt64, math.MaxInt64 - 2} {
		_, _, err := newReader(t).read(testBatch{base: base, records: some(0, 1, 2)}.encode(), 0, nil)
		if !errors.Is(err, pipeline.ErrCorruptBatch) {
			t.Errorf("base offset %d: %v", base, err)
		}
	}
}

// TestDamagedHeaderDoesNotDecideTheNextOffset checks that the next offset comes from the next
// batch.
func TestDamagedHeaderDoesNotDecideTheNextOffset(t *testing.T) {
	damaged := testBatch{base: 10, records: some(0, 1)}.encode()
	damaged[23] ^= 0x3f // of the last offset's delta
	after := testBatch{base: 12, records: some(0, 1)}.encode()
	_, _, err := newReader(t).read(append(damaged, after...), 10, nil)
	var bad *unreadableError
	if !errors.As(err, &bad) || !errors.Is(err, errChecksum) || bad.next != 12 {
		t.Fatalf("%+v", err)
	}
	response := &fetchResponse{end: 40, set: damaged}
	f := testFetching(t, 10, 1<<20)
	if _, err = f.decode(response); !errors.As(err, &bad) || bad.next != 40 {
		t.Errorf("without a next batch: %+v", err)
	}
}

// testFetching is a fetch at an offset with the given memory for its response.
func testFetching(t testing.TB, offset, bytes int64) *fetching {
	memory := &account{limit: 2 * worstFetch(testBudget)}
	return &fetching{
		client: &Client{stats: newStatsTable()},
		reader: newReader(t),
		offset: offset,
		memory: memory,
		funds:  memory.try(bytes),
	}
}

// TestHeadersAreChargedBeforeAllocation reads a record with headers alone: an empty header is two
// bytes on the wire and forty in memory.
func TestHeadersAreChargedBeforeAllocation(t *testing.T) {
	for name, header := range map[string][]byte{
		"empty":      {0, 1},
		"with a key": append([]byte{2 * 60}, make([]byte, 61)...),
	} {
		n := testBudget / 2 / len(header)
		record := binary.AppendVarint([]byte{0, 0, 0, 1, 1}, int64(n)) // neither key nor value
		record = append(record, bytes.Repeat(header, n)...)
		body := append(binary.AppendVarint(nil, int64(len(record))), record...)
		reader, set := newReader(t), testBatch{body: body, count: 1}.encode()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := reader.read(set, 0, nil)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, pipeline.ErrOverBudget) {
			t.Errorf("%s: %v", name, err)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > testBudget {
			t.Errorf("%s: %d bytes allocated, budget %d", name, spent, testBudget)
		}
	}
}

// compressors encode like other producers.
var compressors = map[string]struct {
	codec    uint16
	compress func(t testing.TB, body []byte) []byte
}{
	"gzip": {1, func(t testing.TB, body []byte) []byte {
		var into bytes.Buffer
		w := gzip.NewWriter(&into)
		w.Write(body)
		w.Close()
		return into.Bytes()
	}},
	"snappy": {2, func(t testing.TB, body []byte) []byte { return snappy.Encode(nil, body) }},
	"snappy in frames": {2, func(t testing.TB, body []byte) []byte {
		into := append([]byte("\x82SNAPPY\x00"), 0, 0, 0, 1, 0, 0, 0, 1)
		for len(body) > 0 {
			part := body[:min(len(body), 32<<10)]
			body = body[len(part):]
			block := snappy.Encode(nil, part)
			into = append(binary.BigEndian.AppendUint32(into, uint32(len(block))), block...)
		}
		return into
	}},
	"lz4": {3, func(t testing.TB, body []byte) []byte {
		var into bytes.Buffer
		w := lz4.NewWriter(&into)
		w.Write(body)
		w.Close()
		return into.Bytes()
	}},
	"zstd": {4, func(t testing.TB, body []byte) []byte {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return w.EncodeAll(body, nil)
	}},
	"zstd of unknown size": {4, func(t testing.TB, body []byte) []byte {
		var into bytes.Buffer
		w, err := zstd.NewWriter(&into)
		if err != nil {
			t.Fatal(err)
		}
		for part := range bytes.SplitSeq(body, []byte("never")) {
			w.Write(part)
			w.Flush()
		}
		w.Close()
		return into.Bytes()
	}},
}

func TestCompressedBatchesAreReadWithinTheBudget(t *testing.T) {
	for name, c := range compressors {
		t.Run(name, func(t *testing.T) {
			good := testBatch{base: 10, attributes: c.codec, lastDelta: 2, count: 3}
			for _, r := range some(0, 1, 2) {
				good.body = append(good.body, r.encode()...)
			}
			good.body = c.compress(t, good.body)
			records, next, err := newReader(t).read(good.encode(), 10, nil)
			if err != nil || offsetsOf(records) != "10 11 12" || next != 13 || string(records[2].Value) != "2" {
				t.Errorf("%q, next %d, %v", offsetsOf(records), next, err)
			}
			large := testBatch{base: 10, attributes: c.codec, lastDelta: 1, count: 2}
			for i := range int64(2) {
				large.body = append(large.body, testRecord{delta: i, value: make([]byte, 100_000)}.encode()...)
			}
			large.body = c.compress(t, large.body)
			records, _, err = newReader(t).read(large.encode(), 10, nil)
			if half := len(large.body) / 2; err != nil || records[0].Stored < half-1 || records[1].Stored > half+1 {
				t.Errorf("shares of %d bytes: %+v, %v", len(large.body), []int{records[0].Stored, records[1].Stored}, err)
			}

			bomb := testBatch{base: 10, attributes: c.codec, lastDelta: 2, count: 1,
				body: c.compress(t, make([]byte, 64*testBudget))}.encode()
			reader := newReader(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err = reader.read(bomb, 10, nil)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, pipeline.ErrOverBudget) {
				t.Error(err)
			}
			// The window of a zstd stream is extra.
			if spent := after.TotalAlloc - before.TotalAlloc; spent > 16<<20+8*testBudget {
				t.Errorf("%d bytes allocated", spent)
			}

			for cut := range len(good.body) {
				short := good
				short.body = good.body[:cut]
				if short.body == nil {
					continue
				}
				if _, _, err := newReader(t).read(short.encode(), 10, nil); !errors.Is(err, pipeline.ErrCorruptBatch) {
					t.Fatalf("cut at %d of %d: %v", cut, len(good.body), err)
				}
			}
		})
	}
}

func FuzzRecordSets(f *testing.F) {
	f.Add(testBatch{base: 10, records: some(0, 1, 2)}.encode(), int64(10))
	f.Add(testBatch{base: 10, records: []testRecord{{key: []byte("k"), headers: 3}}}.encode(), int64(10))
	for _, c := range compressors {
		body := some(0)[0].encode()
		f.Add(testBatch{base: 3, attributes: c.codec, body: c.compress(f, body), count: 1}.encode(), int64(3))
	}
	f.Add(testBatch{base: 30, attributes: controlBit, records: []testRecord{{key: []byte{0, 0, 0, 0}}}}.encode(), int64(0))
	reader := newReader(f)
	f.Fuzz(func(t *testing.T, set []byte, from int64) {
		if len(set) >= batchHeaderBytes {
			if b := parseHeader(set); b.bytes == len(set) {
				set = checked(bytes.Clone(set)) // otherwise every input would fail its checksum
			}
		}
		records, next, err := reader.read(set, from, []abortedTransaction{{1, 2}})
		if next < from {
			t.Errorf("from %d next is %d", from, next)
		}
		if err != nil && (len(records) != 0 || next != from) {
			t.Errorf("error after %d records, from %d next %d", len(records), from, next)
		}
		previous := from - 1
		for _, r := range records {
			if r.Offset <= previous || r.Offset >= next {
				t.Errorf("offset %d after %d, next %d", r.Offset, previous, next)
			}
			previous = r.Offset
		}
	})
}

func TestRecordsNameWhoSetTheirTime(t *testing.T) {
	for attributes, want := range map[uint16]int64{0: 1000, appendTimeBit: 2000} {
		records, _, err := newReader(t).read(testBatch{attributes: attributes, records: some(0)}.encode(), 0, nil)
		if err != nil || len(records) != 1 {
			t.Fatal(records, err)
		}
		if r := records[0]; r.Time.UnixMilli() != want || r.Appended != (attributes != 0) {
			t.Errorf("attributes %d: time %d, appended %v", attributes, r.Time.UnixMilli(), r.Appended)
		}
	}
}
