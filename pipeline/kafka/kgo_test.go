package kafka_test

import (
	"testing"

	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// otherClient is a client of another library, for requests that this package lacks and for reading
// records with a second implementation.
func otherClient(t testing.TB, on *cluster, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	entry := []kgo.Opt{kgo.SeedBrokers(on.addrs...)}
	if on.real != nil {
		entry = on.real.Options(t)
	}
	entry = append(entry, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	client, err := kgo.NewClient(append(entry, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// deleteRecords moves the first offset of a partition.
func deleteRecords(t testing.TB, on *cluster, topic string, partition int32, before int64) {
	t.Helper()
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = partition, before
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic, rt.Partitions = topic, append(rt.Partitions, p)
	request := kmsg.NewDeleteRecordsRequest()
	request.TimeoutMillis = 10000
	request.Topics = append(request.Topics, rt)
	response, err := request.RequestWith(pipelinetest.Context(t), otherClient(t, on))
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}
