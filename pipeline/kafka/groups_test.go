package kafka_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

// owner is a call of Own that shows what it owns.
type owner struct {
	stop context.CancelFunc
	done chan error

	mu      sync.Mutex
	owned   map[int]pipeline.Ownership
	changed chan struct{} // closed and replaced with every change
}

func own(t *testing.T, client *kafka.Client, group, topic string) *owner {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	o := &owner{stop: stop, done: make(chan error, 1), owned: make(map[int]pipeline.Ownership), changed: make(chan struct{})}
	go func() {
		o.done <- client.Own(ctx, group, topic, func(ctx context.Context, owned pipeline.Ownership) error {
			o.set(owned.Partition, &owned)
			<-ctx.Done()
			o.set(owned.Partition, nil)
			return ctx.Err()
		})
	}()
	t.Cleanup(func() {
		stop()
		<-o.done
	})
	return o
}

func (o *owner) set(partition int, owned *pipeline.Ownership) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if owned == nil {
		delete(o.owned, partition)
	} else {
		o.owned[partition] = *owned
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *owner) partitions() ([]int, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []int
	for p := range o.owned {
		all = append(all, p)
	}
	slices.Sort(all)
	return all, o.changed
}

// await waits until the partitions of both owners are as the condition wants them.
func await(t *testing.T, a, b *owner, what string, condition func(a, b []int) bool) {
	t.Helper()
	limit := time.After(patience)
	for {
		ofA, changedA := a.partitions()
		ofB, changedB := b.partitions()
		if condition(ofA, ofB) {
			return
		}
		select {
		case <-changedA:
		case <-changedB:
		case <-limit:
			t.Fatalf("%s: still %v and %v", what, ofA, ofB)
		}
	}
}

// end stops an owner, which has to return then.
func (o *owner) end(t *testing.T) {
	t.Helper()
	o.stop()
	select {
	case err := <-o.done:
		if err != nil {
			t.Errorf("own ended with %v", err)
		}
		o.done <- nil
	case <-time.After(patience):
		t.Fatal("own does not end")
	}
	if left, _ := o.partitions(); len(left) != 0 {
		t.Errorf("runs of %v are still there", left)
	}
}

func allOf(n int) func(a, b []int) bool {
	return func(a, b []int) bool {
		all := append(slices.Clone(a), b...)
		slices.Sort(all)
		return len(slices.Compact(all)) == n && len(a)+len(b) == n
	}
}

func membersShare(t *testing.T, on *cluster) {
	first, second := dial(t, on.config()), dial(t, on.config())
	topic := newTopic(t, first, 4, nil)
	a := own(t, first, topic, topic)
	await(t, a, a, "one member has all", func(a, _ []int) bool { return len(a) == 4 })
	b := own(t, second, topic, topic)
	await(t, a, b, "two members share", func(a, b []int) bool { return len(a) == 2 && len(b) == 2 && allOf(4)(a, b) })
	a.end(t)
	await(t, a, b, "the one that stays has all", func(_, b []int) bool { return len(b) == 4 })
	c := own(t, first, topic, topic)
	await(t, c, b, "a new one takes its share", func(c, b []int) bool { return len(c) == 2 && allOf(4)(c, b) })
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if err := <-b.done; err != nil {
		t.Errorf("own of a closed client: %v", err)
	}
	b.done <- nil
	await(t, c, b, "closing a client leaves its groups", func(c, _ []int) bool { return len(c) == 4 })
	err := second.Own(background(t), topic, topic, nil)
	if err == nil || !pipeline.IsPermanent(err) {
		t.Errorf("a closed client owns: %v", err)
	}
}

