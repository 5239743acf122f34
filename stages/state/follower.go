package state

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// Topic is a control topic. All except scores have one partition.
type Topic int

// The control topics.
const (
	TopicExplorations Topic = iota
	TopicFeatureSets
	TopicModels
	TopicScores // followed only by [Follower.FollowScores]
	topics      // their number
)

func (t Topic) String() string {
	return [topics]string{"explorations", "feature-sets", "models", "scores"}[t]
}

// Config names the pipeline whose state is followed, and its topics.
type Config struct {
	Pipeline string
	// ReadOnly refuses writes, because the state belongs to another pipeline.
	ReadOnly bool
	// Names of topics.
	Explorations, FeatureSets, Models, Scores string
	// MaxMessageBytes is the largest message that the topics accept.
	MaxMessageBytes int64
	// KeepFeatureSets and KeepModels are numbers of sets and models to keep. Older ones are retired
	// after Retention.
	KeepFeatureSets, KeepModels int
	Retention                   time.Duration
}

// Limits admit every message that the pipeline itself can have written to the topics.
func (c Config) Limits() arrowio.Limits {
	limits := arrowio.DefaultLimits()
	limits.MaxMessageBytes = max(limits.MaxMessageBytes, c.MaxMessageBytes)
	limits.BudgetBytes = max(limits.BudgetBytes, 4*c.MaxMessageBytes)
	return limits
}

// Name returns the name of a topic.
func (c Config) Name(t Topic) string {
	return [topics]string{c.Explorations, c.FeatureSets, c.Models, c.Scores}[t]
}

// Broker reads and writes the control topics.
type Broker interface {
	pipeline.Log
	pipeline.Producer
}

// Follower follows the control topics of a pipeline and holds the newest snapshot of them.
type Follower struct {
	log    Broker
	logger *zap.Logger
	config Config
	asked  chan struct{} // holds one token once models were requested

	loadingSet chan struct{} // holds a token while a set is read
	sets       cache[wire.FeatureSet]
	models     cache[wire.Model]

	mu       sync.Mutex
	snapshot Snapshot
	changed  chan struct{} // closed and replaced at each change
	read     [topics]bool  // up to the end of the topic when following began
	failed   [topics]error // why a topic is no longer followed
	// unreadable is a current set that could not be read.
	unreadable SetEntry
}

// New returns a follower that is empty until Run has read the topics.
func New(log Broker, logger *zap.Logger, config Config) *Follower {
	f := &Follower{
		log:        log,
		logger:     logger,
		config:     config,
		asked:      make(chan struct{}, 1),
		loadingSet: make(chan struct{}, 1),
		changed:    make(chan struct{}),
	}
	for t := range topics {
		f.snapshot.clear(t, config)
	}
	return f
}

// Still returns a follower with a fixed snapshot, for tests.
func Still(config Config, snapshot Snapshot) *Follower {
	f := New(nil, zap.NewNop(), config)
	f.snapshot, f.read = snapshot, [topics]bool{true, true, true, true}
	return f
}

// Run follows the named topics until ctx ends, then returns nil. Without names it follows
// explorations and feature-sets. If models are not named, they are followed once a caller waits for
// them or asks for them; that caller gets the error if following fails. Run may be called again
// after it has returned, and then starts over.
func (f *Follower) Run(ctx context.Context, follow ...Topic) error {
	if len(follow) == 0 {
		follow = []Topic{TopicExplorations, TopicFeatureSets}
	}
	f.begin(follow...)
	group, ctx := errgroup.WithContext(ctx)
	for _, t := range follow {
		group.Go(func() error { return f.follow(ctx, t) })
	}
	if slices.Contains(follow, TopicFeatureSets) {
		group.Go(func() error {
			f.holdCurrent(ctx)
			return nil
		})
	}
	if !slices.Contains(follow, TopicModels) {
		group.Go(func() error {
			f.followAsked(ctx)
			return nil
		})
	}
	return group.Wait()
}

// begin forgets everything read from topics.
func (f *Follower) begin(follow ...Topic) {
	f.change(func() {
		for _, t := range follow {
			f.snapshot.clear(t, f.config)
			f.read[t], f.failed[t] = false, nil
		}
	})
}

