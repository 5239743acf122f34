package calibrate

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/state"
)

// stallPatience is how long an exploration that this process cannot compute may give no sign of life before it is
// planned again. It is several times what the partitions need to move away from a worker that stays out, and longer
// than workers go without a checkpoint.
const stallPatience = 2 * time.Minute

// stalled holds if the running exploration needs another numeric kernel than this process has and no process works on
// it any more. If others have that kernel, the exploration ends without this one. If this is the only process, or all
// are like it, nothing would move, and all of them can compute what is planned here.
type stalled struct {
	exploration string
	signs       signs
	since       time.Time // when they last changed, on this process's clock
	lookedAt    time.Time // for signs
}

// signs of life of an exploration.
type signs struct {
	scores int64 // sum of the ends of the partitions of scores: it grows with every checkpoint
	round  int   // of the selection
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
			p.Env.Logger.Warn("offsets of scores not known", zap.Error(err))
			s.exploration = "" // no process can work without brokers: all get the full time again once they are back
			return nil
		}
		if s.exploration != spec.Exploration || s.signs != seen {
			s.exploration, s.signs, s.since = spec.Exploration, seen, time.Now()
		}
	}
	if s.exploration != spec.Exploration || time.Since(s.since) < stallPatience {
		return nil
	}
	return &trigger{reason: fmt.Sprintf("no process works on the running exploration, which is for numeric kernel %s; this is %s", spec.Arithmetic, scoring.Arithmetic())}
}

// signsOfLife looks for signs of life of the running exploration.
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
