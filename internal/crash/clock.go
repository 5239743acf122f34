package crash

import (
	"context"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// KindClock has wrong clocks: producers two hours ahead, and processes nearly an hour ahead or behind, which is as much as
// brokers accept (log.message.timestamp.after.max.ms is an hour).
const KindClock Kind = "clock"

const (
	producerAhead = 2 * time.Hour
	processOff    = 50 * time.Minute
)

// drawClocks draws whose clocks are wrong.
func drawClocks(d drawer, p *Plan) {
	p.Ahead = producerAhead
	for i := range p.Slots {
		p.Slots[i].Clock = []time.Duration{0, processOff, -processOff}[d.IntN(3)]
	}
}

// eventTime is the time that a producer writes into an event: every other one is wrong.
func (p *Plan) eventTime(offset int) time.Time {
	if p.Ahead == 0 || offset%2 == 0 {
		return time.Time{} // the broker client takes the current time
	}
	return time.Now().Add(p.Ahead)
}

// makeTolerantEvents creates the topic of events so that it accepts events from the future. Its owner decides that.
func makeTolerantEvents(ctx context.Context, r *run) error {
	_, err := r.client.CreateTopics(ctx, []pipeline.TopicSpec{{
		Name: r.loaded.Stages.Topics.Events, Partitions: partitions, Replication: r.loaded.Stages.Topics.Replication,
		Configs: map[string]string{"message.timestamp.after.max.ms": "9223372036854775807"},
	}})
	return err
}
