package kafka_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStaleConnectionsAreReplaced(t *testing.T) {
	on := newEmbedded(t)
	client := dial(t, on.config())
	topic := pipelinetest.NewTopic(t, client, 2, nil)
	pipelinetest.Produce(t, client, topic, 1, pipelinetest.Values("a")...)
	for range 3 {
		pipelinetest.FetchTogether(t, client, topic, 1, 4)
		on.kill(t)
		on.start(t)
		pipelinetest.FetchTogether(t, client, topic, 1, 4)
		on.kill(t)
		on.start(t)
		if _, err := client.Partitions(pipelinetest.Context(t), topic); err != nil {
			t.Error(err)
		}
		on.kill(t)
		on.start(t)
		pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("b")...)
	}
}

func TestTokenSurvivesAnUnavailableBroker(t *testing.T) {
	on := newEmbedded(t)
	on.kill(t)
	c := on.config()
	c.LeaveTimeout = 2 * pipelinetest.Patience // the test must not wait for it
	c.SessionTimeout = 2 * time.Second         // the test waits for half of it
	client := dial(t, c)
	o := pipelinetest.Own(t, client, "group", "topic")
	for what, call := range map[string]func(ctx context.Context) error{
		"fetch": func(ctx context.Context) error { _, err := client.Fetch(ctx, "topic", 0, 0); return err },
		"produce": func(ctx context.Context) error {
			_, err := client.Produce(ctx, "topic", 0, pipelinetest.Values("a"))
			return err
		},
		"offsets":    func(ctx context.Context) error { _, _, err := client.Offsets(ctx, "topic", 0); return err },
		"partitions": func(ctx context.Context) error { _, err := client.Partitions(ctx, "topic"); return err },
		"committed":  func(ctx context.Context) error { _, err := client.Committed(ctx, "group", "topic", 0); return err },
		"create": func(ctx context.Context) error {
			_, err := client.CreateTopics(ctx, []pipeline.TopicSpec{{Name: "topic", Partitions: 1}})
			return err
		},
	} {
		err := call(pipelinetest.Context(t))
		if err == nil || pipeline.IsPermanent(err) || errors.Is(err, pipeline.ErrUnknownTopic) {
			t.Errorf("%s: %v", what, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := call(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context: %v", what, err)
		}
	}
	o.End(t)

	on.start(t)
	late := pipelinetest.Own(t, client, "group", "topic")
	created, err := client.CreateTopics(pipelinetest.Context(t), []pipeline.TopicSpec{{Name: "topic", Partitions: 1}})
	if err != nil || len(created) != 1 {
		t.Fatal(created, err)
	}
	pipelinetest.Await(t, late, late, "assigned", func(a, _ []int) bool { return len(a) == 1 })
	on.kill(t)
	pipelinetest.Await(t, late, late, "revoked", func(a, _ []int) bool { return len(a) == 0 })
	late.End(t)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if _, err := client.Partitions(pipelinetest.Context(t), "topic"); err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("closed client: %v", err)
	}
}

// A silent broker accepts connections and never answers.
func TestMemberGivesUpPartitionsOfASilentBroker(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c := config([]string{listener.Addr().String()})
	c.RequestTimeout, c.DialTimeout = 100*time.Millisecond, 50*time.Millisecond
	client := dial(t, c)
	if _, err := client.Fetch(pipelinetest.Context(t), "topic", 0, 0); err == nil || pipeline.IsPermanent(err) {
		t.Error(err)
	}
	if _, err := client.Produce(pipelinetest.Context(t), "topic", 0, pipelinetest.Values("a")); err == nil ||
		pipeline.IsPermanent(err) {
		t.Error(err)
	}
	pipelinetest.Own(t, client, "group", "topic").End(t)
}
