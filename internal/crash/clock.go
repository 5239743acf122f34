package crash

import (
	"context"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// KindClock has wrong clocks: producers two hours ahead, and processes nearly an hour ahead or
// behind, the largest difference that brokers accept (log.message.timestamp.after.max.ms is an
// hour).
const KindClock Kind = "clock"

const (
	producerAhead = 2 * time.Hour
	processOff    = 50 * time.Minute
)

// drawClocks draws the clocks of producers and processes.
func drawClocks(d drawer, p *Plan) {
	p.Ahead = producerAhead
	for i := range p.Slots {
		p.Slots[i].Clock = []time.Duration{0, processOff, -processOff}[d.IntN(3)]
	}
}

// eventTime is the time that a producer writes into an event; every other event gets a wrong time.
func (p *Plan) eventTime(offset int) time.Time {
	if p.Ahead == 0 || offset%2 == 0 {
		return time.Time{} // the broker client sets the current time
	}
	return time.Now().Add(p.Ahead)
}

// makeTolerantEvents creates a topic of events that accepts future timestamps, as the owner of the
// topic may.
func makeTolerantEvents(ctx context.Context, r *run) error {
	_, err := r.client.CreateTopics(ctx, []pipeline.TopicSpec{{
		Name: r.loaded.Stages.Topics.Events, Partitions: partitions, Replication: r.loaded.Stages.Topics.Replication,
		Configs: map[string]string{"message.timestamp.after.max.ms": "9223372036854775807"},
	}})
	return err
}
