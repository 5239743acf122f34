package kafka_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

// TestConformance runs every behaviour that package pipeline asks of a broker against the embedded one or,
// with EERF_TEST_BROKERS, against another: one node or several, open or secured.
func TestConformance(t *testing.T) { conformance(t, connect(t)) }

func conformance(t *testing.T, on *cluster) {
	for _, behaviour := range []struct {
		name string
		test func(t *testing.T, on *cluster)
	}{
		{"a record comes back as it was written", recordsComeBack},
		{"every compression is read", everyCompression},
		{"a fetch at the end waits and returns nothing", fetchAtEnd},
		{"a fetch is woken by a record", fetchIsWoken},
		{"a fetch in the middle of a batch starts there", fetchInTheMiddle},
		{"offsets outside the partition are named", offsetOutOfRange},
		{"a topic that is not there is unknown", unknownTopic},
		{"a request over the limit is too large", messageTooLarge},
		{"a batch over the fetch size is returned whole", batchOverFetchSize},
		{"topics are made, described and grown", topicsAreMade},
		{"a fault of one topic does not stop the others", oneTopicFails},
		{"aborted records are not handed out", abortedRecords},
		{"records of an open transaction are waited for", openTransaction},
		{"a batch that expands beyond the budget is stepped past", expandingBatch},
		{"a compacted topic is read to its end", compactedTopic},
		{"two members share the partitions", membersShare},
		{"offsets are committed", offsetsAreCommitted},
		{"a run that returns keeps its partition idle", runReturnsEarly},
		{"an error of a run ends the membership", runFails},
		{"a deadline ends the membership without an error", deadlineEnds},
		{"added partitions are assigned", partitionsAdded},
		{"a topic that comes later is waited for", topicComesLater},
		{"a partition is followed to another leader", leaderMoves},
		{"a restarted cluster is used as before", clusterRestarts},
	} {
		t.Run(behaviour.name, func(t *testing.T) { behaviour.test(t, on) })
	}
}

func recordsComeBack(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 2, nil)
	at := time.Now().Add(-time.Hour).Truncate(time.Millisecond) // recent, or retention takes it
	want := []pipeline.Record{
		{Key: []byte("k"), Value: []byte("v"), Time: at, Headers: []pipeline.Header{
			{Key: "a", Value: []byte("1")}, {Key: "a", Value: nil}, {Key: "", Value: []byte{}}}},
		{Key: []byte("tombstone"), Time: at.Add(time.Second)},
		{Value: []byte{}, Key: []byte{}, Time: at.Add(-time.Second)},
		{Value: bytes.Repeat([]byte("long "), 40000), Time: at},
	}
	before := time.Now().Add(-time.Minute)
	if first := produce(t, client, topic, 1, want...); first != 0 {
		t.Errorf("first offset is %d", first)
	}
	if first := produce(t, client, topic, 1, values("now")...); first != 4 {
		t.Errorf("second batch is at offset %d", first)
	}
	got := readUntil(t, client, topic, 1, 0, 5)
	if len(got) != 5 {
		t.Fatalf("%d records", len(got))
	}
	for i, w := range want {
		w.Topic, w.Partition, w.Offset = topic, 1, int64(i)
		equalRecord(t, got[i], w)
	}
	if now := got[4].Time; now.Before(before) || now.After(time.Now().Add(time.Minute)) {
		t.Errorf("record without a time has %v", now)
	}
	first, next, err := client.Offsets(background(t), topic, 1)
	if first != 0 || next != 5 || err != nil {
		t.Errorf("offsets %d, %d, %v", first, next, err)
	}
}

