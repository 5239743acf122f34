package stages

import (
	"context"
	"time"

	"go.uber.org/zap"
)

// endsEvery is how old the known end of a partition may be, about: it usually comes with every fetch, but a stage that waits
// for the broker to take its output does not fetch.
const endsEvery = 2 * time.Second

// followEnds looks up the ends of partitions that stages have not fetched from for a while, until ctx ends. Without it
// lag would stand still for as long as a stage does.
func (r *Runtime) followEnds(ctx context.Context) {
	tick := time.NewTicker(endsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, p := range r.Counters.behind(r.Clock().Add(-endsEvery)) {
			_, end, err := r.Broker.Offsets(ctx, r.topicOf(p.status.Stage), p.status.Partition)
			if err != nil { // it is not away because of this, and those whom it matters to say so
				r.Logger.Debug("end of a partition not looked up", zap.Int("partition", p.status.Partition), zap.Error(err))
				continue
			}
			p.ends(end)
		}
	}
}

// topicOf is the topic that a stage works through.
func (r *Runtime) topicOf(stage string) string {
	if stage == StageTrain {
		return r.Settings.Topics.Features
	}
	return r.Settings.Topics.Events
}

// behind lists what is followed and was fetched from before a time, or never.
func (c *Counters) behind(before time.Time) []*progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	var behind []*progress
	for _, p := range c.followed {
		if p.fetchedBefore(before) {
			behind = append(behind, p)
		}
	}
	return behind
}

func (p *progress) fetchedBefore(t time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status.FetchedAt.Before(t)
}

// ends notes where the partition ends now.
func (p *progress) ends(end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.EndOffset = max(p.status.EndOffset, end)
}
