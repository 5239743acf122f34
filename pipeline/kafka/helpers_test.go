package kafka_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

// patience bounds every wait of a test: generous, because nothing waits for it unless it fails.
const patience = 5 * time.Minute

func startBroker(t testing.TB, options embedded.Options) *embedded.Broker {
	t.Helper()
	broker, err := embedded.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := broker.Close(); err != nil {
			t.Error(err)
		}
	})
	return broker
}

// config is quick where speed is not what is tested. Sessions are long: members that get no processor for a while are members.
func config(addrs []string) kafka.Config {
	c := kafka.DefaultConfig()
	c.Brokers = addrs
	c.FetchMaxWait = 50 * time.Millisecond
	c.SessionTimeout = 20 * time.Second
	c.HeartbeatInterval = 50 * time.Millisecond
	c.PartitionWatchInterval = 100 * time.Millisecond
	return c
}

func dial(t testing.TB, c kafka.Config) *kafka.Client {
	t.Helper()
	client, err := kafka.New(c, logger(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func logger(t testing.TB) *zap.Logger {
	if os.Getenv("EERF_TEST_LOG") == "" {
		return zap.NewNop()
	}
	return zaptest.NewLogger(t)
}

func background(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// newTopic makes a topic of its own for a test, so that tests may share a broker.
func newTopic(t testing.TB, client *kafka.Client, partitions int, configs map[string]string) string {
	t.Helper()
	name := fmt.Sprintf("test-%s-%x", regexp.MustCompile("[^a-z0-9]+").ReplaceAllString(strings.ToLower(t.Name()), "-"), rand.Uint64())
	created, err := client.CreateTopics(background(t), []pipeline.TopicSpec{
		{Name: name, Partitions: partitions, Configs: configs},
	})
	if err != nil || len(created) != 1 {
		t.Fatalf("create %s: %v, %v", name, created, err)
	}
	return name
}

func values(texts ...string) []pipeline.Record {
	var records []pipeline.Record
	for _, text := range texts {
		records = append(records, pipeline.Record{Value: []byte(text)})
	}
	return records
}

func produce(t testing.TB, client *kafka.Client, topic string, partition int, records ...pipeline.Record) int64 {
	t.Helper()
	first, err := client.Produce(background(t), topic, partition, records)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

// readUntil fetches from an offset until the next offset reaches the end.
func readUntil(t testing.TB, client *kafka.Client, topic string, partition int, from, end int64) (records []pipeline.Record) {
	t.Helper()
	ctx := background(t)
	for from < end {
		fetched, err := client.Fetch(ctx, topic, partition, from)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, fetched.Records...)
		from = fetched.NextOffset
	}
	return records
}

func texts(records []pipeline.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, fmt.Sprintf("%d:%s", r.Offset, r.Value))
	}
	return strings.Join(all, " ")
}

// allocatedBy returns the bytes that a call, and whatever runs beside it, allocates.
func allocatedBy(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// eventually asks until it is so. Between two questions the processors are left to those that work on it.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: not yet", what)
		}
	}
}

func joined(records []pipeline.Record) string {
	var all strings.Builder
	for _, r := range records {
		all.Write(r.Value)
	}
	return all.String()
}

// readAll returns the records of partition 0 that can be read now, and where reading goes on.
func readAll(t testing.TB, log pipeline.Log, topic string) (got string, next int64) {
	t.Helper()
	var records []pipeline.Record
	next, err := pipeline.ReadAll(background(t), log, logger(t), topic, 0, func(r pipeline.Record) error {
		records = append(records, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts(records), next
}
