package stagestest

import (
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

// Patience bounds each wait of a test. It is generous, because only a failing test waits that long.
const Patience = 90 * time.Second

// Broker is an embedded broker that can be stopped, and restarted at the same address with its
// records. It is stopped when the test ends.
type Broker struct {
	*embedded.Broker // nil while it is stopped

	t       testing.TB
	options embedded.Options
}

// NewBroker starts a broker.
func NewBroker(t testing.TB) *Broker {
	t.Helper()
	b := &Broker{t: t, options: embedded.Options{Dir: t.TempDir()}}
	b.Start()
	t.Cleanup(b.Stop)
	return b
}

// Start starts the broker after a Stop.
func (b *Broker) Start() {
	b.t.Helper()
	server, err := embedded.Start(b.options)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Broker = server
	_, port, err := net.SplitHostPort(b.Addr())
	if err == nil {
		b.options.Port, err = strconv.Atoi(port)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// Stop stops the broker; a second call does nothing.
func (b *Broker) Stop() {
	if b.Broker == nil {
		return
	}
	if err := b.Close(); err != nil {
		b.t.Error(err)
	}
	b.Broker = nil
}

// Addr is the broker's address.
func (b *Broker) Addr() string { return b.Addrs()[0] }

// Dial makes a client with short waits; edit, if not nil, changes its configuration. The client is
// closed when the test ends.
func (b *Broker) Dial(edit func(*kafka.Config)) *kafka.Client {
	b.t.Helper()
	c := kafka.DefaultConfig()
	c.Brokers, c.FetchMaxWait = b.Addrs(), 20*time.Millisecond
	c.SessionTimeout, c.HeartbeatInterval = 6*time.Second, 50*time.Millisecond
	c.PartitionWatchInterval = 100 * time.Millisecond
	if edit != nil {
		edit(&c)
	}
	client, err := kafka.New(c, Logger(b.t))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = client.Close() })
	return client
}

// Logger prints if EERF_TEST_LOG is set. It stops when the test ends, because runners may outlive
// the test briefly.
func Logger(t testing.TB) *zap.Logger {
	if os.Getenv("EERF_TEST_LOG") == "" {
		return zap.NewNop()
	}
	return zaptest.NewLogger(t)
}

// Until fails the test unless ok holds within [Patience]. It polls conditions that cannot be
// awaited.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(Patience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", Patience, what)
		}
	}
}

// All reads all records of a partition.
func All(t testing.TB, log pipeline.Log, topic string, partition int) []pipeline.Record {
	t.Helper()
	at, next, err := log.Offsets(t.Context(), topic, partition)
	var records []pipeline.Record
	for err == nil && at < next {
		var fetched pipeline.Fetched
		fetched, err = log.Fetch(t.Context(), topic, partition, at)
		records = append(records, fetched.Records...)
		at = fetched.NextOffset
		fetched.Release()
	}
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// Await receives from a channel, within [Patience].
func Await[T any](t testing.TB, what string, from <-chan T) (got T) {
	t.Helper()
	limit := time.NewTimer(Patience)
	defer limit.Stop()
	select {
	case got = <-from:
	case <-limit.C:
		t.Fatalf("not within %v: %s", Patience, what)
	}
	return got
}
