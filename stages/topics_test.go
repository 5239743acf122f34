package stages

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

func TestCreateTopics(t *testing.T) {
	topics := Default().Topics
	broker := pipelinetest.NewBroker()
	done, err := CreateTopics(t.Context(), broker, topics)
	if err != nil || len(done) != 7 {
		t.Fatalf("did %v, %v", done, err)
	}
	if err := CheckTopics(t.Context(), broker, topics); err != nil {
		t.Fatalf("topics as they were created: %v", err)
	}
	partitions := map[string]int{topics.Events: 4, topics.Explorations: 1, topics.Scores: 4, topics.FeatureSets: 1,
		topics.Features: 4, topics.Models: 1, topics.DeadLetters: 4}
	for topic, want := range partitions {
		if got := must(broker.Partitions(t.Context(), topic)); got != want {
			t.Errorf("%s has %d partitions, want %d", topic, got, want)
		}
		config := must(broker.TopicConfig(t.Context(), topic))
		if config["max.message.bytes"] != strconv.Itoa(8<<20) {
			t.Errorf("%s takes messages of %s bytes", topic, config["max.message.bytes"])
		}
		compacted := slices.Contains([]string{topics.Explorations, topics.Scores, topics.FeatureSets, topics.Models}, topic)
		if (config["cleanup.policy"] == "compact") != compacted {
			t.Errorf("%s has cleanup policy %q", topic, config["cleanup.policy"])
		}
	}
	if got := must(broker.TopicConfig(t.Context(), topics.Features))["retention.ms"]; got != "604800000" {
		t.Errorf("features are kept for %s ms", got)
	}
	if again, err := CreateTopics(t.Context(), broker, topics); err != nil || len(again) != 0 {
		t.Errorf("did %v again, %v", again, err)
	}
}

func TestSegmentsFitKafkasNumbers(t *testing.T) {
	topics := Default().Topics
	for size, want := range map[int64]string{1 << 20: "67108864", 64 << 20: "268435456", math.MaxInt32: "2147483647"} {
		topics.MaxMessageBytes = size
		for _, spec := range topics.Specs(1) {
			if got, compacted := spec.Configs["segment.bytes"]; compacted && got != want {
				t.Errorf("%s with messages of %d bytes: segments of %s, want %s", spec.Name, size, got, want)
			}
		}
	}
}

func TestCreateTopicsFollowsTheEventsThatAreThere(t *testing.T) {
	topics := Default().Topics
	broker := pipelinetest.NewBroker()
	broker.AddTopic(topics.Events, 6)
	broker.AddTopic(topics.Scores, 2)
	broker.AddTopic(topics.Features, 8) // more than needed stays
	done, err := CreateTopics(t.Context(), broker, topics)
	if err != nil || !slices.Contains(done, "grew scores from 2 to 6 partitions") {
		t.Fatalf("did %v, %v", done, err)
	}
	for topic, want := range map[string]int{topics.Scores: 6, topics.Features: 8, topics.DeadLetters: 6} {
		if got := must(broker.Partitions(t.Context(), topic)); got != want {
			t.Errorf("%s has %d partitions, want %d", topic, got, want)
		}
	}
}

func TestCheckTopicsReportsEverythingAtOnce(t *testing.T) {
	topics := Default().Topics
	broker := pipelinetest.NewBroker()
	if err := CheckTopics(t.Context(), broker, topics); !errors.Is(err, pipeline.ErrUnknownTopic) || pipeline.IsPermanent(err) {
		t.Errorf("no topics: error %v, which waiting may mend", err)
	}
	broker.AddConfiguredTopic(topics.Events, 3, map[string]string{"cleanup.policy": "delete,compact"})
	broker.AddTopic(topics.Scores, 2)
	broker.AddTopic(topics.Explorations, 1)
	err := CheckTopics(t.Context(), broker, topics)
	for _, want := range []error{ErrCompactedEvents, ErrNotCoPartitioned, pipeline.ErrUnknownTopic} {
		if !errors.Is(err, want) {
			t.Errorf("%v is not in %v", want, err)
		}
	}
	for _, topic := range []string{topics.Scores, topics.FeatureSets, topics.Models, topics.Features, topics.DeadLetters} {
		if !strings.Contains(err.Error(), topic) {
			t.Errorf("%s is not in %v", topic, err)
		}
	}
	if !pipeline.IsPermanent(err) {
		t.Error("waiting does not mend compacted events")
	}
}

func TestEventProducer(t *testing.T) {
	rows := events(t, taskRegression, 1000, 95, faults{})
	broker := pipelinetest.NewBroker()
	broker.AddTopic("events", 3)
	p, err := NewEventProducer(t.Context(), broker, "events", 64)
	if err != nil {
		t.Fatal(err)
	}
	batches := cut(t, rows, upToRows(rand.New(rand.NewPCG(1, 1)), 300))
	for _, batch := range batches {
		if err := p.Add(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	total := 0
	for partition := range 3 {
		records := broker.Records("events", partition)
		total += len(records)
		for _, r := range records {
			for _, batch := range decode(t, r.Value) {
				if batch.NumRows() > 64 {
					t.Fatalf("%d rows in a message", batch.NumRows())
				}
				for i := range int(batch.NumRows()) {
					seen[batch.Column(5).ValueStr(i)] = true
				}
			}
		}
		if d := len(records) - total/(partition+1); d < -1 || d > 1 {
			t.Errorf("partition %d has %d messages", partition, len(records))
		}
	}
	if len(seen) != 1000 || p.Rows() != 1000 || p.Messages() != int64(total) {
		t.Fatalf("%d rows in %d messages, it says %d and %d", len(seen), total, p.Rows(), p.Messages())
	}
	if _, err := NewEventProducer(t.Context(), broker, "absent", 64); !errors.Is(err, pipeline.ErrUnknownTopic) {
		t.Errorf("error %v", err)
	}
	if _, err := NewEventProducer(t.Context(), broker, "events", 0); err == nil {
		t.Error("messages of no rows")
	}
	broker.FailNext(pipelinetest.OpProduce, pipeline.ErrMessageTooLarge)
	if err := p.Add(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(t.Context()); !errors.Is(err, pipeline.ErrMessageTooLarge) || !strings.Contains(err.Error(), "fewer rows") {
		t.Errorf("error %v does not say what to do", err)
	}
}

func TestCheckStages(t *testing.T) {
	if err := CheckStages(Stages()); err != nil {
		t.Error(err)
	}
	for _, names := range [][]string{nil, {"train", "trian"}} {
		if err := CheckStages(names); err == nil || !strings.Contains(err.Error(), "calibrate, subsample, select, featurize, train") {
			t.Errorf("%v: error %v does not list the stages", names, err)
		}
	}
}
