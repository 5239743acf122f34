package selection

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/stages/meter"
)

const (
	// progressPatience is the longest time that a selection waits for the broker to accept a
	// progress report.
	progressPatience = time.Second
	// progressEvery is the time between two reports of steps. Each report holds all points so far.
	progressEvery = time.Second
)

// progressReporter publishes the progress of a selection. Only people read it, so a broker that
// does not accept it must hardly delay the selection.
type progressReporter struct {
	runner *Runner
	spec   *wire.Spec
	rows   int64
	at     time.Time // time of the last report
}

func (r *progressReporter) report(ctx context.Context, p Progress) {
	last := p.Last()
	r.runner.Env.Meter.SetChoosing(meter.Choosing{Round: p.Round, Rounds: p.Rounds, Point: last})
	now := r.runner.Env.Clock()
	if last != nil && last.Kind == adaptive.ByStep && now.Sub(r.at) < progressEvery {
		return
	}
	r.at = now
	ctx, cancel := context.WithTimeout(ctx, progressPatience)
	defer cancel()
	err := r.runner.Env.State.PublishProgress(ctx, &wire.Progress{
		Exploration: r.spec.Exploration,
		Sequence:    r.spec.Sequence,
		Rows:        r.rows,
		Round:       p.Round,
		Rounds:      p.Rounds,
		Points:      p.Points,
		Time:        now,
	})
	if err != nil {
		r.runner.Env.Logger.Debug("progress report not published", zap.Error(err))
	}
}
