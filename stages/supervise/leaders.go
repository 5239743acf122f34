package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// ErrNoLeader means that work was given up because a partition had no leader for too long.
var ErrNoLeader = errors.New("the partition has had no leader for too long")

// lookEvery is the interval of leader lookups.
const lookEvery = 5 * time.Second

// Leaders tracks which partitions of some topics have no leader, and since when. While no broker
// answers it reports none, and afterwards every partition gets its full patience again. A nil
// Leaders reports none. It is safe for concurrent use.
type Leaders struct {
	log      pipeline.Log
	logger   *zap.Logger
	topics   []string
	patience time.Duration

	mu     sync.Mutex
	since  map[int32]time.Time
	looked chan struct{} // closed and replaced after each lookup
}

// NewLeaders returns Leaders that report nothing until [Leaders.Watch] runs. A partition is gone
// when it has had no leader in one of the topics for the duration patience; 0 means the patience of
// [DefaultPolicy].
func NewLeaders(log pipeline.Log, logger *zap.Logger, patience time.Duration, topics ...string) *Leaders {
	if patience == 0 {
		patience = DefaultPolicy().Patience
	}
	return &Leaders{
		log:      log,
		logger:   logger,
		topics:   topics,
		patience: patience,
		since:    map[int32]time.Time{},
		looked:   make(chan struct{}),
	}
}

// Watch looks up leaders until ctx ends.
func (l *Leaders) Watch(ctx context.Context) {
	tick := time.NewTicker(min(lookEvery, l.patience/4))
	defer tick.Stop()
	for ctx.Err() == nil {
		away, err := l.look(ctx)
		if err != nil && ctx.Err() == nil {
			l.logger.Debug("looking up partition leaders failed", zap.Error(err))
		}
		l.note(away)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (l *Leaders) look(ctx context.Context) (away []int32, err error) {
	for _, topic := range l.topics {
		partitions, err := l.log.Leaderless(ctx, topic)
		if err != nil {
			return nil, fmt.Errorf("leaders of %s: %w", topic, err)
		}
		for _, p := range partitions {
			away = append(away, int32(p))
		}
	}
	return away, nil
}

func (l *Leaders) note(away []int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.since
	l.since = map[int32]time.Time{}
	for _, p := range away {
		since, known := before[p]
		if !known {
			l.logger.Warn(
				"partition has no leader",
				zap.Strings("topics", l.topics),
				zap.Int32("partition", p),
				zap.Duration("patience", l.patience),
			)
			since = time.Now()
		}
		l.since[p] = since
	}
	close(l.looked)
	l.looked = make(chan struct{})
}

// Away lists the partitions that have no leader, ascending.
func (l *Leaders) Away() []wire.Exclusion {
	if l == nil {
		return nil
	}
	return l.away(0)
}

// Gone lists the partitions that are no longer worth waiting for.
func (l *Leaders) Gone() []wire.Exclusion {
	if l == nil {
		return nil
	}
	return l.away(l.patience)
}

// IsGone reports whether the partition is no longer worth waiting for.
func (l *Leaders) IsGone(partition int) bool {
	return slices.ContainsFunc(l.Gone(), func(w wire.Exclusion) bool { return int(w.Partition) == partition })
}

func (l *Leaders) away(least time.Duration) (list []wire.Exclusion) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p, since := range l.since {
		if time.Since(since) >= least {
			list = wire.Exclude(
				list,
				wire.Exclusion{Partition: p, Reason: fmt.Sprintf("no leader since %s", since.UTC().Format(time.RFC3339))},
			)
		}
	}
	return list
}

// During bounds work: once lost returns true after a lookup, the context of work ends with
// [ErrNoLeader] as the cause.
func (l *Leaders) During(ctx context.Context, lost func() bool) (bounded context.Context, stop func()) {
	bounded, cancel := context.WithCancelCause(ctx)
	if l == nil {
		return bounded, func() { cancel(nil) }
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			l.mu.Lock()
			looked := l.looked
			l.mu.Unlock()
			if lost() {
				cancel(ErrNoLeader)
			}
			select {
			case <-bounded.Done():
				return
			case <-looked:
			}
		}
	}()
	return bounded, func() {
		cancel(nil)
		<-done
	}
}
