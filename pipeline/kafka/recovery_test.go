package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// restartable is an embedded broker that comes back at the same address with the same data.
type restartable struct {
	*embedded.Broker
	options embedded.Options
}

func newRestartable(t *testing.T) *restartable {
	t.Helper()
	r := &restartable{options: embedded.Options{Dir: t.TempDir()}}
	r.Broker = startBroker(t, r.options)
	_, port, err := net.SplitHostPort(r.Addrs()[0])
	if err == nil {
		r.options.Port, err = strconv.Atoi(port)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *restartable) stop(t *testing.T) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func (r *restartable) start(t *testing.T) {
	t.Helper()
	r.Broker = startBroker(t, r.options)
}

func TestARestartedBrokerIsUsedAsBefore(t *testing.T) {
	broker := newRestartable(t)
	client := dial(t, config(broker.Addrs()))
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
	// Several connections at once, so that a stale one is not the only one.
	fetchTogether(t, client, topic, 3, 0)

	broker.stop(t)
	if _, err := client.Fetch(ctx, topic, 1, 0); err == nil || pipeline.IsPermanent(err) {
		t.Errorf("fetch without a broker: %v", err)
	}
	await(t, o, o, "revoked without a broker", func(a, _ []int) bool { return len(a) == 0 })
	broker.start(t)

	if got := readUntil(t, client, topic, 1, 0, 10); len(got) != 10 || string(got[3].Key) != "3" {
		t.Errorf("%d records", len(got))
	}
	if first := produce(t, client, topic, 1, values("next")...); first != 10 {
		t.Errorf("the next offset is %d", first)
	}
	if next, err := client.Committed(ctx, topic, topic, 1); next != 7 || err != nil {
		t.Errorf("committed %d, %v", next, err)
	}
	if configs, err := client.TopicConfig(ctx, topic); err != nil || configs["cleanup.policy"] != "compact" {
		t.Errorf("configuration %v, %v", configs, err)
	}
	await(t, o, o, "assigned again", func(a, _ []int) bool { return len(a) == 2 })
}

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
	broker := newRestartable(t)
	client := dial(t, config(broker.Addrs()))
	topic := newTopic(t, client, 2, nil)
	produce(t, client, topic, 1, values("a")...)
	for range 3 {
		fetchTogether(t, client, topic, 4, 0)
		broker.stop(t)
		broker.start(t)
		fetchTogether(t, client, topic, 4, 0)
		broker.stop(t)
		broker.start(t)
		if _, err := client.Partitions(background(t), topic); err != nil {
			t.Error(err)
		}
		broker.stop(t)
		broker.start(t)
		produce(t, client, topic, 0, values("b")...)
	}
}

func TestABrokerThatIsAwayEndsNothing(t *testing.T) {
	broker := newRestartable(t)
	addrs := broker.Addrs()
	broker.stop(t)
	client := dial(t, config(addrs))
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
	if took := o.end(t); took > time.Second {
		t.Errorf("own took %v to end", took)
	}

	broker.start(t)
	late := own(t, client, "group", "topic")
	created, err := client.CreateTopics(background(t), []pipeline.TopicSpec{{Name: "topic", Partitions: 1}})
	if err != nil || len(created) != 1 {
		t.Fatal(created, err)
	}
	await(t, late, late, "assigned", func(a, _ []int) bool { return len(a) == 1 })
	broker.stop(t)
	await(t, late, late, "revoked", func(a, _ []int) bool { return len(a) == 0 })
	if took := late.end(t); took > time.Second {
		t.Errorf("own took %v to end after the broker", took)
	}
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
	if took := own(t, client, "group", "topic").end(t); took > time.Second {
		t.Errorf("own took %v to end", took)
	}
}
