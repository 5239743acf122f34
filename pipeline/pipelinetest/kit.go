package pipelinetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

// Patience limits every wait of a test. It is generous, because it matters only if the test fails.
const Patience = 5 * time.Minute

// Context returns a context that ends after [Patience], or with the test.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// NewTopic creates a topic for one test, so that tests may share a broker.
func NewTopic(t testing.TB, admin pipeline.Control, partitions int, configs map[string]string) string {
	t.Helper()
	of := regexp.MustCompile("[^a-z0-9]+").ReplaceAllString(strings.ToLower(t.Name()), "-")
	name := fmt.Sprintf("test-%s-%x", of, rand.Uint64())
	specs := []pipeline.TopicSpec{{Name: name, Partitions: partitions, Configs: configs}}
	created, err := admin.CreateTopics(Context(t), specs)
	if err != nil || len(created) != 1 {
		t.Fatalf("create %s: %v, %v", name, created, err)
	}
	return name
}

// Values returns records with these values.
func Values(texts ...string) []pipeline.Record {
	var records []pipeline.Record
	for _, text := range texts {
		records = append(records, pipeline.Record{Value: []byte(text)})
	}
	return records
}

// Texts formats records as offset:value.
func Texts(records []pipeline.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, fmt.Sprintf("%d:%s", r.Offset, r.Value))
	}
	return strings.Join(all, " ")
}

// Joined concatenates the values of records.
func Joined(records []pipeline.Record) string {
	var all strings.Builder
	for _, r := range records {
		all.Write(r.Value)
	}
	return all.String()
}

// Produce appends records and returns the offset of the first.
func Produce(t testing.TB, log pipeline.Producer, topic string, partition int, records ...pipeline.Record) int64 {
	t.Helper()
	first, err := log.Produce(Context(t), topic, partition, records)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

// ReadUntil fetches from an offset until the next offset reaches the end.
func ReadUntil(
	t testing.TB,
	log pipeline.Log,
	topic string,
	partition int,
	from int64,
	end int64,
) (records []pipeline.Record) {
	t.Helper()
	ctx := Context(t)
	for from < end {
		fetched, err := log.Fetch(ctx, topic, partition, from)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, fetched.Records...)
		from = fetched.NextOffset
		fetched.Release()
	}
	return records
}

// Eventually calls so until it returns true, with pauses that leave the processors to the code
// under test.
func Eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	limit := time.After(Patience)
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

// Surely retries until call succeeds, as stages do while a broker is unavailable.
func Surely(t testing.TB, what string, call func(ctx context.Context) error) {
	t.Helper()
	ctx := Context(t)
	if err := pipeline.Try(ctx, zap.NewNop(), what, func() error { return call(ctx) }); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// SurelyRead is [ReadUntil] on a cluster that may be disturbed.
func SurelyRead(
	t testing.TB,
	log pipeline.Log,
	topic string,
	partition int,
	from int64,
	end int64,
) (records []pipeline.Record) {
	t.Helper()
	for from < end {
		Surely(t, "fetch", func(ctx context.Context) error {
			fetched, err := log.Fetch(ctx, topic, partition, from)
			if err == nil {
				records, from = append(records, fetched.Records...), fetched.NextOffset
				fetched.Release()
			}
			return err
		})
	}
	return records
}

// SurelyProduce is [Produce] on a cluster that may be disturbed. The record may be written more
// than once.
func SurelyProduce(t testing.TB, log pipeline.Producer, topic string, partition int, text string) {
	t.Helper()
	Surely(t, "produce", func(ctx context.Context) error {
		_, err := log.Produce(ctx, topic, partition, Values(text))
		return err
	})
}

// FetchTogether sends n concurrent fetches from offset 0 of a partition.
func FetchTogether(t testing.TB, log pipeline.Log, topic string, partition, n int) {
	t.Helper()
	ctx := Context(t)
	errs := make(chan error, n)
	for range n {
		go func() {
			fetched, err := log.Fetch(ctx, topic, partition, 0)
			fetched.Release()
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
