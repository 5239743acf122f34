package pipeline_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// askedLog notes the offsets that are asked for.
type askedLog struct {
	*pipelinetest.Broker
	mu     sync.Mutex
	asked  []int64
	second chan struct{} // closed by the second fetch
}

func (l *askedLog) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	l.mu.Lock()
	if l.asked = append(l.asked, offset); len(l.asked) == 2 {
		close(l.second)
	}
	l.mu.Unlock()
	return l.Broker.Fetch(ctx, topic, partition, offset)
}

func TestRunPartitionFetchesAhead(t *testing.T) {
	log := &askedLog{Broker: newLog(t, 250), second: make(chan struct{})}
	p := &recorder{doneAt: 250}
	p.process = func(context.Context) error {
		<-log.second // the next fetch begins while this one's records are handled
		return nil
	}
	if err := runPartition(t.Context(), log, p); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.offsets, upTo(0, 250)) || !slices.Equal(log.asked, []int64{0, 100, 200}) {
		t.Errorf("asked for %v, got offsets %v", log.asked, p.offsets)
	}
}

func TestRunPartitionDropsWhatItFetchedAheadForNothing(t *testing.T) {
	log := &askedLog{Broker: newLog(t, 250), second: make(chan struct{})}
	p := &recorder{doneAt: 250}
	p.process = func(context.Context) error {
		if p.next == 100 {
			p.next = 130
		}
		return nil
	}
	if err := runPartition(t.Context(), log, p); err != nil {
		t.Fatal(err)
	}
	if want := append(upTo(0, 100), upTo(130, 250)...); !slices.Equal(p.offsets, want) {
		t.Errorf("offsets %v", p.offsets)
	}
}