func offsetsAreCommitted(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 2, nil)
	ctx := background(t)
	if next, err := client.Committed(ctx, topic, topic, 1); next != -1 || err != nil {
		t.Errorf("nothing committed, yet %d, %v", next, err)
	}
	o := own(t, client, topic, topic)
	await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 2 })
	o.mu.Lock()
	former := o.owned[1]
	o.mu.Unlock()
	for _, next := range []int64{3, 2, 17} {
		if err := former.Commit(ctx, next); err != nil {
			t.Fatal(err)
		}
		if got, err := client.Committed(ctx, topic, topic, 1); got != next || err != nil {
			t.Errorf("committed %d, %v", got, err)
		}
	}
	if next, err := client.Committed(ctx, topic, topic, 0); next != -1 || err != nil {
		t.Errorf("nothing committed on 0, yet %d, %v", next, err)
	}
	o.end(t)
	if err := former.Commit(ctx, 99); err == nil {
		t.Error("a former member committed")
	}
	if next, _ := client.Committed(ctx, topic, topic, 1); next != 17 {
		t.Errorf("committed offset is %d", next)
	}
}

func runReturnsEarly(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 2, nil)
	ctx, stop := context.WithCancel(background(t))
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
	other := own(t, dial(t, on.config()), topic, topic)
	await(t, other, other, "a second member gets one", func(a, _ []int) bool { return len(a) == 1 })
	<-starts // the first member's remaining partition, in its next generation
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(starts) != 0 {
		t.Errorf("partition %d was started once more", <-starts)
	}
}

func runFails(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 3, nil)
	failure := errors.New("out of order")
	started, ended := make(chan int, 2), make(chan int, 2)
	err := client.Own(background(t), topic, topic, func(ctx context.Context, o pipeline.Ownership) error {
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
		t.Errorf("own ended with %v", err)
	}
	if len(ended) != 2 {
		t.Error("own did not wait for the other runs")
	}
	next := own(t, client, topic, topic)
	await(t, next, next, "the group was left", func(a, _ []int) bool { return len(a) == 3 })
}

func deadlineEnds(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 1, nil)
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

func partitionsAdded(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 1, nil)
	o := own(t, client, topic, topic)
	await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 1 })
	if err := client.GrowPartitions(background(t), topic, 3); err != nil {
		t.Fatal(err)
	}
	await(t, o, o, "added ones too", func(a, _ []int) bool { return len(a) == 3 })
}

func topicComesLater(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 1, nil) + "-later"
	o := own(t, client, topic, topic)
	if _, err := client.CreateTopics(background(t), []pipeline.TopicSpec{{Name: topic, Partitions: 2}}); err != nil {
		t.Fatal(err)
	}
	await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 2 })
}

// A member that joined and never answers again holds every join up until its session ends.
func TestLeavingDoesNotWaitForAJoin(t *testing.T) {
	on := newEmbedded(t)
	c := on.config()
	c.LeaveTimeout = 100 * time.Millisecond
	client := dial(t, c)
	topic := newTopic(t, client, 1, nil)
	joinAndStall(t, on, topic)
	o := own(t, client, topic, topic)
	o.end(t)
}

// joinAndStall joins a group as its first member, gets an response, and does no more.
func joinAndStall(t *testing.T, on *cluster, group string) {
	t.Helper()
	request := kmsg.NewPtrJoinGroupRequest()
	request.Group, request.ProtocolType = group, "consumer"
	const long = int32(2 * patience / time.Millisecond)
	request.SessionTimeoutMillis, request.RebalanceTimeoutMillis = long, long
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name = "range"
	meta := kmsg.NewConsumerMemberMetadata()
	meta.Topics = []string{group}
	protocol.Metadata = meta.AppendTo(nil)
	request.Protocols = append(request.Protocols, protocol)
	client := otherClient(t, on)
	response, err := request.RequestWith(background(t), client)
	if err == nil && response.ErrorCode == kerr.MemberIDRequired.Code {
		request.MemberID = response.MemberID
		response, err = request.RequestWith(background(t), client)
	}
	if err == nil {
		err = kerr.ErrorForCode(response.ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
