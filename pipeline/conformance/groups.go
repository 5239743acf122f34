package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

func membersShare(t *testing.T, s Source) {
	first, second := s.Open(t, Options{}), s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, first, 4, nil)
	a := pipelinetest.Own(t, first, topic, topic)
	pipelinetest.Await(t, a, a, "one member has all", func(a, _ []int) bool { return len(a) == 4 })
	b := pipelinetest.Own(t, second, topic, topic)
	pipelinetest.Await(t, a, b, "two members share", func(a, b []int) bool {
		return len(a) == 2 && len(b) == 2 && pipelinetest.AllOf(4)(a, b)
	})
	a.End(t)
	pipelinetest.Await(t, a, b, "the remaining member has all", func(_, b []int) bool { return len(b) == 4 })
	c := pipelinetest.Own(t, first, topic, topic)
	pipelinetest.Await(t, c, b, "a new one takes its share", func(c, b []int) bool {
		return len(c) == 2 && pipelinetest.AllOf(4)(c, b)
	})
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if err := <-b.Done; err != nil {
		t.Errorf("Own of a closed client: %v", err)
	}
	b.Done <- nil
	pipelinetest.Await(t, c, b, "closing a client leaves its groups", func(c, _ []int) bool { return len(c) == 4 })
	err := second.Own(pipelinetest.Context(t), topic, topic, nil)
	if err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("closed client owns partitions: %v", err)
	}
}

func offsetsAreCommitted(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 2, nil)
	ctx := pipelinetest.Context(t)
	if found, err := client.Committed(ctx, topic, topic, 1); found.Next != -1 || err != nil {
		t.Errorf("committed offset without a commit: %v, %v", found, err)
	}
	o := pipelinetest.Own(t, client, topic, topic)
	pipelinetest.Await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 2 })
	former := o.Ownership(1)
	for _, next := range []int64{3, 2, 17} {
		if err := former.Commit(ctx, next, ""); err != nil {
			t.Fatal(err)
		}
		if got, err := client.Committed(ctx, topic, topic, 1); got != (pipeline.Committed{Next: next}) || err != nil {
			t.Errorf("committed %v, %v", got, err)
		}
	}
	if found, err := client.Committed(ctx, topic, topic, 0); found.Next != -1 || err != nil {
		t.Errorf("committed offset of partition 0 without a commit: %v, %v", found, err)
	}
	o.End(t)
	if err := former.Commit(ctx, 99, ""); err == nil {
		t.Error("a former member committed")
	}
	if found, _ := client.Committed(ctx, topic, topic, 1); found.Next != 17 {
		t.Errorf("committed offset is %d", found.Next)
	}
}

func runReturnsEarly(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 2, nil)
	ctx, stop := context.WithCancel(pipelinetest.Context(t))
	starts := make(chan int, 100)
	done := make(chan error, 1)
	go func() {
		done <- client.Own(ctx, topic, topic, func(ctx context.Context, o pipeline.Ownership) error {
			starts <- o.Partition
			if o.Partition == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
	}()
	<-starts
	<-starts
	other := pipelinetest.Own(t, s.Open(t, Options{}), topic, topic)
	pipelinetest.Await(t, other, other, "a second member gets one", func(a, _ []int) bool { return len(a) == 1 })
	<-starts // the first member's remaining partition, in its next generation
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(starts) != 0 {
		t.Errorf("partition %d was restarted", <-starts)
	}
}

func runFails(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 3, nil)
	failure := errors.New("out of order")
	started, ended := make(chan int, 2), make(chan int, 2)
	err := client.Own(pipelinetest.Context(t), topic, topic, func(ctx context.Context, o pipeline.Ownership) error {
		if o.Partition == 1 {
			<-started
			<-started
			return failure
		}
		started <- o.Partition
		<-ctx.Done()
		ended <- o.Partition
		return ctx.Err()
	})
	if !errors.Is(err, failure) {
		t.Errorf("Own returned %v", err)
	}
	if len(ended) != 2 {
		t.Error("Own did not wait for the other runs")
	}
	next := pipelinetest.Own(t, client, topic, topic)
	pipelinetest.Await(t, next, next, "the group was left", func(a, _ []int) bool { return len(a) == 3 })
}

func deadlineEnds(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err := client.Own(ctx, topic, topic, func(ctx context.Context, _ pipeline.Ownership) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil {
		t.Error(err)
	}
}

func partitionsAdded(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	o := pipelinetest.Own(t, client, topic, topic)
	pipelinetest.Await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 1 })
	if err := client.GrowPartitions(pipelinetest.Context(t), topic, 3); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Await(t, o, o, "added partitions too", func(a, _ []int) bool { return len(a) == 3 })
}

func topicComesLater(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 1, nil) + "-later"
	o := pipelinetest.Own(t, client, topic, topic)
	specs := []pipeline.TopicSpec{{Name: topic, Partitions: 2}}
	if _, err := client.CreateTopics(pipelinetest.Context(t), specs); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 2 })
}
