package conformance

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// compactedTopic reads a compacted topic from every offset: the results of compaction differ
// between brokers, and some leave batches without records.
func compactedTopic(t *testing.T, s Source) {
	client := s.Open(t, Options{FetchMaxBytes: 1}) // one batch at a time
	topic := pipelinetest.NewTopic(t, client, 1, map[string]string{
		"cleanup.policy": "compact", "segment.ms": "50", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "0"})
	const keys, rounds = 5, 20
	for round := range rounds {
		// The last batch of an idempotent producer is kept as an empty batch, to preserve its
		// sequence number.
		writer := s.Writer(t, "")
		for key := range keys {
			writer.Produce(t, topic, pipeline.Record{Key: fmt.Append(nil, key), Value: fmt.Append(nil, round)})
		}
	}
	pipelinetest.Eventually(t, "compaction", func() bool {
		tick := pipeline.Record{Key: []byte("tick"), Value: []byte("x")} // closes the segment
		pipelinetest.Produce(t, client, topic, 0, tick)
		records := 0
		_, err := pipeline.ReadAll(pipelinetest.Context(t), client, zap.NewNop(), topic, 0, func(r pipeline.Record) error {
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
	first, next, err := client.Offsets(pipelinetest.Context(t), topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	empty := 0
	for from := first; from < min(next, keys*rounds); from++ {
		at := from
		for at < next {
			fetched, err := client.Fetch(pipelinetest.Context(t), topic, 0, at)
			var outside *pipeline.OffsetOutOfRangeError
			if errors.As(err, &outside) && outside.First > at {
				at = outside.First // the embedded broker moves the start
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			fetched.Release()
			if fetched.NextOffset <= at {
				t.Fatalf("from %d: stuck at %d", from, at)
			}
			if len(fetched.Records) == 0 {
				empty++
			}
			at = fetched.NextOffset
		}
	}
	if s.EmptyBatches && empty == 0 {
		t.Error("compaction left no batch without records, so the test does not cover them")
	}
	t.Logf("offsets %d to %d, %d responses without records", first, next, empty)
}

// leaderMoves makes another node the leader while the old one is alive and knows about it.
func leaderMoves(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 2, nil)
	o := pipelinetest.Own(t, client, topic, topic)
	pipelinetest.Await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 2 })
	want := ""
	for i := range 4 {
		pipelinetest.SurelyProduce(t, client, topic, 1, fmt.Sprint(i))
		want += fmt.Sprintf(" %d:%d", i, i)
		if got := " " + pipelinetest.Texts(pipelinetest.SurelyRead(t, client, topic, 1, 0, int64(i)+1)); got != want {
			t.Fatalf("after %d moves:%s, want%s", i, got, want)
		}
		s.Move(t, topic, 1)
	}
	commit := o.Ownership(1).Commit
	pipelinetest.Surely(t, "commit", func(ctx context.Context) error { return commit(ctx, 3, "") })
}

// clusterRestarts kills all nodes and restarts them on their data.
func clusterRestarts(t *testing.T, s Source) {
	client := s.Open(t, Options{SessionTimeout: 8 * time.Second}) // the test waits for half of it
	topic := pipelinetest.NewTopic(t, client, 2, map[string]string{"cleanup.policy": "compact"})
	ctx := pipelinetest.Context(t)
	for i := range 10 {
		pipelinetest.Produce(t, client, topic, 1, pipeline.Record{Key: []byte(fmt.Sprint(i)), Value: []byte("v")})
	}
	o := pipelinetest.Own(t, client, topic, topic)
	pipelinetest.Await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 2 })
	commit := o.Ownership(1).Commit
	if err := commit(ctx, 7, ""); err != nil {
		t.Fatal(err)
	}
	pipelinetest.FetchTogether(t, client, topic, 1, 3) // several connections, so that more than one is stale

	s.Kill(t)
	if _, err := client.Fetch(ctx, topic, 1, 0); err == nil || pipeline.IsPermanent(err) {
		t.Errorf("fetch without a broker: %v", err)
	}
	pipelinetest.Await(t, o, o, "revoked without a broker", func(a, _ []int) bool { return len(a) == 0 })
	s.Start(t)

	if got := pipelinetest.SurelyRead(t, client, topic, 1, 0, 10); len(got) != 10 || string(got[3].Key) != "3" {
		t.Errorf("%d records", len(got))
	}
	pipelinetest.Surely(t, "produce", func(ctx context.Context) error {
		_, err := client.Produce(ctx, topic, 1, []pipeline.Record{{Key: []byte("next"), Value: []byte("v")}})
		return err
	})
	pipelinetest.Surely(t, "committed offset", func(ctx context.Context) error {
		found, err := client.Committed(ctx, topic, topic, 1)
		if err == nil && found.Next != 7 { // until the restarted coordinator knows the contents of its replicas
			err = fmt.Errorf("committed %d, want 7", found.Next)
		}
		return err
	})
	pipelinetest.Surely(t, "configuration", func(ctx context.Context) error {
		configs, err := client.TopicConfig(ctx, topic)
		if err == nil && configs["cleanup.policy"] != "compact" {
			t.Errorf("configuration %v", configs)
		}
		return err
	})
	pipelinetest.Await(t, o, o, "reassigned", func(a, _ []int) bool { return len(a) == 2 })
}
