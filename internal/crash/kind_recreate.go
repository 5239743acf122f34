package crash

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/stages/topics"
)

// ActRecreate deletes a topic and recreates it empty; the slot of the action names the topic.
const ActRecreate Act = "recreate"

// recreated are the topics whose loss the pipeline recovers from without help. Without explorations
// no exploration starts on schedule, and lost dead letters stay lost.
var recreated = []string{"events", "features", "feature-sets", "scores", "samples", "models"}

// drawRecreate adds one to three topics to recreate during the plan.
func drawRecreate(d drawer, p *Plan) {
	for range 1 + d.IntN(3) {
		at := d.between(d.session/2, p.Produce+d.session)
		p.Actions = append(p.Actions, Action{At: at, Act: ActRecreate, Slot: recreated[d.IntN(len(recreated))]})
	}
}

// recreates reports whether a topic is recreated.
func (p *Plan) recreates(topic string) bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool { return a.Act == ActRecreate && a.Slot == topic })
}

// abandons reports whether explorations are abandoned because their log is gone.
func (p *Plan) abandons() bool {
	return p.recreates("events") || p.has(ActLose)
}

// losesFeatures reports whether features are lost that models were made from.
func (p *Plan) losesFeatures() bool { return p.recreates("features") || p.has(ActLose) }

// recreate deletes a topic and recreates it.
func recreate(ctx context.Context, r *run, a Action) error {
	topic := r.topic(a.Slot)
	r.gate.Lock()
	defer r.gate.Unlock()
	if a.Slot == "feature-sets" {
		sets, err := r.featureSets(ctx, r.client)
		if err != nil {
			return err
		}
		r.lost = merged(r.lost, sets)
	}
	r.note("%s is deleted", topic)
	if err := r.deleteTopic(ctx, topic); err != nil {
		return fmt.Errorf("delete %s: %w", topic, err)
	}
	for { // a broker may still be deleting it
		made, err := topics.Create(ctx, r.client, r.loaded.Stages.Topics)
		if err == nil && len(made) > 0 {
			r.note("%s is recreated", topic)
			return r.afterRecreation(ctx, a.Slot)
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return fmt.Errorf("recreate %s: %w", topic, ctx.Err())
		}
	}
}

// afterRecreation records what to expect after a topic was recreated.
func (r *run) afterRecreation(ctx context.Context, which string) error {
	switch which {
	case "events":
		r.resumed = [partitions]int{}
		return r.beginLog(ctx, r.events().id)
	case "features":
		r.resumed = r.events().sent
		for partition := range r.known {
			r.known[partition].next = -1
		}
	}
	return nil
}

func (r *run) deleteTopic(ctx context.Context, topic string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(r.broker.Addrs()...))
	if err != nil {
		return err
	}
	defer client.Close()
	one := kmsg.NewDeleteTopicsRequestTopic()
	one.Topic = &topic
	request := kmsg.NewDeleteTopicsRequest()
	request.TimeoutMillis = 10000
	request.TopicNames = []string{topic}
	request.Topics = append(request.Topics, one)
	answer, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(answer.Topics[0].ErrorCode)
}
