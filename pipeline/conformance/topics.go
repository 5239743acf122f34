package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

func topicsAreMade(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	ctx := pipelinetest.Context(t)
	policy := map[string]string{"cleanup.policy": "compact", "max.message.bytes": "2000000"}
	topic := pipelinetest.NewTopic(t, client, 3, policy)
	if n, err := client.Partitions(ctx, topic); n != 3 || err != nil {
		t.Fatalf("%d partitions, %v", n, err)
	}
	other := topic + "-other"
	created, err := client.CreateTopics(ctx, []pipeline.TopicSpec{
		{Name: topic, Partitions: 7}, {Name: other, Partitions: 1, Replication: 1}})
	if err != nil || !slices.Equal(created, []string{other}) {
		t.Errorf("created %v, %v", created, err)
	}
	configs, err := client.TopicConfig(ctx, topic)
	if err != nil || configs["cleanup.policy"] != "compact" || configs["max.message.bytes"] != "2000000" ||
		configs["retention.ms"] == "" {
		t.Errorf("configuration %v, %v", configs, err)
	}
	for range 2 {
		if err := client.GrowPartitions(ctx, topic, 5); err != nil {
			t.Error(err)
		}
	}
	if n, err := client.Partitions(ctx, topic); n != 5 || err != nil {
		t.Errorf("%d partitions, %v", n, err)
	}
	pipelinetest.Produce(t, client, topic, 4, pipeline.Record{Key: []byte("k"), Value: []byte("v")})
	if err := client.GrowPartitions(ctx, topic, 4); err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("shrunk: %v", err)
	}
	if created, err := client.CreateTopics(ctx, nil); err != nil || len(created) != 0 {
		t.Errorf("no topics: %v, %v", created, err)
	}
}

func oneTopicFails(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	good := pipelinetest.NewTopic(t, client, 1, nil) + "-good"
	created, err := client.CreateTopics(pipelinetest.Context(t), []pipeline.TopicSpec{
		{Name: good + "-none", Partitions: 0},
		{Name: good, Partitions: 1},
		{Name: good + "-many", Partitions: 1, Replication: 1000},
	})
	if !slices.Equal(created, []string{good}) || err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("created %v, %v", created, err)
	}
	for _, name := range []string{good + "-none", good + "-many"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q is missing from the error: %v", name, err)
		}
	}
}
