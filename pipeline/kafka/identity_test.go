package kafka_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// deleteTopic deletes a topic.
func deleteTopic(t testing.TB, on *cluster, topic string) {
	t.Helper()
	request := kmsg.NewDeleteTopicsRequest()
	request.TimeoutMillis, request.TopicNames = 10000, []string{topic}
	one := kmsg.NewDeleteTopicsRequestTopic()
	one.Topic = &topic
	request.Topics = append(request.Topics, one)
	response, err := request.RequestWith(pipelinetest.Context(t), otherClient(t, on))
	if err == nil {
		err = kerr.ErrorForCode(response.Topics[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// recreate recreates a deleted topic, and waits while a broker is still deleting it.
func recreate(t testing.TB, control pipeline.Control, topic string, partitions int) {
	t.Helper()
	pipelinetest.Eventually(t, "the topic is recreated", func() bool {
		created, err := control.CreateTopics(
			pipelinetest.Context(t),
			[]pipeline.TopicSpec{{Name: topic, Partitions: partitions}},
		)
		return err == nil && len(created) == 1
	})
}

// A response names its log, even if the topic was recreated since the client last asked for the
// identity.
func TestFetchesBelongToTheRequestedLog(t *testing.T) {
	on := connect(t)
	client := dial(t, on.config())
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	var of []pipeline.LogID
	for _, value := range []string{"first", "second"} {
		pipelinetest.SurelyProduce(t, client, topic, 0, value)
		var fetched pipeline.Fetched
		pipelinetest.Eventually(t, "the record is read", func() (ok bool) {
			var err error
			fetched, err = client.Fetch(pipelinetest.Context(t), topic, 0, 0)
			return err == nil && len(fetched.Records) == 1 && string(fetched.Records[0].Value) == value
		})
		fetched.Release()
		is, err := client.Identity(pipelinetest.Context(t), topic, 0, time.Now())
		if err != nil || fetched.Log != is {
			t.Errorf("records have log %q, the topic has %q, %v", fetched.Log, is, err)
		}
		if of = append(of, is); len(of) == 1 {
			deleteTopic(t, on, topic)
			recreate(t, client, topic, 1)
		}
	}
	if of[0] == of[1] {
		t.Errorf("recreated topic kept the identity %q", of[1])
	}
}

// A recreated topic has a new identity for every reader. Before that, the identity is constant.
func TestIdentityChangesWithARecreatedTopic(t *testing.T) {
	on := connect(t)
	client := dial(t, on.config())
	topic := pipelinetest.NewTopic(t, client, 2, nil)
	ask := func(partition int) pipeline.LogID {
		t.Helper()
		id, err := client.Identity(pipelinetest.Context(t), topic, partition, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	was := ask(0)
	if was == "" || was != ask(1) || was != ask(pipeline.AnyPartition) {
		t.Fatalf("identities %q, %q, %q", was, ask(1), ask(pipeline.AnyPartition))
	}
	pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("a", "b", "c")...)
	before := pipelinetest.ReadUntil(t, client, topic, 0, 0, 3)
	deleteTopic(t, on, topic)
	if old, err := client.Identity(pipelinetest.Context(t), topic, 0, time.Now().Add(-time.Hour)); err != nil ||
		old != was {
		t.Errorf("cached identity from before the deletion: %q, %v", old, err)
	}
	pipelinetest.Eventually(t, "a deleted topic has no identity", func() bool { // nodes learn of the deletion one by one
		_, err := client.Identity(pipelinetest.Context(t), topic, 0, time.Now())
		return errors.Is(err, pipeline.ErrUnknownTopic)
	})
	recreate(t, client, topic, 2)
	pipelinetest.SurelyProduce(t, client, topic, 0, "x")
	if is := ask(0); is == was || is == "" {
		t.Errorf("identity of the recreated topic is %q, before %q", is, was)
	}
	after := pipelinetest.SurelyRead(t, client, topic, 0, 0, 1)
	if before[0].Batch.Checksum == 0 || before[0].Batch != before[2].Batch || before[0].Batch.Is(after[0].Batch) {
		t.Errorf("batches %+v, %+v, and in the recreated topic %+v", before[0].Batch, before[2].Batch, after[0].Batch)
	}
}

func TestOldBrokersAreRefused(t *testing.T) {
	old, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.MaxVersions(kversion.V3_0_0()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(old.Close)
	if _, err := dial(t, config(old.ListenAddrs())).Partitions(pipelinetest.Context(t), "t"); !pipeline.IsPermanent(err) ||
		!strings.Contains(err.Error(), "3.1") {
		t.Errorf("error %v", err)
	}
}
