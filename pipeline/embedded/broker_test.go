package embedded_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 30 * time.Second

func start(t *testing.T, options embedded.Options) *embedded.Broker {
	t.Helper()
	broker, err := embedded.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, broker) })
	return broker
}

func stop(t *testing.T, broker *embedded.Broker) {
	t.Helper()
	if err := broker.Close(); err != nil {
		t.Error(err)
	}
}

func dial(t *testing.T, broker *embedded.Broker) *kafka.Client {
	t.Helper()
	client, err := kafka.New(kafka.Config{Brokers: broker.Addrs(), FetchMaxWait: 10 * time.Millisecond}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func background(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func create(t *testing.T, client *kafka.Client, topic string, configs map[string]string) {
	t.Helper()
	_, err := client.CreateTopics(background(t), []pipeline.TopicSpec{{Name: topic, Partitions: 2, Configs: configs}})
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, client *kafka.Client, topic, key, value string) {
	t.Helper()
	_, err := client.Produce(background(t), topic, 1, []pipeline.Record{{Key: []byte(key), Value: []byte(value)}})
	if err != nil {
		t.Fatal(err)
	}
}

// all returns the records of a topic, formatted as key=value.
func all(t *testing.T, client *kafka.Client, topic string) string {
	t.Helper()
	var found []string
	_, err := pipeline.ReadAll(background(t), client, zap.NewNop(), topic, 1, func(r pipeline.Record) error {
		found = append(found, string(r.Key)+"="+string(r.Value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, " ")
}

func TestDataSurvivesARestart(t *testing.T) {
	options := embedded.Options{Dir: t.TempDir()}
	broker := start(t, options)
	client := dial(t, broker)
	create(t, client, "topic", map[string]string{"max.message.bytes": "2000000"})
	put(t, client, "topic", "a", "1")
	put(t, client, "topic", "b", strings.Repeat("x", 1_500_000))
	stop(t, broker)

	client = dial(t, start(t, options))
	if got := all(t, client, "topic"); got != "a=1 b="+strings.Repeat("x", 1_500_000) {
		t.Errorf("got %d bytes back", len(got))
	}
	if n, err := client.Partitions(background(t), "topic"); n != 2 || err != nil {
		t.Errorf("%d partitions, %v", n, err)
	}
	if configs, err := client.TopicConfig(background(t), "topic"); err != nil ||
		configs["max.message.bytes"] != "2000000" {
		t.Errorf("configuration %v, %v", configs["max.message.bytes"], err)
	}
}

// A copy of the directory equals the state after a kill at that moment.
func TestAcknowledgedRecordsSurviveTheProcess(t *testing.T) {
	options := embedded.Options{Dir: t.TempDir()}
	client := dial(t, start(t, options))
	create(t, client, "topic", nil)
	var want []string
	for i := range 20 {
		put(t, client, "topic", "k", fmt.Sprint(i))
		want = append(want, fmt.Sprintf("k=%d", i))
	}
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(options.Dir)); err != nil {
		t.Fatal(err)
	}
	if got := all(t, dial(t, start(t, embedded.Options{Dir: killed})), "topic"); got != strings.Join(want, " ") {
		t.Error(got)
	}
}

func TestCompactionContinuesAfterARestart(t *testing.T) {
	options := embedded.Options{Dir: t.TempDir()}
	broker := start(t, options)
	client := dial(t, broker)
	create(t, client, "topic", map[string]string{"cleanup.policy": "compact"})
	for i := range 5 {
		put(t, client, "topic", "k", fmt.Sprint(i))
		put(t, client, "topic", "l", fmt.Sprint(i))
	}
	stop(t, broker)

	options.CompactEvery = 10 * time.Millisecond
	client = dial(t, start(t, options))
	ctx := background(t)
	for all(t, client, "topic") != "l=3 k=4 l=4" { // the newest batch is not compacted and is ignored
		if ctx.Err() != nil {
			t.Fatalf("topic still holds %s after compaction", all(t, client, "topic"))
		}
	}
}

func TestDirectoryIsLockedForOneBroker(t *testing.T) {
	options := embedded.Options{Dir: t.TempDir()}
	broker := start(t, options)
	if second, err := embedded.Start(options); err == nil || !strings.Contains(err.Error(), "locked by another broker") {
		t.Errorf("second broker on the same directory: %v, %v", second, err)
	}
	stop(t, broker)
	start(t, options)
}

func TestTemporaryDirectoryIsRemoved(t *testing.T) {
	parent := t.TempDir()
	t.Setenv("TMPDIR", parent)
	broker := start(t, embedded.Options{})
	before, _ := os.ReadDir(parent)
	stop(t, broker)
	after, err := os.ReadDir(parent)
	if len(before) != 1 || len(after) != 0 || err != nil {
		t.Errorf("%v, then %v, %v", before, after, err)
	}
	broker.Compact()
	stop(t, broker)
	if len(broker.Addrs()) != 1 {
		t.Error("a stopped broker no longer returns its address")
	}
}
