package subsample_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/subsample"
	"github.com/eerf-stream/eerf/stages/topics"
)

// For an event whose key and headers take nearly all that the broker accepts, only coordinates and reason are
// sent.
func TestDeadLettersOfSourcesNearTheLimit(t *testing.T) {
	names := topics.Default()
	broker := pipelinetest.NewBroker()
	for _, name := range []string{names.Events, names.Scores, names.Samples} {
		broker.AddTopic(name, 3)
	}
	broker.AddConfiguredTopic(names.DeadLetters, 3, map[string]string{"max.message.bytes": fmt.Sprint(8000)})
	pipelinetest.Produce(t, broker, names.Events, 2, pipeline.Record{
		Key: make([]byte, 4000), Value: []byte("no arrow"), Headers: []pipeline.Header{{Key: "blob", Value: make([]byte, 4000)}},
	})
	spec := explored.Spec(t, explored.Events(stagestest.Regression), explored.Exploration(),
		stagestest.Events(t, stagestest.Regression, 100, 41, stagestest.Faults{}))
	spec.Partitions[0].Partition = 2
	spec.Exploration = wire.ExplorationID(spec)
	r := &subsample.Runner{
		Broker: broker, State: state.Still(state.Config{Pipeline: "test"}, state.Snapshot{Spec: spec}), Meter: meter.New(),
		Logger: zap.NewNop(), Clock: time.Now, Pipeline: "test", Group: "subsample", Topics: names, Config: subsample.Default(),
		CandidateMemory: scoring.DefaultMemory, DrainTimeout: time.Second,
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stagestest.Until(t, "committed offset", func() bool {
		next, err := broker.Committed(t.Context(), "subsample", names.Events, 2)
		return err == nil && next == 1
	})
	cancel()
	if err := stagestest.Await(t, "end", done); err != nil {
		t.Fatal(err)
	}
	letters := broker.Records(names.DeadLetters, 2)
	if len(letters) != 1 {
		t.Fatalf("%d dead letters", len(letters))
	}
	if stage, reason := stagestest.Header(t, letters[0], wire.HeaderErrorStage), stagestest.Header(t, letters[0], wire.HeaderErrorReason); stage != meter.StageSubsample || reason != "not_arrow" {
		t.Errorf("a dead letter of %s for %s", stage, reason)
	}
	if letters[0].Key != nil || letters[0].Value != nil || len(letters[0].Headers) != len(wire.DeadLetter{}.Headers()) {
		t.Errorf("%d bytes of the source are in the dead letter", letters[0].Size())
	}
}
