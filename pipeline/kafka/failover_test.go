package kafka_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/kafkatest"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// TestAnyNodeMayDie stops each of three nodes in turn, under load, including the leader of a partition and the
// coordinator of the group. What was acknowledged stays, and the writers and the owner go on.
func TestAnyNodeMayDie(t *testing.T) {
	kafkatest.Need(t, 3, false)
	on := connect(t)
	const partitions, more = 3, 30
	topic := pipelinetest.NewTopic(t, dial(t, on.config()), partitions, nil)
	writer := write(t, dial(t, on.config()), topic, partitions)
	reader := follow(t, dial(t, on.config()), topic, partitions)
	for node := 1; node <= 3; node++ {
		on.awaitBalance(t, topic)
		on.real.Kill(t, node)
		for p := range partitions {
			goal := writer.acknowledged[p].Load() + more
			what := fmt.Sprintf("partition %d goes on without node %d", p, node)
			pipelinetest.Eventually(t, what, func() bool { return writer.acknowledged[p].Load() >= goal && reader.next[p].Load() >= goal })
		}
		on.real.Start(t, node)
	}
	writer.stop()
	client := dial(t, on.config())
	for p := range partitions {
		checkSequence(t, client, topic, p, writer.acknowledged[p].Load())
		pipelinetest.Surely(t, "what was committed", func(ctx context.Context) error {
			next, err := client.Committed(ctx, topic, topic, p)
			if err == nil && next <= 0 {
				t.Errorf("partition %d: nothing was committed", p)
			}
			return err
		})
	}
}

// numbers writes 0, 1, 2, ... to each partition, each number until it is acknowledged, slowly enough to leave the
// nodes processor time.
type numbers struct {
	acknowledged []atomic.Int64
	stop         func()
}

func write(t *testing.T, client *kafka.Client, topic string, partitions int) *numbers {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &numbers{acknowledged: make([]atomic.Int64, partitions)}
	var writing sync.WaitGroup
	w.stop = func() {
		cancel()
		writing.Wait()
	}
	t.Cleanup(w.stop)
	for p := range partitions {
		writing.Go(func() {
			pace := time.NewTicker(2 * time.Millisecond)
			defer pace.Stop()
			writer, err := pipeline.OpenWriter(ctx, client, logger(t), &pipeline.WriterID{Group: "writers", Topic: topic, Partition: p},
				pipeline.Target{Topic: topic, Partition: p})
			if err != nil || pipeline.ProtectionOf(writer) != pipeline.ProtectionFenced {
				t.Errorf("partition %d: %s, %v", p, pipeline.ProtectionOf(writer), err)
				return
			}
			for n := 0; ; n++ {
				<-pace.C
				number := pipelinetest.Values(fmt.Sprint(n))
				err := pipeline.Try(ctx, logger(t), "produce", func() error {
					_, err := writer.Produce(ctx, topic, p, number)
					return err
				})
				if err != nil {
					if ctx.Err() == nil {
						t.Errorf("partition %d: %v", p, err)
					}
					return
				}
				w.acknowledged[p].Add(1)
			}
		})
	}
	return w
}

// follower owns the partitions of a topic and reads them, each from its start.
type follower struct{ next []atomic.Int64 }

func follow(t *testing.T, client *kafka.Client, topic string, partitions int) *follower {
	t.Helper()
	f := &follower{next: make([]atomic.Int64, partitions)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- client.Own(ctx, topic, topic, func(ctx context.Context, o pipeline.Ownership) error {
			reader := pipeline.NewReader(client, logger(t), topic, o.Partition, pipeline.ReadOptions{From: pipeline.FirstOffset, Until: pipeline.Forever})
			for r, err := range reader.Records(ctx) {
				if ctx.Err() != nil {
					return nil
				}
				if err != nil {
					return err
				}
				f.next[o.Partition].Store(r.Offset + 1)
				if r.Offset%10 == 9 {
					_ = o.Commit(ctx, r.Offset+1, "") // fails while the coordinator is down
				}
			}
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("owner: %v", err)
		}
	})
	return f
}

// checkSequence fails unless a partition holds every acknowledged number once, in order.
func checkSequence(t *testing.T, client *kafka.Client, topic string, partition int, acknowledged int64) {
	t.Helper()
	var end int64
	pipelinetest.Surely(t, "look up the end", func(ctx context.Context) (err error) {
		_, end, err = client.Offsets(ctx, topic, partition)
		return err
	})
	next := int64(0)
	for _, r := range pipelinetest.SurelyRead(t, client, topic, partition, 0, end) {
		if string(r.Value) != fmt.Sprint(next) {
			t.Fatalf("partition %d, offset %d: %s behind %d", partition, r.Offset, r.Value, next-1)
		}
		next++
	}
	if next < acknowledged {
		t.Errorf("partition %d: %d numbers are there, %d were acknowledged", partition, next, acknowledged)
	}
	t.Logf("partition %d: %d numbers", partition, next)
}

// partitionStates returns the state of a topic's partitions according to the cluster.
func partitionStates(t testing.TB, client *kgo.Client, topic string) []kmsg.MetadataResponseTopicPartition {
	t.Helper()
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = &topic
	request := kmsg.NewMetadataRequest()
	request.Topics = append(request.Topics, rt)
	response, err := request.RequestWith(pipelinetest.Context(t), client)
	if err != nil {
		t.Fatal(err)
	}
	return response.Topics[0].Partitions
}

// awaitBalance waits until every partition has all replicas in sync and is led by its preferred leader.
func (on *cluster) awaitBalance(t testing.TB, topic string) {
	t.Helper()
	client := otherClient(t, on)
	pipelinetest.Eventually(t, "balance", func() bool {
		for _, p := range partitionStates(t, client, topic) {
			if len(p.ISR) != len(p.Replicas) || p.Leader != p.Replicas[0] {
				return false
			}
		}
		return true
	})
}

// elect makes the second replica of a partition its leader by moving it to the front.
func (on *cluster) elect(t testing.TB, topic string, partition int) {
	t.Helper()
	client := otherClient(t, on)
	find := func() (p kmsg.MetadataResponseTopicPartition) {
		for _, p = range partitionStates(t, client, topic) {
			if int(p.Partition) == partition {
				break
			}
		}
		return p
	}
	before := find()
	replicas := append(before.Replicas[1:], before.Replicas[0])
	assign(t, client, topic, partition, replicas)
	pipelinetest.Eventually(t, "another leader", func() bool { return find().Leader == replicas[0] })
}

// assign sets the replicas of a partition and makes the first one the leader.
func assign(t testing.TB, client *kgo.Client, topic string, partition int, replicas []int32) {
	t.Helper()
	p := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
	p.Partition, p.Replicas = int32(partition), replicas
	rt := kmsg.NewAlterPartitionAssignmentsRequestTopic()
	rt.Topic, rt.Partitions = topic, append(rt.Partitions, p)
	request := kmsg.NewAlterPartitionAssignmentsRequest()
	request.TimeoutMillis, request.Topics = 10000, append(request.Topics, rt)
	response, err := request.RequestWith(pipelinetest.Context(t), client)
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
	et := kmsg.NewElectLeadersRequestTopic()
	et.Topic, et.Partitions = topic, append(et.Partitions, int32(partition))
	elect := kmsg.NewElectLeadersRequest()
	elect.TimeoutMillis, elect.Topics = 10000, append(elect.Topics, et)
	if _, err := elect.RequestWith(pipelinetest.Context(t), client); err != nil {
		t.Fatal(err)
	}
}
