package kafka_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// TestFetchMemoryIsBounded reads 200 partitions in parallel, each with a batch of zeros or of
// headers that decodes to a thousand times its stored size: in total many times the memory of
// fetches.
func TestFetchMemoryIsBounded(t *testing.T) {
	const partitions, budget = 200, 512 << 10
	c := config(startBroker(t, embedded.Options{}).Addrs())
	c.Compression = kafka.CompressionZstd
	c.FetchMaxBytes = budget / 4
	c.BatchBudgetBytes = budget
	c.FetchMemory = kafka.LeastFetchMemory(budget)
	client := dial(t, c)
	topic := pipelinetest.NewTopic(t, client, partitions, nil)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(8)
	for p := range partitions {
		group.Go(func() error {
			hostile := pipeline.Record{Value: make([]byte, budget*7/8)}
			if p%2 == 1 {
				hostile = pipeline.Record{Headers: make([]pipeline.Header, budget/64)}
			}
			_, err := client.Produce(ctx, topic, p, []pipeline.Record{hostile})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}

	var records atomic.Int64
	group, ctx = errgroup.WithContext(t.Context())
	for p := range partitions {
		group.Go(func() error {
			r := pipeline.NewReader(client, zap.NewNop(), topic, p, pipeline.ReadOptions{Until: 1, Ahead: true})
			for fetched, err := range r.Fetches(ctx) {
				if err != nil {
					return err
				}
				records.Add(int64(len(fetched.Records)))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	memory := client.FetchMemory()
	if records.Load() != partitions || memory.Used != 0 || memory.Waiting != 0 || memory.Peak > memory.Limit ||
		memory.Limit != c.FetchMemory {
		t.Errorf("%d records, %+v", records.Load(), memory)
	}
	if memory.Peak < budget {
		t.Errorf("peak of %d charged bytes", memory.Peak)
	}
}

// holdAll fetches events and keeps them until no memory is left.
func holdAll(t *testing.T, client *kafka.Client, topic string, partitions int) (held []pipeline.Fetched) {
	t.Helper()
	for p := range partitions {
		fetched, err := client.Fetch(pipeline.OnlyFree(t.Context()), topic, p, 0)
		switch {
		case errors.Is(err, pipeline.ErrNoMemory):
			return held
		case err != nil || len(fetched.Records) == 0:
			t.Fatalf("%d records, %v", len(fetched.Records), err)
		}
		held = append(held, fetched)
	}
	t.Fatalf("only %d fetches fit into memory", partitions)
	return nil
}

// TestStateIsReadWhileDataFillsTheMemory checks that holders of events may wait for the project's
// own topics, and that memory that they release goes to fetches waiting for events.
func TestStateIsReadWhileDataFillsTheMemory(t *testing.T) {
	const partitions, budget = 16, 1 << 20
	c := config(startBroker(t, embedded.Options{}).Addrs())
	c.FetchMaxBytes, c.BatchBudgetBytes, c.FetchMemory = budget, budget, kafka.LeastFetchMemory(budget)
	client := dial(t, c)
	topic := pipelinetest.NewTopic(t, client, partitions, nil)
	for p := range partitions {
		pipelinetest.Produce(t, client, topic, p, pipeline.Record{Value: make([]byte, budget/2)})
	}
	held := holdAll(t, client, topic, partitions)
	var waiting sync.WaitGroup
	for p := range partitions {
		waiting.Go(func() {
			r := pipeline.NewReader(client, zap.NewNop(), topic, p, pipeline.ReadOptions{Until: 1, Ahead: true})
			for _, err := range r.Fetches(t.Context()) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	pipelinetest.Eventually(t, "readers wait for memory", func() bool { return client.FetchMemory().Waiting > 0 })
	if _, err := pipeline.ReadAll(t.Context(), client, zap.NewNop(), topic, 0, func(pipeline.Record) error {
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := client.Fetch(ctx, topic, 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("fetch with an ended context: %v", err)
	}
	for _, fetched := range held {
		fetched.Release()
	}
	waiting.Wait()
	if memory := client.FetchMemory(); memory.Used != 0 || memory.Peak > memory.Limit {
		t.Errorf("fetch memory %+v", memory)
	}
}

// TestConnectionsDoNotGrowWithPartitions reads many idle partitions, one of which gets a message.
func TestConnectionsDoNotGrowWithPartitions(t *testing.T) {
	const partitions = 150
	broker := startBroker(t, embedded.Options{})
	writer := dial(t, config(broker.Addrs()))
	topic := pipelinetest.NewTopic(t, writer, partitions, nil)
	client := dial(t, config(broker.Addrs()))
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	var idle, read atomic.Int64
	for p := range partitions {
		readers.Go(func() {
			r := pipeline.NewReader(client, zap.NewNop(), topic, p, pipeline.ReadOptions{Until: pipeline.Forever, Ahead: true})
			for fetched, err := range r.Fetches(ctx) {
				if err != nil {
					return
				}
				if len(fetched.Records) == 0 {
					idle.Add(1)
				}
				read.Add(int64(len(fetched.Records)))
			}
		})
	}
	pipelinetest.Eventually(t, "all partitions have been idle twice", func() bool { return idle.Load() > 2*partitions })
	for p := range partitions {
		pipelinetest.Produce(t, writer, topic, p, pipelinetest.Values("event")...)
	}
	pipelinetest.Eventually(t, "all events are read", func() bool { return read.Load() == partitions })
	if connections := kafka.Connections(client); connections > 64 {
		t.Errorf("%d connections for %d partitions", connections, partitions)
	}
	stop()
	readers.Wait()
}
