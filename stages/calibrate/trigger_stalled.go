package calibrate

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/state"
)

// stallPatience is the time without a sign of life after which an exploration that this process
// cannot compute is replanned. It is several times the time in which partitions move away from a
// worker that does not participate, and longer than the time between a worker's checkpoints.
const stallPatience = 2 * time.Minute

// stalled holds if the running exploration needs a different numeric kernel from this process's and
// no process works on it any longer. If other processes have that kernel, they finish the
// exploration. Otherwise it would never end, and a new plan uses the kernel of this process, which
// all of them have.
type stalled struct {
	exploration string
	signs       signs
	since       time.Time // last change of signs, on this process's clock
	lookedAt    time.Time // last lookup of signs
}

// signs holds the signs of life of an exploration.
type signs struct {
	scores int64 // sum of the end offsets of scores, which grows with every checkpoint
	round  int   // current round of the selection
}

func (s *stalled) check(ctx context.Context, p *Planner, now state.Snapshot) *trigger {
	spec := now.Running()
	if spec == nil || spec.Arithmetic == scoring.Arithmetic() {
		*s = stalled{}
		return nil
	}
	if time.Since(s.lookedAt) >= offsetsEvery {
		s.lookedAt = time.Now()
		seen, err := p.log().signsOfLife(ctx, now)
		if err != nil {
			p.Env.Logger.Warn("cannot look up the offsets of scores", zap.Error(err))
			s.exploration = "" // no process can work without brokers: the full patience starts again after an outage
			return nil
		}
		if s.exploration != spec.Exploration || s.signs != seen {
			s.exploration, s.signs, s.since = spec.Exploration, seen, time.Now()
		}
	}
	if s.exploration != spec.Exploration || time.Since(s.since) < stallPatience {
		return nil
	}
	return &trigger{
		reason: fmt.Sprintf("no process works on the running exploration, which needs numeric kernel %s; this process has %s",
			spec.Arithmetic, scoring.Arithmetic()),
	}
}

// signsOfLife returns the signs of life of the running exploration.
func (l *log) signsOfLife(ctx context.Context, now state.Snapshot) (seen signs, err error) {
	n, err := l.env.Broker.Partitions(ctx, l.env.Topics.Scores)
	if err != nil {
		return seen, fmt.Errorf("topic %s: %w", l.env.Topics.Scores, err)
	}
	for partition := range n {
		_, end, err := l.env.Broker.Offsets(ctx, l.env.Topics.Scores, partition)
		if err != nil {
			return seen, fmt.Errorf("offsets of %s/%d: %w", l.env.Topics.Scores, partition, err)
		}
		seen.scores += end
	}
	if now.Progress != nil {
		seen.round = now.Progress.Round
	}
	return seen, nil
}
