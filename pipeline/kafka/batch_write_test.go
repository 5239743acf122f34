package kafka

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/protocol"

	"github.com/eerf-stream/eerf/pipeline"
)

// randomRecords makes records with values below and above the size that is copied, and with
// optional fields missing sometimes.
func randomRecords(rng *rand.Rand) []pipeline.Record {
	noise := func(most int) []byte {
		if rng.IntN(4) == 0 {
			return nil
		}
		b := make([]byte, rng.IntN(most))
		for i := range b {
			b[i] = byte(rng.IntN(4))
		}
		return b
	}
	records := make([]pipeline.Record, 1+rng.IntN(6))
	for i := range records {
		records[i] = pipeline.Record{
			Time: time.UnixMilli(1_700_000_000_000 + rng.Int64N(1<<40) - 1<<39).UTC(),
			Key:  noise(300), Value: noise([]int{1, 100, inlineBytes, 3 * inlineBytes}[rng.IntN(4)]),
		}
		for range rng.IntN(3) {
			records[i].Headers = append(
				records[i].Headers,
				pipeline.Header{Key: fmt.Sprint("h", rng.IntN(9)), Value: noise(200)},
			)
		}
	}
	return records
}

// kafkaGoBatch is the batch as kafka-go writes it.
func kafkaGoBatch(t *testing.T, records []pipeline.Record) []byte {
	t.Helper()
	var list []protocol.Record
	for _, r := range records {
		record := protocol.Record{Time: r.Time, Key: protocol.NewBytes(r.Key), Value: protocol.NewBytes(r.Value)}
		for _, h := range r.Headers {
			record.Headers = append(record.Headers, protocol.Header{Key: h.Key, Value: h.Value})
		}
		list = append(list, record)
	}
	var out bytes.Buffer
	set := protocol.RecordSet{Version: batchFormat, Records: protocol.NewRecordReader(list...)}
	if _, err := set.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()[4:] // without its length
}

func TestEncodeBatchWritesWhatKafkaGoWrites(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		records := randomRecords(rng)
		pieces, size, err := encodeBatch(records, time.Time{}, CompressionNone, unsequenced)
		if err != nil {
			t.Fatal(err)
		}
		got := bytes.Join(pieces, nil)
		if want := kafkaGoBatch(t, records); len(got) != size || !bytes.Equal(got, want) {
			t.Fatalf("got %d bytes with reported size %d, want %d", len(got), size, len(want))
		}
	}
}

func TestEncodeBatchDoesNotCopyLongValues(t *testing.T) {
	value := make([]byte, 8<<20)
	records := []pipeline.Record{{Value: value}, {Key: []byte("key"), Value: value}}
	pieces, size, err := encodeBatch(records, time.Now(), CompressionNone, unsequenced)
	if err != nil || size <= 2*len(value) {
		t.Fatalf("%d bytes, %v", size, err)
	}
	shared := 0
	for _, piece := range pieces {
		if len(piece) == len(value) && &piece[0] == &value[0] {
			shared++
		}
	}
	if shared != 2 || len(pieces) != 5 {
		t.Errorf("%d of %d pieces alias the value", shared, len(pieces))
	}
}
