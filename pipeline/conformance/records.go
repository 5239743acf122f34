package conformance

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

func recordsComeBack(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 2, nil)
	at := time.Now().Add(-time.Hour).Truncate(time.Millisecond) // recent, so that retention keeps it
	want := []pipeline.Record{
		{Key: []byte("k"), Value: []byte("v"), Time: at, Headers: []pipeline.Header{
			{Key: "a", Value: []byte("1")}, {Key: "a", Value: nil}, {Key: "", Value: []byte{}}}},
		{Key: []byte("tombstone"), Time: at.Add(time.Second)},
		{Value: []byte{}, Key: []byte{}, Time: at.Add(-time.Second)},
		{Value: bytes.Repeat([]byte("long "), 40000), Time: at},
	}
	before := time.Now().Add(-time.Minute)
	if first := pipelinetest.Produce(t, client, topic, 1, want...); first != 0 {
		t.Errorf("first offset is %d", first)
	}
	if first := pipelinetest.Produce(t, client, topic, 1, pipelinetest.Values("now")...); first != 4 {
		t.Errorf("second batch is at offset %d", first)
	}
	got := pipelinetest.ReadUntil(t, client, topic, 1, 0, 5)
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
	first, next, err := client.Offsets(pipelinetest.Context(t), topic, 1)
	if first != 0 || next != 5 || err != nil {
		t.Errorf("offsets %d, %d, %v", first, next, err)
	}
}

// offsetsByTime writes records with given times and looks up the first offset at or after a time.
func offsetsByTime(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 2, nil)
	at := time.Now().Truncate(time.Millisecond)
	for hour := range 4 { // a batch each: brokers need not look into batches
		written := at.Add(time.Duration(hour-4) * time.Hour)
		pipelinetest.Produce(t, client, topic, 1, pipeline.Record{Value: []byte("x"), Time: written})
	}
	for since, want := range map[time.Duration]int64{
		-24 * time.Hour:              0,
		-4 * time.Hour:               0,
		-3*time.Hour - 1*time.Minute: 1,
		-2 * time.Hour:               2,
		0:                            4,
	} {
		got, err := client.OffsetAt(pipelinetest.Context(t), topic, 1, at.Add(since))
		if got != want || err != nil {
			t.Errorf("records since %v begin at offset %d (%v), want %d", since, got, err, want)
		}
	}
	if got, err := client.OffsetAt(pipelinetest.Context(t), topic, 0, at); got != 0 || err != nil {
		t.Errorf("an empty partition: %d, %v", got, err)
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

// equalBytes distinguishes nil, a null on the wire, from empty.
func equalBytes(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

func fetchAtEnd(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("a", "b")...)
	for _, offset := range []int64{0, 2} {
		fetched, err := client.Fetch(pipelinetest.Context(t), topic, 0, offset)
		if err != nil || len(fetched.Records) != int(2-offset) || fetched.NextOffset != 2 ||
			fetched.End != 2 {
			t.Errorf("fetch at %d: %+v, %v", offset, fetched, err)
		}
		fetched.Release()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := client.Fetch(ctx, topic, 0, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled fetch: %v", err)
	}
}

func fetchIsWoken(t *testing.T, s Source) {
	client := s.Open(t, Options{FetchMaxWait: pipelinetest.Patience})
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		fetched, err := client.Fetch(pipelinetest.Context(t), topic, 0, 0)
		if err != nil || pipelinetest.Texts(fetched.Records) != "0:wake" {
			t.Errorf("%v, %v", pipelinetest.Texts(fetched.Records), err)
		}
	}()
	pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("wake")...)
	select {
	case <-done:
	case <-time.After(pipelinetest.Patience / 2):
		t.Error("the fetch does not return")
	}
}

func fetchInTheMiddle(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("a", "b", "c")...)
	pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("d")...)
	if got := pipelinetest.Texts(pipelinetest.ReadUntil(t, client, topic, 0, 1, 4)); got != "1:b 2:c 3:d" {
		t.Error(got)
	}
}

func offsetOutOfRange(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("a", "b", "c")...)
	s.DeleteRecords(t, topic, 0, 2)
	for _, offset := range []int64{0, 1, 4, -5} {
		_, err := client.Fetch(pipelinetest.Context(t), topic, 0, offset)
		var outside *pipeline.OffsetOutOfRangeError
		want := pipeline.OffsetOutOfRangeError{Topic: topic, Offset: offset, First: 2, Next: 3}
		if !errors.As(err, &outside) || *outside != want {
			t.Errorf("fetch at %d: %v", offset, err)
		}
		if !pipeline.IsPermanent(err) {
			t.Errorf("the error of a fetch at %d is not permanent", offset)
		}
	}
}

func unknownTopic(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	ctx := pipelinetest.Context(t)
	for _, at := range []struct {
		topic     string
		partition int
	}{{"test-nowhere", 0}, {topic, 1}} {
		_, fetch := client.Fetch(ctx, at.topic, at.partition, 0)
		_, produce := client.Produce(ctx, at.topic, at.partition, pipelinetest.Values("a"))
		_, _, offsets := client.Offsets(ctx, at.topic, at.partition)
		for i, err := range []error{fetch, produce, offsets} {
			if !errors.Is(err, pipeline.ErrUnknownTopic) {
				t.Errorf("%v: operation %d: %v", at, i, err)
			}
			if pipeline.IsPermanent(err) {
				t.Errorf("%v: the error of operation %d is permanent", at, i)
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
		t.Errorf("the request created the topic: %v", err)
	}
}

func messageTooLarge(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 1, map[string]string{"max.message.bytes": "10000"})
	for _, size := range []int{11000, 101 << 20} {
		_, err := client.Produce(pipelinetest.Context(t), topic, 0, []pipeline.Record{{Value: make([]byte, size)}})
		if !errors.Is(err, pipeline.ErrMessageTooLarge) || !pipeline.IsPermanent(err) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	pipelinetest.Produce(t, client, topic, 0, pipeline.Record{Value: make([]byte, 9000)})
	if _, err := client.Produce(pipelinetest.Context(t), topic, 0, nil); err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("no records: %v", err)
	}
}

func batchOverFetchSize(t *testing.T, s Source) {
	client := s.Open(t, Options{FetchMaxBytes: 1000})
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	long := bytes.Repeat([]byte("x"), 100000)
	pipelinetest.Produce(t, client, topic, 0, pipeline.Record{Value: long})
	pipelinetest.Produce(t, client, topic, 0, pipeline.Record{Value: []byte("short")})
	got := pipelinetest.ReadUntil(t, client, topic, 0, 0, 2)
	if len(got) != 2 || !bytes.Equal(got[0].Value, long) || string(got[1].Value) != "short" {
		t.Errorf("%d records differ from the written ones", len(got))
	}
}