func equalRecord(t *testing.T, got, want pipeline.Record) {
	t.Helper()
	same := got.Topic == want.Topic && got.Partition == want.Partition && got.Offset == want.Offset &&
		got.Time.Equal(want.Time) && equalBytes(got.Key, want.Key) && equalBytes(got.Value, want.Value) &&
		len(got.Headers) == len(want.Headers)
	for i := 0; same && i < len(got.Headers); i++ {
		same = got.Headers[i].Key == want.Headers[i].Key && equalBytes(got.Headers[i].Value, want.Headers[i].Value)
	}
	if !same {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// equalBytes tells nil, a null on the wire, from empty.
func equalBytes(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

func everyCompression(t *testing.T, on *cluster) {
	for _, compression := range []kafka.Compression{kafka.CompressionNone, kafka.CompressionGzip,
		kafka.CompressionSnappy, kafka.CompressionLZ4, kafka.CompressionZstd} {
		t.Run(compression.String(), func(t *testing.T) {
			c := on.config()
			c.Compression = compression
			client := dial(t, c)
			topic := newTopic(t, client, 1, nil)
			long := bytes.Repeat([]byte("compress me "), 30000)
			produce(t, client, topic, 0, pipeline.Record{Value: []byte("short")}, pipeline.Record{Value: long})
			got := readUntil(t, client, topic, 0, 0, 2)
			if len(got) != 2 || string(got[0].Value) != "short" || !bytes.Equal(got[1].Value, long) {
				t.Errorf("%d records came back otherwise", len(got))
			}
		})
	}
}

func fetchAtEnd(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 1, nil)
	produce(t, client, topic, 0, values("a", "b")...)
	for _, offset := range []int64{0, 2} {
		fetched, err := client.Fetch(background(t), topic, 0, offset)
		if err != nil || len(fetched.Records) != int(2-offset) || fetched.NextOffset != 2 ||
			fetched.End != 2 || fetched.LogStart != 0 {
			t.Errorf("fetch at %d: %+v, %v", offset, fetched, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := client.Fetch(ctx, topic, 0, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled fetch: %v", err)
	}
}

func fetchIsWoken(t *testing.T, on *cluster) {
	c := on.config()
	c.FetchMaxWait = patience
	client := dial(t, c)
	topic := newTopic(t, client, 1, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		fetched, err := client.Fetch(background(t), topic, 0, 0)
		if err != nil || texts(fetched.Records) != "0:wake" {
			t.Errorf("%v, %v", texts(fetched.Records), err)
		}
	}()
	produce(t, client, topic, 0, values("wake")...)
	select {
	case <-done:
	case <-time.After(patience / 2):
		t.Error("the fetch sleeps on")
	}
}

func fetchInTheMiddle(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 1, nil)
	produce(t, client, topic, 0, values("a", "b", "c")...)
	produce(t, client, topic, 0, values("d")...)
	if got := texts(readUntil(t, client, topic, 0, 1, 4)); got != "1:b 2:c 3:d" {
		t.Error(got)
	}
}

func offsetOutOfRange(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 1, nil)
	produce(t, client, topic, 0, values("a", "b", "c")...)
	deleteRecords(t, on, topic, 0, 2)
	for _, offset := range []int64{0, 1, 4, -5} {
		_, err := client.Fetch(background(t), topic, 0, offset)
		var outside *pipeline.OffsetOutOfRangeError
		if !errors.As(err, &outside) || *outside != (pipeline.OffsetOutOfRangeError{Topic: topic, Offset: offset, First: 2, Next: 3}) {
			t.Errorf("fetch at %d: %v", offset, err)
		}
		if !pipeline.IsPermanent(err) {
			t.Errorf("fetch at %d is tried again", offset)
		}
	}
}

func unknownTopic(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 1, nil)
	ctx := background(t)
	for _, at := range []struct {
		topic     string
		partition int
	}{{"test-nowhere", 0}, {topic, 1}} {
		_, fetch := client.Fetch(ctx, at.topic, at.partition, 0)
		_, produce := client.Produce(ctx, at.topic, at.partition, values("a"))
		_, _, offsets := client.Offsets(ctx, at.topic, at.partition)
		for i, err := range []error{fetch, produce, offsets} {
			if !errors.Is(err, pipeline.ErrUnknownTopic) {
				t.Errorf("%v: operation %d: %v", at, i, err)
			}
			if pipeline.IsPermanent(err) {
				t.Errorf("%v: operation %d is not tried again", at, i)
			}
		}
	}
	_, partitions := client.Partitions(ctx, "test-nowhere")
	_, configs := client.TopicConfig(ctx, "test-nowhere")
	grow := client.GrowPartitions(ctx, "test-nowhere", 3)
	for i, err := range []error{partitions, configs, grow} {
		if !errors.Is(err, pipeline.ErrUnknownTopic) {
			t.Errorf("operation %d: %v", i, err)
		}
	}
	if _, err := client.Partitions(ctx, "test-nowhere"); !errors.Is(err, pipeline.ErrUnknownTopic) {
		t.Errorf("asking made the topic: %v", err)
	}
}

func messageTooLarge(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 1, map[string]string{"max.message.bytes": "10000"})
	for _, size := range []int{11000, 101 << 20} {
		_, err := client.Produce(background(t), topic, 0, []pipeline.Record{{Value: make([]byte, size)}})
		if !errors.Is(err, pipeline.ErrMessageTooLarge) || !pipeline.IsPermanent(err) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	produce(t, client, topic, 0, pipeline.Record{Value: make([]byte, 9000)})
	if _, err := client.Produce(background(t), topic, 0, nil); err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("no records: %v", err)
	}
}

func batchOverFetchSize(t *testing.T, on *cluster) {
	c := on.config()
	c.FetchMaxBytes = 1000
	client := dial(t, c)
	topic := newTopic(t, client, 1, nil)
	long := bytes.Repeat([]byte("x"), 100000)
	produce(t, client, topic, 0, pipeline.Record{Value: long})
	produce(t, client, topic, 0, pipeline.Record{Value: []byte("short")})
	got := readUntil(t, client, topic, 0, 0, 2)
	if len(got) != 2 || !bytes.Equal(got[0].Value, long) || string(got[1].Value) != "short" {
		t.Errorf("%d records came back otherwise", len(got))
	}
}
