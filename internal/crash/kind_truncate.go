package crash

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// KindTruncate has topics lose their first records, as retention or a command does.
const KindTruncate Kind = "truncate"

// ActTruncate deletes the first half of the records in a topic's partitions; the slot of the action names the
// topic.
const ActTruncate Act = "truncate"

// truncated are the topics whose old records brokers delete; the others are compacted.
var truncated = []string{"events", "features", "samples", "dead-letters"}

// drawTruncate adds one or two topics to truncate while things go wrong.
func drawTruncate(d drawer, p *Plan) {
	for range 1 + d.IntN(2) {
		p.Actions = append(p.Actions, Action{At: d.between(d.session/2, p.Produce+d.session), Act: ActTruncate, Slot: truncated[d.IntN(len(truncated))]})
	}
}

// truncates reports whether a topic is truncated.
func (p *Plan) truncates(topic string) bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool { return a.Act == ActTruncate && a.Slot == topic })
}

// losesFeatures reports whether features are lost that models were made from.
func (p *Plan) losesFeatures() bool {
	return p.recreates("features") || p.truncates("features") || p.has(ActLose)
}

// truncate deletes the first half of a topic.
func truncate(ctx context.Context, r *run, a Action) error {
	topic := r.topic(a.Slot)
	r.gate.Lock()
	defer r.gate.Unlock()
	var before [partitions]int64
	for partition := range partitions {
		first, end, err := r.client.Offsets(ctx, topic, partition)
		if err != nil {
			return err
		}
		before[partition] = first + (end-first)/2
	}
	r.note("%s begin at %v from now on", topic, before)
	if err := r.deleteRecords(ctx, topic, before); err != nil {
		return err
	}
	switch a.Slot {
	case "events":
		r.first = before
	case "features":
		for partition := range r.known {
			r.known[partition].next = -1
		}
	}
	return nil
}

// deleteRecords deletes the records of a topic before some offsets, by partition.
func (r *run) deleteRecords(ctx context.Context, topic string, before [partitions]int64) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Addrs()...))
	if err != nil {
		return err
	}
	defer client.Close()
	of := kmsg.NewDeleteRecordsRequestTopic()
	of.Topic = topic
	for partition, offset := range before {
		p := kmsg.NewDeleteRecordsRequestTopicPartition()
		p.Partition, p.Offset = int32(partition), offset
		of.Partitions = append(of.Partitions, p)
	}
	request := kmsg.NewDeleteRecordsRequest()
	request.TimeoutMillis = 5000
	request.Topics = append(request.Topics, of)
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	for _, p := range response.Topics[0].Partitions {
		if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
			return fmt.Errorf("delete records of %s/%d: %w", topic, p.Partition, err)
		}
	}
	return nil
}
