package topics_test

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/topics"
)

func TestCreateTopics(t *testing.T) {
	names := topics.Default()
	broker := pipelinetest.NewBroker()
	done, err := topics.Create(t.Context(), broker, names)
	if err != nil || len(done) != 9 {
		t.Fatalf("did %v, %v", done, err)
	}
	if err := topics.Check(t.Context(), broker, names); err != nil {
		t.Fatalf("topics as they were created: %v", err)
	}
	partitions := map[string]int{
		names.Events:       4,
		names.Explorations: 1,
		names.Scores:       4,
		names.Samples:      4,
		names.FeatureSets:  1,
		names.Features:     4,
		names.Models:       1,
		names.Live:         4,
		names.DeadLetters:  4,
	}
	for topic, want := range partitions {
		if got := stagestest.Must(broker.Partitions(t.Context(), topic)); got != want {
			t.Errorf("%s has %d partitions, want %d", topic, got, want)
		}
		config := stagestest.Must(broker.TopicConfig(t.Context(), topic))
		if config["max.message.bytes"] != strconv.Itoa(8<<20) {
			t.Errorf("%s takes messages of %s bytes", topic, config["max.message.bytes"])
		}
		compacted := slices.Contains([]string{names.Explorations, names.Scores, names.FeatureSets, names.Models}, topic)
		if (config["cleanup.policy"] == "compact") != compacted {
			t.Errorf("%s has cleanup policy %q", topic, config["cleanup.policy"])
		}
	}
	if got := stagestest.Must(broker.TopicConfig(t.Context(), names.Features))["retention.ms"]; got != "604800000" {
		t.Errorf("features are kept for %s ms", got)
	}
	if again, err := topics.Create(t.Context(), broker, names); err != nil || len(again) != 0 {
		t.Errorf("did %v again, %v", again, err)
	}
}

// A pipeline that uses another one's sets has four topics of its own, and needs three topics of the
// other.
func TestTopicsOfAPipelineThatFollows(t *testing.T) {
	own := topics.Default().Unnamed()
	own.Models = "shared.models"
	live := own.Reading("live", "shop")
	want := topics.Config{
		Events:       "live.events",
		Features:     "live.features",
		Live:         "live.live",
		DeadLetters:  "live.dead-letters",
		Explorations: "shop.explorations",
		FeatureSets:  "shop.feature-sets",
		Models:       "shared.models",
	}
	if got := live.Unnamed(); got != own.Unnamed() {
		t.Errorf("settings %+v", got)
	}
	broker := pipelinetest.NewBroker()
	done, err := topics.Create(t.Context(), broker, live)
	if names := []string{
		"created " + want.Events,
		"created " + want.Features,
		"created " + want.Live,
		"created " + want.DeadLetters,
	}; err != nil ||
		!slices.Equal(done, names) {
		t.Errorf("did %v, %v", done, err)
	}
	err = topics.Check(t.Context(), broker, live)
	for _, topic := range []string{want.Explorations, want.FeatureSets, want.Models} {
		if err == nil || !strings.Contains(err.Error(), topic) {
			t.Errorf("%v does not report missing topic %s", err, topic)
		}
		broker.AddTopic(topic, 1)
	}
	if err := topics.Check(t.Context(), broker, live); err != nil {
		t.Error(err)
	}
}

func TestSegmentsFitKafkasNumbers(t *testing.T) {
	names := topics.Default()
	for size, want := range map[int64]string{1 << 20: "67108864", 64 << 20: "268435456", math.MaxInt32: "2147483647"} {
		names.MaxMessageBytes = size
		for _, spec := range names.Specs(1) {
			if got, compacted := spec.Configs["segment.bytes"]; compacted && got != want {
				t.Errorf("%s with messages of %d bytes: segments of %s, want %s", spec.Name, size, got, want)
			}
		}
	}
}

func TestCreateTopicsFollowsTheEventsThatAreThere(t *testing.T) {
	names := topics.Default()
	broker := pipelinetest.NewBroker()
	broker.AddTopic(names.Events, 6)
	broker.AddTopic(names.Scores, 2)
	broker.AddTopic(names.Features, 8) // more than needed is kept
	done, err := topics.Create(t.Context(), broker, names)
	if err != nil || !slices.Contains(done, "grew scores from 2 to 6 partitions") {
		t.Fatalf("did %v, %v", done, err)
	}
	for topic, want := range map[string]int{names.Scores: 6, names.Features: 8, names.DeadLetters: 6} {
		if got := stagestest.Must(broker.Partitions(t.Context(), topic)); got != want {
			t.Errorf("%s has %d partitions, want %d", topic, got, want)
		}
	}
}

func TestCheckTopicsReportsEverythingAtOnce(t *testing.T) {
	names := topics.Default()
	broker := pipelinetest.NewBroker()
	if err := topics.Check(t.Context(), broker, names); !errors.Is(err, pipeline.ErrUnknownTopic) ||
		pipeline.IsPermanent(err) {
		t.Errorf("no topics: error %v, which waiting may fix", err)
	}
	broker.AddConfiguredTopic(names.Events, 3, map[string]string{"cleanup.policy": "delete,compact"})
	broker.AddTopic(names.Scores, 2)
	broker.AddTopic(names.Explorations, 1)
	err := topics.Check(t.Context(), broker, names)
	for _, want := range []error{topics.ErrCompactedEvents, topics.ErrNotCoPartitioned, pipeline.ErrUnknownTopic} {
		if !errors.Is(err, want) {
			t.Errorf("%v is not in %v", want, err)
		}
	}
	for _, topic := range []string{names.Scores, names.FeatureSets, names.Models, names.Features, names.DeadLetters} {
		if !strings.Contains(err.Error(), topic) {
			t.Errorf("%s is not in %v", topic, err)
		}
	}
	if !pipeline.IsPermanent(err) {
		t.Error("waiting does not fix compacted events")
	}
}

func TestAcknowledgedByTwoOfThreeReplicas(t *testing.T) {
	for replication, want := range map[int]string{0: "", 1: "1", 2: "1", 3: "2", 5: "2"} {
		names := topics.Default()
		names.Replication = replication
		for _, spec := range names.Specs(1) {
			if got := spec.Configs["min.insync.replicas"]; got != want {
				t.Errorf("%s with %d replicas: min.insync.replicas %q, want %q", spec.Name, replication, got, want)
			}
		}
	}
}
