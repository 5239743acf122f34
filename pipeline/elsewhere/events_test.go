package elsewhere_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/elsewhere"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// onlySource hides that a broker can do more than a source.
type onlySource struct{ pipeline.Source }

// Events of another source need nothing but a [pipeline.Source]; every other topic stays with the broker.
func TestEventsFromAnotherSource(t *testing.T) {
	ctx := t.Context()
	other, here := pipelinetest.NewBroker(), pipelinetest.NewBroker()
	other.AddTopic("t", 1)
	if _, err := other.Produce(ctx, "t", 0, pipelinetest.Values("a", "b", "c")); err != nil {
		t.Fatal(err)
	}
	broker := pipeline.Observe(elsewhere.Events(here, "t", onlySource{other}))
	created, err := broker.CreateTopics(ctx, []pipeline.TopicSpec{{Name: "t", Partitions: 1}, {Name: "features", Partitions: 1}})
	if err != nil || len(created) != 1 {
		t.Fatalf("created %v, %v", created, err)
	}
	ctx, end := context.WithCancel(ctx)
	err = broker.Own(ctx, "g", "t", func(ctx context.Context, o pipeline.Ownership) error {
		defer end()
		_, err := pipeline.ReadAll(ctx, broker, zap.NewNop(), "t", o.Partition, func(r pipeline.Record) error {
			_, err := broker.Produce(ctx, "features", o.Partition, []pipeline.Record{{Value: r.Value}})
			return err
		})
		return errors.Join(err, o.Commit(ctx, 3, ""))
	})
	if err != nil {
		t.Fatal(err)
	}
	if written := pipelinetest.Texts(here.Records("features", 0)); written != "0:a 1:b 2:c" {
		t.Error(written)
	}
	if next, err := broker.Committed(t.Context(), "g", "t", 0); next.Next != 3 || err != nil {
		t.Errorf("committed %v, %v", next, err)
	}
	if _, err := broker.Produce(t.Context(), "t", 0, pipelinetest.Values("x")); !errors.Is(err, pipeline.ErrReadOnly) {
		t.Errorf("written to a source: %v", err)
	}
}
