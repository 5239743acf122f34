package stages

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

func TestTrainRunnerLogsOnceForAllBadMessagesOfARead(t *testing.T) {
	set := explore(t, testSettings(taskRegression), []arrow.Record{events(t, taskRegression, 600, 22, faults{})}).Set
	settings := testSettings(taskRegression)
	topics := settings.Topics
	broker := pipelinetest.NewBroker()
	broker.AddTopic(topics.Features, 1)
	broker.AddTopic(topics.DeadLetters, 1)
	const bad = 250 // more than one fetch
	if _, err := broker.Produce(t.Context(), topics.Features, 0, make([]pipeline.Record, bad)); err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.DebugLevel)
	r := NewTrainRunner(NewRuntime(broker, settings, zap.New(core)))
	published := &PublishedSet{ID: set.ID(), Set: set}
	for range 2 { // there is nothing new for the second one
		if err := r.catchUp(t.Context(), published); err != nil {
			t.Fatal(err)
		}
	}
	said := logs.All()
	if len(said) != 1 || said[0].ContextMap()["messages"] != int64(bad) || said[0].ContextMap()["first_error"] == "" {
		t.Fatalf("logged %v", said)
	}
	if got := len(broker.Records(topics.DeadLetters, 0)); got != bad || r.trainer.Counts().Undecodable != bad {
		t.Fatalf("%d dead letters, counts %+v", got, r.trainer.Counts())
	}
}
