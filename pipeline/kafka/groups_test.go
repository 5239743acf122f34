package kafka_test

import (
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// awaitGroup waits until the client reports one group and its status meets the condition.
func awaitGroup(
	t *testing.T,
	client *kafka.Client,
	what string,
	ok func(pipeline.GroupStatus) bool,
) pipeline.GroupStatus {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(pipelinetest.Patience); ; <-tick.C {
		groups := client.Groups()
		if len(groups) == 1 && ok(groups[0]) {
			return groups[0]
		}
		if time.Now().After(deadline) {
			t.Fatalf("timeout: %s; groups %+v", what, groups)
		}
	}
}

func TestGroupsIncludeMembersWithoutPartitions(t *testing.T) {
	server := startBroker(t, embedded.Options{})
	a, b := dial(t, config(server.Addrs())), dial(t, config(server.Addrs()))
	topic := pipelinetest.NewTopic(t, a, 1, nil)
	if groups := a.Groups(); len(groups) != 0 {
		t.Fatalf("groups %+v before the first join", groups)
	}
	first := pipelinetest.Own(t, a, "g-"+topic, topic)
	joined := awaitGroup(t, a, "one member", func(g pipeline.GroupStatus) bool { return g.Joined })
	if joined.Group != "g-"+topic || joined.Topic != topic || joined.Joins != 1 || len(joined.Partitions) != 1 {
		t.Errorf("status %+v", joined)
	}
	pipelinetest.Own(t, b, "g-"+topic, topic)
	ofB := awaitGroup(t, b, "second member", func(g pipeline.GroupStatus) bool { return g.Joined })
	ofA := awaitGroup(t, a, "first member again", func(g pipeline.GroupStatus) bool { return g.Joined && g.Joins > 1 })
	if len(ofA.Partitions)+len(ofB.Partitions) != 1 {
		t.Errorf("want one partition between them, got %v and %v", ofA.Partitions, ofB.Partitions)
	}
	first.Stop()
	awaitGroup(t, b, "the remaining member", func(g pipeline.GroupStatus) bool {
		return g.Joined && len(g.Partitions) == 1
	})
	if err := <-first.Done; err != nil {
		t.Fatal(err)
	}
	first.Done <- nil // for the cleanup
	if groups := a.Groups(); len(groups) != 0 {
		t.Errorf("groups %+v after leaving the last one", groups)
	}
}

// A member that stops answering after its join delays every join until its session ends.
func TestLeavingDoesNotWaitForAJoin(t *testing.T) {
	on := newEmbedded(t)
	c := on.config()
	c.LeaveTimeout = 100 * time.Millisecond
	client := dial(t, c)
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	joinAndStall(t, on, topic, "", false)
	o := pipelinetest.Own(t, client, topic, topic)
	o.End(t)
}
