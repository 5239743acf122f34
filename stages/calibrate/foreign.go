package calibrate

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/state"
)

// foreignPatience is how long an exploration that this process cannot compute may give no sign of life before it is
// planned again. It is several times what the partitions need to move away from a worker that stands aside, and longer
// than workers go without a checkpoint.
const foreignPatience = 2 * time.Minute

// foreign is what is known about a running exploration with another numeric kernel.
type foreign struct {
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

// stalled replaces the running exploration if it needs another numeric kernel than this process has and nobody works
// on it any more. If other processes have that kernel, the exploration ends without this one. If this is the only
// process, or all are like it, nothing would move, and all of them can compute what is planned here.
func (p *Planner) stalled(ctx context.Context, now state.Snapshot) *trigger {
	spec := now.Running()
	if spec.Arithmetic == scoring.Arithmetic() {
		p.foreign = foreign{}
		return nil
	}
	if time.Since(p.foreign.lookedAt) >= offsetsEvery {
		p.foreign.lookedAt = time.Now()
		seen, err := p.Log.signsOfLife(ctx, now)
		if err != nil {
			p.Log.Logger.Warn("offsets of scores not known", zap.Error(err))
			p.foreign.exploration = "" // nobody can work without brokers: everybody gets the full time again once they are back
			return nil
		}
		if p.foreign.exploration != spec.Exploration || p.foreign.signs != seen {
			p.foreign.exploration, p.foreign.signs, p.foreign.since = spec.Exploration, seen, time.Now()
		}
	}
	if p.foreign.exploration != spec.Exploration || time.Since(p.foreign.since) < foreignPatience {
		return nil
	}
	return &trigger{reason: fmt.Sprintf("nobody works on the running exploration, which is for numeric kernel %s; this is %s", spec.Arithmetic, scoring.Arithmetic())}
}

// signsOfLife looks for signs of life of the running exploration.
func (l *Log) signsOfLife(ctx context.Context, now state.Snapshot) (seen signs, err error) {
	n, err := l.Broker.Partitions(ctx, l.Topics.Scores)
	if err != nil {
		return seen, fmt.Errorf("topic %s: %w", l.Topics.Scores, err)
	}
	for partition := range n {
		_, end, err := l.Broker.Offsets(ctx, l.Topics.Scores, partition)
		if err != nil {
			return seen, fmt.Errorf("offsets of %s/%d: %w", l.Topics.Scores, partition, err)
		}
		seen.scores += end
	}
	if now.Progress != nil {
		seen.round = now.Progress.Round
	}
	return seen, nil
}
