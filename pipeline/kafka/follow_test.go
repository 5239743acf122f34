package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
)

// compactedTopic reads a topic while it is compacted, from every offset: what compaction leaves differs from
// broker to broker, and some leave batches without records.
func compactedTopic(t *testing.T, on *cluster) {
	c := on.config()
	c.FetchMaxBytes = 1 // one batch at a time
	client := dial(t, c)
	topic := newTopic(t, client, 1, map[string]string{
		"cleanup.policy": "compact", "segment.ms": "50", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "0"})
	const keys, rounds = 5, 20
	for round := range rounds {
		// The last batch of an idempotent producer stays, without records, for its sequence number.
		writer := otherClient(t, on)
		for key := range keys {
			record := &kgo.Record{Topic: topic, Key: fmt.Append(nil, key), Value: fmt.Append(nil, round)}
			if err := writer.ProduceSync(background(t), record).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually(t, "compaction", func() bool {
		produce(t, client, topic, 0, pipeline.Record{Key: []byte("tick"), Value: []byte("x")}) // has the segment closed
		records := 0
		_, err := pipeline.ReadAll(background(t), client, logger(t), topic, 0, func(r pipeline.Record) error {
			if string(r.Key) != "tick" {
				records++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return records == keys
	})
	first, next, err := client.Offsets(background(t), topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	empty := 0
	for from := first; from < min(next, keys*rounds); from++ {
		at := from
		for at < next {
			fetched, err := client.Fetch(background(t), topic, 0, at)
			var outside *pipeline.OffsetOutOfRangeError
			if errors.As(err, &outside) && outside.First > at {
				at = outside.First // the embedded broker moves the start along
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if fetched.NextOffset <= at {
				t.Fatalf("from %d: stuck at %d", from, at)
			}
			if len(fetched.Records) == 0 {
				empty++
			}
			at = fetched.NextOffset
		}
	}
	if on.real != nil && empty == 0 {
		t.Error("Apache Kafka left no batch without records: this tests less than it should")
	}
	t.Logf("offsets %d to %d, %d answers without records on the way", first, next, empty)
}

func TestFollowingACompactedTopic(t *testing.T) {
	broker := startBroker(t, embedded.Options{})
	client := dial(t, config(broker.Addrs()))
	topic := newTopic(t, client, 1, map[string]string{"cleanup.policy": "compact", "delete.retention.ms": "0"})
	want := map[string]string{}
	put := func(key, value string) {
		record := pipeline.Record{Key: []byte(key), Value: []byte(value)}
		want[key] = value
		if value == "" {
			record.Value = nil
			delete(want, key)
		}
		produce(t, client, topic, 0, record, pipeline.Record{Key: []byte("always"), Value: []byte(key)})
	}
	for round := range 5 {
		for key := range 20 {
			put(fmt.Sprint(key), fmt.Sprintf("%d in %d", key, round))
		}
		put(fmt.Sprint(round), "")
		broker.Compact()
	}
	want["always"] = "4"

	first, next, err := client.Offsets(background(t), topic, 0)
	if err != nil || first == 0 {
		t.Fatalf("nothing was compacted away: first offset %d, %v", first, err)
	}
	ctx, stop := context.WithCancel(background(t))
	defer stop()
	got, records := map[string]string{}, 0
	apply := func(r pipeline.Record) error {
		records++
		got[string(r.Key)] = string(r.Value)
		if r.Value == nil {
			delete(got, string(r.Key))
		}
		if string(r.Key) == "last" {
			stop()
		}
		return nil
	}
	err = pipeline.Follow(ctx, client, logger(t), topic, 0, apply, func(at int64) {
		if at != next || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("at %d of %d: %v, want %v", at, next, got, want)
		}
		produce(t, client, topic, 0, pipeline.Record{Key: []byte("last"), Value: []byte("word")})
	})
	if err != nil || got["last"] != "word" {
		t.Errorf("%v, %v", got, err)
	}
	if records > 60 {
		t.Errorf("%d records were read, most should be compacted away", records)
	}
}
