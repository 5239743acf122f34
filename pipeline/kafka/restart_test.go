package kafka_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

// surely tries until there is no error, as stages do where a broker is away or has just come back.
func surely(t *testing.T, what string, call func(ctx context.Context) error) {
	t.Helper()
	ctx := background(t)
	if err := pipeline.Try(ctx, logger(t), what, func() error { return call(ctx) }); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// surelyRead is readUntil on a cluster that may be disturbed.
func surelyRead(t *testing.T, client *kafka.Client, topic string, partition int, from, end int64) (records []pipeline.Record) {
	t.Helper()
	for from < end {
		surely(t, "fetch", func(ctx context.Context) error {
			fetched, err := client.Fetch(ctx, topic, partition, from)
			if err == nil {
				records, from = append(records, fetched.Records...), fetched.NextOffset
			}
			return err
		})
	}
	return records
}

// surelyProduce is produce on a cluster that may be disturbed. The record may be there more than once.
func surelyProduce(t *testing.T, client *kafka.Client, topic string, partition int, text string) {
	t.Helper()
	surely(t, "produce", func(ctx context.Context) error {
		_, err := client.Produce(ctx, topic, partition, values(text))
		return err
	})
}

// leaderMoves has another node lead while the old one lives and knows that it no longer does.
func leaderMoves(t *testing.T, on *cluster) {
	if on.kill != nil && on.real == nil {
		on = newEmbeddedThree(t)
	}
	if on.move == nil {
		t.Skip("no other node to lead, or none that this test can make lead")
	}
	client := dial(t, on.config())
	topic := newTopic(t, client, 2, nil)
	o := own(t, client, topic, topic)
	await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 2 })
	want := ""
	for i := range 4 {
		surelyProduce(t, client, topic, 1, fmt.Sprint(i))
		want += fmt.Sprintf(" %d:%d", i, i)
		if got := " " + texts(surelyRead(t, client, topic, 1, 0, int64(i)+1)); got != want {
			t.Fatalf("after %d moves:%s, want%s", i, got, want)
		}
		on.move(t, topic, 1)
	}
	o.mu.Lock()
	commit := o.owned[1].Commit
	o.mu.Unlock()
	surely(t, "commit", func(ctx context.Context) error { return commit(ctx, 3) })
}

// clusterRestarts ends every node without warning and starts it again on its data.
func clusterRestarts(t *testing.T, on *cluster) {
	if on.kill == nil {
		t.Skip("a cluster that this test cannot end")
	}
	client := dial(t, on.config())
	topic := newTopic(t, client, 2, map[string]string{"cleanup.policy": "compact"})
	ctx := background(t)
	for i := range 10 {
		produce(t, client, topic, 1, pipeline.Record{Key: []byte(fmt.Sprint(i)), Value: []byte("v")})
	}
	o := own(t, client, topic, topic)
	await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 2 })
	o.mu.Lock()
	commit := o.owned[1].Commit
	o.mu.Unlock()
	if err := commit(ctx, 7); err != nil {
		t.Fatal(err)
	}
	fetchTogether(t, client, topic, 3, 0) // several connections, so that a stale one is not the only one

	on.kill(t)
	if _, err := client.Fetch(ctx, topic, 1, 0); err == nil || pipeline.IsPermanent(err) {
		t.Errorf("fetch without a broker: %v", err)
	}
	await(t, o, o, "revoked without a broker", func(a, _ []int) bool { return len(a) == 0 })
	on.start(t)

	if got := surelyRead(t, client, topic, 1, 0, 10); len(got) != 10 || string(got[3].Key) != "3" {
		t.Errorf("%d records", len(got))
	}
	surely(t, "produce", func(ctx context.Context) error {
		_, err := client.Produce(ctx, topic, 1, []pipeline.Record{{Key: []byte("next"), Value: []byte("v")}})
		return err
	})
	surely(t, "what was committed", func(ctx context.Context) error {
		next, err := client.Committed(ctx, topic, topic, 1)
		if err == nil && next != 7 { // a coordinator answers with what replicas are known to have: after a restart, that comes
			err = fmt.Errorf("committed %d, want 7", next)
		}
		return err
	})
	surely(t, "configuration", func(ctx context.Context) error {
		configs, err := client.TopicConfig(ctx, topic)
		if err == nil && configs["cleanup.policy"] != "compact" {
			t.Errorf("configuration %v", configs)
		}
		return err
	})
	await(t, o, o, "assigned again", func(a, _ []int) bool { return len(a) == 2 })
}
