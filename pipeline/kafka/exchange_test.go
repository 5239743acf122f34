package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
)

// wire is a connection that has the response ready.
type wire struct {
	io.Reader
	io.Writer
}

func exchange(version int16, response []byte) (*fetchResponse, error) {
	e := &fetchExchange{correlation: 42, maxSet: 100, request: fetch.Request{Topics: []fetch.RequestTopic{{
		Topic: "t", Partitions: []fetch.RequestPartition{{Partition: 3}}}}}}
	e.Required(map[protocol.ApiKey]int16{protocol.Fetch: version})
	message, err := e.RawExchange(wire{bytes.NewReader(response), io.Discard})
	if err != nil {
		return nil, err
	}
	return message.(*fetchResponse), nil
}

// encodeResponse encodes a response with kafka-go's own encoder, and puts a record set behind it.
func encodeResponse(t testing.TB, version int16, code int16, set []byte) []byte {
	t.Helper()
	var into bytes.Buffer
	response := &fetch.Response{Topics: []fetch.ResponseTopic{{Topic: "t", Partitions: []fetch.ResponsePartition{{
		Partition: 3, ErrorCode: code, HighWatermark: 7, LastStableOffset: 6, LogStartOffset: 5,
		AbortedTransactions: []fetch.ResponseTransaction{{ProducerID: 8, FirstOffset: 9}},
		RecordSet:           protocol.RecordSet{Version: 2, Records: protocol.NewRecordReader(protocol.Record{})},
	}}}}}
	if err := protocol.WriteResponse(&into, version, 42, response); err != nil {
		t.Fatal(err)
	}
	const sample = batchHeaderBytes + minRecordBytes // the record set of one empty record
	whole := into.Bytes()
	whole = whole[:len(whole)-sample-4]
	whole = append(binary.BigEndian.AppendUint32(whole, uint32(len(set))), set...)
	binary.BigEndian.PutUint32(whole, uint32(len(whole)-4))
	return whole
}

func TestFetchAnswersOfEveryVersion(t *testing.T) {
	set := []byte("a record set")
	for version := int16(minFetchVersion); version <= maxFetchVersion; version++ {
		got, err := exchange(version, encodeResponse(t, version, 0, set))
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		logStart := int64(5)
		if version < 5 {
			logStart = 0
		}
		if got.code != 0 || got.end != 6 || got.logStart != logStart || !bytes.Equal(got.set, set) ||
			len(got.aborted) != 1 || got.aborted[0] != (abortedTransaction{8, 9}) {
			t.Errorf("version %d: %+v", version, got)
		}
		if got, err := exchange(version, encodeResponse(t, version, 1, nil)); err != nil || got.code != 1 || got.set != nil {
			t.Errorf("version %d: %+v, %v", version, got, err)
		}
	}
	for _, version := range []int16{3, 12} {
		if _, err := exchange(version, nil); err == nil {
			t.Errorf("version %d is understood", version)
		}
	}
}

func TestFetchAnswersThatLie(t *testing.T) {
	whole := encodeResponse(t, 11, 0, make([]byte, 80))
	for cut := range whole {
		if _, err := exchange(11, whole[:cut]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		// Lengths that are too long or negative, wherever one may be.
		for _, value := range []uint32{0x7fffffff, 0xffffff00, 1 << 20} {
			bent := bytes.Clone(whole)
			if cut+4 <= len(bent) {
				binary.BigEndian.PutUint32(bent[cut:], value)
				exchange(11, bent)
			}
		}
	}
	other := bytes.Clone(whole)
	other[7]++
	if _, err := exchange(11, other); err == nil {
		t.Error("a response to another request is taken")
	}
	if _, err := exchange(11, append(whole, 0)); err != nil {
		t.Errorf("what follows is not the response's: %v", err)
	}
}

func TestASetOverTheLimitIsNotTaken(t *testing.T) {
	set := testBatch{base: 10, records: some(0, 1, 2)}.encode()
	large := append(set, make([]byte, 200)...)
	binary.BigEndian.PutUint32(large[8:], uint32(len(large)-batchLengthBytes))
	_, err := exchange(11, encodeResponse(t, 11, 0, large))
	var over *oversizedSetError
	if !errors.As(err, &over) || !errors.Is(err, ErrOverBudget) || over.bytes != len(large) {
		t.Fatal(err)
	}
	if b := parseHeader(over.header); b.base != 10 || b.last != 12 {
		t.Errorf("header %+v", b)
	}
}

// TestAnswersClaimWhatTheyDoNotHave have lengths and counts that agree with each other, of gigabytes that never come.
func TestAnswersClaimWhatTheyDoNotHave(t *testing.T) {
	be := binary.BigEndian
	whole := encodeResponse(t, 11, 0, nil)
	be.PutUint32(whole, 1<<31-1)
	be.PutUint32(whole[len(whole)-28:], 1<<26) // aborted transactions: one stands there, then replica and record set
	before := allocatedBytes()
	if _, err := exchange(11, whole); err == nil || !strings.Contains(err.Error(), "aborted transactions") {
		t.Errorf("error %v", err)
	}
	if spent := allocatedBytes() - before; spent > 1<<20 {
		t.Errorf("%d bytes allocated for a response of %d", spent, len(whole))
	}
}

func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
