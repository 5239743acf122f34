package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline/kafkatest"
)

// The leader of events is killed while it alone has the last events, and a replica without them
// becomes leader. Running stages have already featurized and trained on the lost events. They
// detect the loss, and the events that replace the lost ones are featurized and trained on like all
// remaining events.
func TestUncleanElection(t *testing.T) {
	cluster := kafkatest.Need(t, 3, false)
	const kept, lost, more = 3000, 500, 900
	s := newSite(t, cluster.Addrs, smallExploration)
	makeUnclean(t, cluster, s.topic("events"), 1, 2)
	s.run("featurizer", "topics", "create").Want(t, cli.ExitOK)
	s.produce(kept)
	worker := s.stages("calibrate,selection,subsample,featurize")
	trainer := s.start("trainer", "run", "--json")
	s.untilTrained(kept)

	cluster.Kill(t, 2)
	awaitInSync(t, cluster, s.topic("events"), 1)
	s.produce(lost) // only on node 1
	s.untilTrained(kept + lost)
	cluster.Kill(t, 1)
	cluster.Start(t, 2) // a majority of nodes runs again, and this one becomes leader
	awaitInSync(t, cluster, s.topic("events"), 2)
	cluster.Start(t, 1)
	s.produce(more)
	model := s.untilTrained(kept + lost + more) // features still has the lost rows

	clitest.Eventually(t, "stages detect the loss", func() bool {
		said := worker.Log()
		return strings.Contains(said, "events topic was recreated or truncated") || // while running
			strings.Contains(said, "ignoring features of missing events") // if a writer retook the partition
	})
	trainer.AwaitLog(t, model.Text(t, "model.id"))
	s.stop(trainer)
	totals := s.stop(worker).Object(t)
	if n := totals.Number(t, "featurize.featurized"); n < kept+lost+more {
		t.Errorf("%v rows featurized", n)
	}
}

// makeUnclean creates a topic of three partitions on some nodes and allows unclean elections.
func makeUnclean(t *testing.T, cluster *kafkatest.Cluster, name string, nodes ...int32) {
	t.Helper()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1
	for partition := range int32(3) {
		assigned := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		assigned.Partition, assigned.Replicas = partition, nodes
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, assigned)
	}
	for key, value := range map[string]string{"unclean.leader.election.enable": "true", "min.insync.replicas": "1"} {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = key, &value
		topic.Configs = append(topic.Configs, config)
	}
	request := kmsg.NewCreateTopicsRequest()
	request.TimeoutMillis, request.Topics = 10_000, append(request.Topics, topic)
	client, ctx := administer(t, cluster)
	answer, err := request.RequestWith(ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(answer.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("make %s: %v", name, err)
	}
}

// awaitInSync waits until a node leads every partition of a topic and is the only in-sync replica.
func awaitInSync(t *testing.T, cluster *kafkatest.Cluster, name string, node int32) {
	t.Helper()
	client, ctx := administer(t, cluster)
	clitest.Eventually(t, fmt.Sprintf("node %d alone is in sync", node), func() bool {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		request := kmsg.NewMetadataRequest()
		request.Topics = append(request.Topics, topic)
		answer, err := request.RequestWith(ctx, client)
		return err == nil && len(answer.Topics[0].Partitions) == 3 &&
			!slices.ContainsFunc(answer.Topics[0].Partitions, func(p kmsg.MetadataResponseTopicPartition) bool {
				return p.Leader != node || !slices.Equal(p.ISR, []int32{node})
			})
	})
}

// administer returns a client for administrative requests.
func administer(t *testing.T, cluster *kafkatest.Cluster) (*kgo.Client, context.Context) {
	t.Helper()
	client, err := kgo.NewClient(cluster.Options(t)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return client, ctx
}
