package kafka_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

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
