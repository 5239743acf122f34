package status

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/admin"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/pipeline"
)

const (
	// lookEvery is the time between two looks at the topics, lookTimeout what one may take.
	lookEvery   = 2 * time.Second
	lookTimeout = 10 * time.Second
	// lookShare is the share of the time that looks may take, where topics have many partitions or the broker is slow.
	lookShare = 4
	// offsetsSpan is what rates of topics are taken over.
	offsetsSpan = 10 * time.Second
	// deniedFor is how long a topic is left alone whose content must not be read.
	deniedFor = time.Minute
)

// cluster is what the topics said at the last look. It is immutable.
type cluster struct {
	at         time.Time // of the last look that the broker answered; zero = none
	err        string    // why the last look has none
	conditions []admin.Condition

	positions   positions
	rates       map[string][]float64 // offsets a second, by role and partition
	exploration string               // that the checkpoints are of
	checkpoints map[int32]*wire.Checkpoint
	spectrum    *Spectrum
	models      []Model
	letters     Letters
	contents    map[string]string // by role, why what a topic holds is not known
}

// gatherer looks at the topics of a pipeline. One goroutine.
type gatherer struct {
	service cli.Service
	scores  *scores
	through reach // of the model in use
	letters *letters
	offsets window[positions]
	denied  map[string]time.Time // by role, when
	last    cluster
}

func newGatherer(s cli.Service) *gatherer {
	r := s.Process
	topics := r.Settings.Topics
	return &gatherer{
		service: s, scores: newScores(r.Broker, r.Settings.State()), letters: newLetters(r.Broker, topics.DeadLetters),
		offsets: window[positions]{span: offsetsSpan}, denied: map[string]time.Time{},
	}
}

// look asks the broker for everything. Where it does not answer, what was known stays, with the reason.
func (g *gatherer) look(ctx context.Context) cluster {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	next := g.last
	next.conditions = g.service.Conditions(ctx)
	found, err := findPositions(ctx, g.service.Process)
	if err != nil {
		next.err = err.Error()
		g.last = next
		return next
	}
	g.offsets.add(found.at, found)
	next.err, next.positions, next.contents = "", found, map[string]string{}
	next.rates = g.rates()
	g.read(ctx, &next)
	next.at = found.at
	g.last = next
	return next
}

// read looks at what is in the topics.
func (g *gatherer) read(ctx context.Context, next *cluster) {
	if spec := g.service.Process.State.Snapshot().Spec; spec != nil {
		g.content(next, roleScores, func() error { return g.scores.look(ctx, spec, next.positions.spans[roleScores]) })
	}
	g.content(next, roleModels, func() error { return g.lookAtModels(ctx, next) })
	g.content(next, roleDeadLetters, func() error { return g.letters.look(ctx, next.positions.spans[roleDeadLetters]) })
	next.exploration, next.checkpoints, next.spectrum = g.scores.exploration(), g.scores.newest(), g.scores.draw()
	next.letters = g.letters.list(g.service.Process.Meter.Activity().DeadLetters)
	_, next.letters.Kept = next.positions.sum(roleDeadLetters)
	next.letters.Error = next.contents[roleDeadLetters]
}

// content reads what a topic holds and notes why it could not be read.
func (g *gatherer) content(next *cluster, role string, read func() error) {
	if err := next.positions.errs[role]; err != nil {
		next.contents[role] = err.Error()
		return
	}
	if since := next.positions.at.Sub(g.denied[role]); since < deniedFor {
		next.contents[role] = g.last.contents[role]
		return
	}
	err := read()
	if err == nil {
		return
	}
	next.contents[role] = err.Error()
	if errors.Is(err, pipeline.ErrDenied) {
		g.denied[role] = next.positions.at
	}
	g.service.Process.Logger.Debug("status page: topic not read", zap.String("topic", role), zap.Error(err))
}

// rates are the offsets a second that came to each partition.
func (g *gatherer) rates() map[string][]float64 {
	before, now, seconds, ok := g.offsets.ends()
	rates := map[string][]float64{}
	if !ok {
		return rates
	}
	for role, spans := range now.spans {
		old := before.spans[role]
		rates[role] = make([]float64, len(spans))
		for i := range min(len(old), len(spans)) {
			rates[role][i] = rate(float64(old[i].next), float64(spans[i].next), seconds)
		}
	}
	return rates
}

// checkpointsOf are those of an exploration: the last look may have been at the one before.
func (c *cluster) checkpointsOf(exploration string) map[int32]*wire.Checkpoint {
	if c.exploration != exploration {
		return nil
	}
	return c.checkpoints
}

// perSecond is the rate of a topic over its partitions.
func (c *cluster) perSecond(role string) (sum float64) {
	for _, r := range c.rates[role] {
		sum += r
	}
	return sum
}

// fresh says that the topics were looked at a moment ago.
func (c *cluster) fresh(now time.Time) bool { return !c.at.IsZero() && now.Sub(c.at) < offsetsSpan }

// waiting is how many messages of events are not featurized, as far as is committed; known is false where some partition has
// no commit.
func (c *cluster) waiting() (sum int64, known bool) {
	for partition, span := range c.positions.spans[roleEvents] {
		next := int64(-1)
		if partition < len(c.positions.committed) {
			next = c.positions.committed[partition]
		}
		if next < 0 {
			return 0, false
		}
		sum += max(0, span.next-next)
	}
	return sum, len(c.positions.spans[roleEvents]) > 0
}

// ready says that all conditions hold.
func ready(conditions []admin.Condition) bool {
	return len(conditions) > 0 && !slices.ContainsFunc(conditions, func(c admin.Condition) bool { return !c.OK })
}
