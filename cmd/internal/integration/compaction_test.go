package integration

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline/kafkatest"
)

// TestReaderPassesBatchesLeftByCompaction makes Kafka's cleaner leave only five bytes under the
// checkpoint keys of a running exploration, and later under the key of the feature set's pointer.
// The exploration still gives the same set, and the pipeline restores its pointer.
func TestReaderPassesBatchesLeftByCompaction(t *testing.T) {
	const rows, partitions = 3000, 3
	cluster := kafkatest.Need(t, 1, false)
	s := newSite(t, cluster.Addrs, smallExploration)
	s.run("featurizer", "topics", "create").Want(t, cli.ExitOK)
	p := &poisoner{site: s, client: s.poisonClient(cluster)}
	p.cleanOften("scores", "feature-sets")

	s.produce(rows)
	first := s.stages("calibrate,subsample") // without selection the exploration cannot end
	var checkpoints map[int32][]byte
	clitest.Eventually(t, "checkpoints", func() bool {
		checkpoints = p.checkpoints()
		return len(checkpoints) == partitions
	})
	s.stop(first)
	for partition, key := range checkpoints {
		p.leaveAlone("scores", partition, key)
	}
	second := s.stages("calibrate,subsample,selection,featurize")
	model := s.untilTrained(rows)
	second.AwaitLog(t, "ignoring unusable scores record")
	s.stop(second)
	set := s.featureSet()
	if want := embeddedSet(t, rows); set != want || model.Text(t, "model.feature_set") != set {
		t.Errorf("feature set %s, want %s as on the embedded broker without poison", set, want)
	}

	pointer := wire.CurrentKey(s.name)
	p.leaveAlone("feature-sets", 0, pointer)
	third := s.stages("calibrate,subsample,selection,featurize")
	s.produce(rows)
	s.untilTrained(2 * rows)
	clitest.Eventually(t, "the pointer is rewritten", func() bool {
		values := p.under("feature-sets", 0, pointer)
		return !bytes.Equal(values[len(values)-1], poison)
	})
	third.AwaitLog(t, "ignoring undecodable record")
	s.stop(third)
	if now := s.featureSet(); now != set {
		t.Errorf("feature set %s, want the earlier %s", now, set)
	}
}

// poison is an undecodable value that replaces a record of the pipeline.
var poison = []byte("hello")

// poisoner writes to the topics of a site like a foreign program.
type poisoner struct {
	*site
	client *kgo.Client
}

func (s *site) poisonClient(cluster *kafkatest.Cluster) *kgo.Client {
	s.t.Helper()
	client, err := kgo.NewClient(
		append(cluster.Options(s.t), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DisableIdempotentWrite())...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(client.Close)
	return client
}

// cleanOften makes topics compact within a second.
func (p *poisoner) cleanOften(topics ...string) {
	p.t.Helper()
	request := kmsg.NewIncrementalAlterConfigsRequest()
	for _, topic := range topics {
		resource := kmsg.NewIncrementalAlterConfigsRequestResource()
		resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, p.topic(topic)
		for name, value := range map[string]string{"segment.ms": "100", "min.cleanable.dirty.ratio": "0.01"} {
			config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
			config.Name, config.Value = name, &value
			resource.Configs = append(resource.Configs, config)
		}
		request.Resources = append(request.Resources, resource)
	}
	answer, err := request.RequestWith(p.t.Context(), p.client)
	if err == nil {
		for _, r := range answer.Resources {
			if err == nil {
				err = kerr.ErrorForCode(r.ErrorCode)
			}
		}
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// leaveAlone writes poison under a key, and waits until compaction has removed all other values of
// the key.
func (p *poisoner) leaveAlone(topic string, partition int32, key []byte) {
	p.t.Helper()
	before := len(p.under(topic, partition, key))
	if before == 0 {
		p.t.Fatalf("%s has no record under %s", topic, key)
	}
	p.write(topic, partition, key)
	clitest.Eventually(p.t, "compaction", func() bool {
		p.write(topic, partition, []byte("somebody-else/tick")) // rolls the segment
		values := p.under(topic, partition, key)
		return len(values) == 1 && bytes.Equal(values[0], poison)
	})
}

func (p *poisoner) write(topic string, partition int32, key []byte) {
	p.t.Helper()
	record := &kgo.Record{Topic: p.topic(topic), Partition: partition, Key: key, Value: poison}
	if err := p.client.ProduceSync(p.t.Context(), record).FirstErr(); err != nil {
		p.t.Fatal(err)
	}
}

// checkpoints returns the keys of the present checkpoints by partition.
func (p *poisoner) checkpoints() map[int32][]byte {
	p.t.Helper()
	keys := map[int32][]byte{}
	for partition := range int32(3) {
		for _, r := range p.records("scores", partition) {
			if pipeline, _, ok := wire.ParseCheckpointKey(r.Key); ok && pipeline == p.name && r.Value != nil {
				keys[partition] = r.Key
			}
		}
	}
	return keys
}

// under returns the values that a partition still has under a key.
func (p *poisoner) under(topic string, partition int32, key []byte) (values [][]byte) {
	p.t.Helper()
	for _, r := range p.records(topic, partition) {
		if bytes.Equal(r.Key, key) {
			values = append(values, r.Value)
		}
	}
	return values
}

// records returns all records of a partition, up to a marker record that it writes.
func (p *poisoner) records(topic string, partition int32) (records []*kgo.Record) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	mark := &kgo.Record{Topic: p.topic(topic), Partition: partition, Key: []byte("somebody-else/mark"), Value: poison}
	if err := p.client.ProduceSync(ctx, mark).FirstErr(); err != nil {
		p.t.Fatal(err)
	}
	reader, err := kgo.NewClient(append(p.client.Opts(), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		p.topic(topic): {partition: kgo.NewOffset().AtStart()},
	}))...)
	if err != nil {
		p.t.Fatal(err)
	}
	defer reader.Close()
	for {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			p.t.Fatal(err)
		}
		for _, r := range fetches.Records() {
			if r.Offset >= mark.Offset {
				return records
			}
			records = append(records, r)
		}
	}
}