// followAsked follows models from the first request for them, until ctx ends.
func (f *Follower) followAsked(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.asked:
			f.begin(TopicModels)
			_ = f.follow(ctx, TopicModels) // waiting callers get the error
		}
	}
}

// Ask makes the follower follow models without waiting for them. If following failed before, Ask
// returns that error and retries.
func (f *Follower) Ask() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.read[TopicModels] {
		return nil
	}
	select {
	case f.asked <- struct{}{}:
	default: // already requested
	}
	return f.failed[TopicModels]
}

// During follows topics like Run while do runs. do starts once they have been read. Its context
// ends if a topic cannot be followed.
func (f *Follower) During(ctx context.Context, do func(context.Context, Snapshot) error, follow ...Topic) error {
	if len(follow) == 0 {
		follow = []Topic{TopicExplorations, TopicFeatureSets}
	}
	group, ctx := errgroup.WithContext(ctx)
	following, stop := context.WithCancel(ctx)
	f.begin(follow...) // do must not see an earlier reading
	group.Go(func() error { return f.Run(following, follow...) })
	group.Go(func() error {
		defer stop()
		now, err := f.wait(ctx, follow, func(Snapshot) bool { return true })
		if err != nil {
			return err
		}
		return do(ctx, now)
	})
	return group.Wait()
}

// Snapshot returns the newest snapshot.
func (f *Follower) Snapshot() Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot
}

// Limits admit every message of the pipeline itself.
func (f *Follower) Limits() arrowio.Limits { return f.config.Limits() }

// Wait returns the first snapshot, including the present one, that ok accepts once explorations and
// feature-sets have been read.
func (f *Follower) Wait(ctx context.Context, ok func(Snapshot) bool) (Snapshot, error) {
	return f.wait(ctx, []Topic{TopicExplorations, TopicFeatureSets}, ok)
}

// WaitModels is Wait for models. It makes the follower follow them.
func (f *Follower) WaitModels(ctx context.Context, ok func(Snapshot) bool) (Snapshot, error) {
	_ = f.Ask() // f.wait returns the error
	return f.wait(ctx, []Topic{TopicModels}, ok)
}

// CatchUp returns a snapshot with everything that the topics held at the time of the call. It makes
// the follower follow models if they are among the topics.
func (f *Follower) CatchUp(ctx context.Context, follow ...Topic) (Snapshot, error) {
	var ends [topics]int64
	for _, t := range follow {
		name := f.config.Name(t)
		end, err := pipeline.Retry(ctx, f.logger, "look up offsets of "+name, func() (int64, error) {
			_, end, err := f.log.Offsets(ctx, name, 0)
			return end, err
		})
		if err != nil {
			return Snapshot{}, err
		}
		ends[t] = end
	}
	if slices.Contains(follow, TopicModels) {
		_ = f.Ask() // f.wait returns the error
	}
	return f.wait(ctx, follow, func(s Snapshot) bool {
		return !slices.ContainsFunc(follow, func(t Topic) bool { return s.next[t] < ends[t] })
	})
}

func (f *Follower) wait(ctx context.Context, follow []Topic, ok func(Snapshot) bool) (Snapshot, error) {
	for {
		f.mu.Lock()
		now, changed := f.snapshot, f.changed
		ready := true
		var failed error
		for _, t := range follow {
			ready = ready && f.read[t] && (t != TopicFeatureSets || f.toLoad() == nil)
			if failed == nil {
				failed = f.failed[t]
			}
		}
		f.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return now, err
		}
		if ready && ok(now) {
			return now, nil
		}
		if failed != nil {
			return now, failed
		}
		select {
		case <-ctx.Done():
			return now, ctx.Err()
		case <-changed:
		}
	}
}

// Changed returns a channel that is closed at the next change.
func (f *Follower) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// change applies a change under the lock and wakes the waiters.
func (f *Follower) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	f.snapshot.ownSets, f.snapshot.Models.own = false, false // callers may now get copies that share the maps
	close(f.changed)
	f.changed = make(chan struct{})
}
