package pipeline_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// accountedLog counts the held responses of data and of the project's own state. It fails the test
// when a holder of data fetches more data.
type accountedLog struct {
	*pipelinetest.Broker
	t *testing.T

	mu   sync.Mutex
	held [2]int
}

func (l *accountedLog) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	account := 0
	if pipeline.IsForState(ctx) {
		account = 1
	}
	if n := l.holds(account, 0); n > 0 {
		l.t.Errorf("fetch at offset %d while %d responses are held", offset, n)
	}
	fetched, err := l.Broker.Fetch(ctx, topic, partition, offset)
	if err != nil || len(fetched.Records) == 0 {
		return fetched, err
	}
	l.holds(account, 1)
	return fetched.Holding(func() { l.holds(account, -1) }), nil
}

func (l *accountedLog) holds(account, more int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[account] += more
	return l.held[account]
}

// After any change of the log, records that are not returned are released, and the reader does not
// fetch while holding records.
func TestReaderReleasesRecordsThatItDoesNotReturn(t *testing.T) {
	for _, c := range []struct {
		name  string
		watch pipeline.Watch
		while func(*pipelinetest.Broker)
	}{
		{"nothing happens", pipeline.WatchBatches, func(*pipelinetest.Broker) {}},
		{"recreated", pipeline.WatchLog, func(b *pipelinetest.Broker) { b.Recreate("t"); write(t, b, 12) }},
		{"recreated, by batches", pipeline.WatchBatches, func(b *pipelinetest.Broker) { b.Recreate("t"); write(t, b, 12) }},
		{
			"end lost and grown again",
			pipeline.WatchBatches,
			func(b *pipelinetest.Broker) { b.LoseEnd("t", 0, 2); write(t, b, 10) },
		},
		{"no identity to be had", pipeline.WatchBatches, func(b *pipelinetest.Broker) {
			b.LoseEnd("t", 0, 2)
			b.FailNext(pipeline.OpIdentity, pipeline.Permanent(errFault))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &accountedLog{Broker: newLog(t, 10), t: t}
				log.Split("t", 0, 4)
				log.SetFetchWait(time.Millisecond)
				r := pipeline.NewReader(log, zap.NewNop(), "t", 0, pipeline.ReadOptions{
					Until: pipeline.Forever, Watch: c.watch, OnGap: func(pipeline.Gap) error { return nil },
				})
				next := func() {
					if _, err := r.Next(t.Context()); err != nil && !errors.Is(err, errFault) {
						t.Fatal(err)
					}
				}
				next()
				c.while(log.Broker)
				for range 5 {
					next()
				}
				if r.Close(); log.held != [2]int{} {
					t.Errorf("%v responses are still held", log.held)
				}
			})
		})
	}
}

func TestCheckingABatchHoldsNoMemory(t *testing.T) {
	log := &accountedLog{Broker: newLog(t, 3), t: t}
	var marks []pipeline.Mark
	r := pipeline.NewReader(log, zap.NewNop(), "t", 0, pipeline.ReadOptions{Until: pipeline.PresentEnd})
	for record, err := range r.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		marks = append(marks, record.Batch)
	}
	for i, mark := range marks {
		if same, err := pipeline.Holds(t.Context(), log, zap.NewNop(), "t", 0, mark); !same || err != nil {
			t.Errorf("batch %d: %v, %v", i, same, err)
		}
	}
	if log.held != [2]int{} {
		t.Errorf("%v responses are still held", log.held)
	}
}
