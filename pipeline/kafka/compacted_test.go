package kafka_test

import (
	"fmt"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

func TestReadingACompactedTopic(t *testing.T) {
	broker := startBroker(t, embedded.Options{})
	client := dial(t, config(broker.Addrs()))
	topic := pipelinetest.NewTopic(t, client, 1, map[string]string{"cleanup.policy": "compact", "delete.retention.ms": "0"})
	want := map[string]string{}
	put := func(key, value string) {
		record := pipeline.Record{Key: []byte(key), Value: []byte(value)}
		want[key] = value
		if value == "" {
			record.Value = nil
			delete(want, key)
		}
		pipelinetest.Produce(t, client, topic, 0, record, pipeline.Record{Key: []byte("always"), Value: []byte(key)})
	}
	for round := range 5 {
		for key := range 20 {
			put(fmt.Sprint(key), fmt.Sprintf("%d in %d", key, round))
		}
		put(fmt.Sprint(round), "")
		broker.Compact()
	}
	want["always"] = "4"

	first, next, err := client.Offsets(pipelinetest.Context(t), topic, 0)
	if err != nil || first == 0 {
		t.Fatalf("nothing was compacted away: first offset %d, %v", first, err)
	}
	got, records := map[string]string{}, 0
	at, err := pipeline.ReadAll(pipelinetest.Context(t), client, logger(t), topic, 0, func(r pipeline.Record) error {
		records++
		got[string(r.Key)] = string(r.Value)
		if r.Value == nil {
			delete(got, string(r.Key))
		}
		return nil
	})
	if err != nil || at != next || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("at %d of %d: %v, want %v, %v", at, next, got, want, err)
	}
	if records > 60 {
		t.Errorf("%d records were read, most should be compacted away", records)
	}
}
