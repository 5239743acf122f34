package kafka_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func fetchTogether(t *testing.T, client pipeline.Log, topic string, n int, from int64) {
	t.Helper()
	errs := make(chan error, n)
	for range n {
		go func() {
			_, err := client.Fetch(background(t), topic, 1, from)
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestStaleConnectionsAreNotNoticed(t *testing.T) {
	on := newEmbedded(t)
	client := dial(t, on.config())
	topic := newTopic(t, client, 2, nil)
	produce(t, client, topic, 1, values("a")...)
	for range 3 {
		fetchTogether(t, client, topic, 4, 0)
		on.kill(t)
		on.start(t)
		fetchTogether(t, client, topic, 4, 0)
		on.kill(t)
		on.start(t)
		if _, err := client.Partitions(background(t), topic); err != nil {
			t.Error(err)
		}
		on.kill(t)
		on.start(t)
		produce(t, client, topic, 0, values("b")...)
	}
}

func TestABrokerThatIsAwayEndsNothing(t *testing.T) {
	on := newEmbedded(t)
	on.kill(t)
	c := on.config()
	c.LeaveTimeout = 2 * patience // is not waited for
	client := dial(t, c)
	o := own(t, client, "group", "topic")
	for what, call := range map[string]func(ctx context.Context) error{
		"fetch":      func(ctx context.Context) error { _, err := client.Fetch(ctx, "topic", 0, 0); return err },
		"produce":    func(ctx context.Context) error { _, err := client.Produce(ctx, "topic", 0, values("a")); return err },
		"offsets":    func(ctx context.Context) error { _, _, err := client.Offsets(ctx, "topic", 0); return err },
		"partitions": func(ctx context.Context) error { _, err := client.Partitions(ctx, "topic"); return err },
		"committed":  func(ctx context.Context) error { _, err := client.Committed(ctx, "group", "topic", 0); return err },
		"create": func(ctx context.Context) error {
			_, err := client.CreateTopics(ctx, []pipeline.TopicSpec{{Name: "topic", Partitions: 1}})
			return err
		},
	} {
		err := call(background(t))
		if err == nil || pipeline.IsPermanent(err) || errors.Is(err, pipeline.ErrUnknownTopic) {
			t.Errorf("%s: %v", what, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := call(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context: %v", what, err)
		}
	}
	o.end(t)

	on.start(t)
	late := own(t, client, "group", "topic")
	created, err := client.CreateTopics(background(t), []pipeline.TopicSpec{{Name: "topic", Partitions: 1}})
	if err != nil || len(created) != 1 {
		t.Fatal(created, err)
	}
	await(t, late, late, "assigned", func(a, _ []int) bool { return len(a) == 1 })
	on.kill(t)
	await(t, late, late, "revoked", func(a, _ []int) bool { return len(a) == 0 })
	late.end(t)
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if _, err := client.Partitions(background(t), "topic"); err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("a closed client: %v", err)
	}
}

// A silent broker takes connections and says nothing.
func TestASilentBrokerIsGivenUp(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	c := config([]string{listener.Addr().String()})
	c.RequestTimeout, c.DialTimeout = 100*time.Millisecond, 50*time.Millisecond
	client := dial(t, c)
	if _, err := client.Fetch(background(t), "topic", 0, 0); err == nil || pipeline.IsPermanent(err) {
		t.Error(err)
	}
	if _, err := client.Produce(background(t), "topic", 0, values("a")); err == nil || pipeline.IsPermanent(err) {
		t.Error(err)
	}
	own(t, client, "group", "topic").end(t)
}
