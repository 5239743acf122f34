package status

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/admin"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/pipeline"
)

const (
	// lookEvery is the interval between polls of the topics, idleEvery the interval while nobody
	// has the page open, lookTimeout the limit of one poll.
	lookEvery   = 2 * time.Second
	idleEvery   = 10 * time.Second
	lookTimeout = 10 * time.Second
	// Polls take at most 1/lookShare of the time, 1/idleShare while nobody has the page open, even
	// if topics have many partitions or the broker is slow.
	lookShare = 4
	idleShare = 20
	// offsetsSpan is the time over which rates of topics are measured.
	offsetsSpan = 10 * time.Second
	// deniedFor is the pause before retrying a topic that may not be read.
	deniedFor = time.Minute
)

// cluster is the result of the last poll of the topics. It is immutable.
type cluster struct {
	at         time.Time // of the last successful poll; zero = none
	until      time.Time // when the positions have to be renewed
	err        string    // error of the last poll
	conditions []admin.Condition

	positions   positions
	rates       map[string][]float64 // offsets a second, by role and partition
	exploration string               // of the checkpoints
	checkpoints map[int32]*wire.Checkpoint
	models      []Model
	letters     Letters
	contents    map[string]string // by role, why the contents of a topic are unknown
}

// gatherer polls the topics of a pipeline. It belongs to one goroutine.
type gatherer struct {
	service cli.Service
	scores  *scores
	inUse   inUse
	letters *letters
	offsets window[positions]
	counted window[int64]        // dead letters
	denied  map[string]time.Time // by role, time of the refusal
	last    cluster
}

func newGatherer(s cli.Service) *gatherer {
	r := s.Process
	topics := r.Settings.Topics
	return &gatherer{
		service: s,
		scores:  newScores(r.Env.Broker, r.Settings.State()),
		letters: newLetters(r.Env.Broker, topics.DeadLetters),
		offsets: window[positions]{span: offsetsSpan},
		counted: window[int64]{span: offsetsSpan},
		denied:  map[string]time.Time{},
	}
}

// look asks the broker for the ends of the topics and reads their contents: all topics if watched,
// else only the dead letters. If that fails, it keeps the previous result with the error.
func (g *gatherer) look(ctx context.Context, watched bool) cluster {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	next := g.last
	found, err := findPositions(ctx, g.service.Process)
	if err != nil {
		next.err = err.Error()
		g.last = next
		return next
	}
	g.offsets.add(found.at, found)
	next.err = ""
	next.positions = found
	next.contents = maps.Clone(g.last.contents)
	next.rates = g.rates()
	if watched {
		next.conditions, next.at = g.service.Conditions(ctx), found.at
		g.read(ctx, &next)
	}
	g.readLetters(ctx, &next)
	g.last = next
	return next
}

// read reads checkpoints and models.
func (g *gatherer) read(ctx context.Context, next *cluster) {
	if spec := g.service.Process.Env.State.Snapshot().Spec; spec != nil {
		g.content(next, roleScores, func() error { return g.scores.look(ctx, spec, next.positions.spans[roleScores]) })
	}
	g.content(next, roleModels, func() error { return g.lookAtModels(ctx, next) })
	next.exploration, next.checkpoints = g.scores.exploration(), g.scores.newest()
}

// readLetters reads new dead letters.
func (g *gatherer) readLetters(ctx context.Context, next *cluster) {
	g.content(next, roleDeadLetters, func() error { return g.letters.look(ctx, next.positions.spans[roleDeadLetters]) })
	next.letters = g.letters.list(g.service.Process.Env.Meter.Activity().DeadLetters)
	_, next.letters.Kept = next.positions.sum(roleDeadLetters)
	next.letters.Error = next.contents[roleDeadLetters]
	if next.letters.Error != "" {
		return
	}
	g.counted.add(next.positions.at, next.letters.Read+next.letters.Unread)
	if before, now, seconds, ok := g.counted.ends(); ok {
		next.letters.PerSecond = rate(float64(before), float64(now), seconds)
	}
}

// content reads a topic and records the error if it cannot be read.
func (g *gatherer) content(next *cluster, role string, read func() error) {
	if next.contents == nil {
		next.contents = map[string]string{}
	}
	delete(next.contents, role)
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
	g.service.Process.Env.Logger.Debug("status page cannot read a topic", zap.String("topic", role), zap.Error(err))
}

// rates returns the growth of each partition in offsets a second.
func (g *gatherer) rates() map[string][]float64 {
	before, now, seconds, ok := g.offsets.ends()
	rates := map[string][]float64{}
	if !ok {
		return rates
	}
	for role, spans := range now.spans {
		old, known := before.spans[role]
		if !known { // unknown at that time
			continue
		}
		rates[role] = make([]float64, len(spans))
		for i := range min(len(old), len(spans)) {
			rates[role][i] = rate(float64(old[i].next), float64(spans[i].next), seconds)
		}
	}
	return rates
}

// checkpointsOf returns the checkpoints of an exploration; those of the last poll may belong to the
// one before.
func (c *cluster) checkpointsOf(exploration string) map[int32]*wire.Checkpoint {
	if c.exploration != exploration {
		return nil
	}
	return c.checkpoints
}

// perSecond returns the rate of a topic over its partitions.
func (c *cluster) perSecond(role string) (sum float64) {
	for _, r := range c.rates[role] {
		sum += r
	}
	return sum
}

// fresh reports whether the last poll is recent.
func (c *cluster) fresh(now time.Time) bool { return !c.at.IsZero() && now.Sub(c.at) < offsetsSpan }

// holds reports whether the known ends of the topics are recent enough.
func (c *cluster) holds(now time.Time) bool { return c.err == "" && now.Before(c.until) }

// ready reports whether all conditions hold.
func ready(conditions []admin.Condition) bool {
	return len(conditions) > 0 && !slices.ContainsFunc(conditions, func(c admin.Condition) bool { return !c.OK })
}
