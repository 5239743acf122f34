package stages

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// selectTick is how often a running exploration's deadline is looked at.
const selectTick = time.Second

// Selector is the select stage: it follows the checkpoints of the running exploration and publishes its feature set
// when every partition is closed. One instance at a time selects: the owner of the single partition of explorations.
type Selector struct {
	*Runtime
	// FailFast ends Run with the error of a selection that the rows do not allow, instead of abandoning the
	// exploration: for one-shot commands.
	FailFast bool
}

// NewSelector returns the runner; Run starts it.
func NewSelector(r *Runtime) *Selector { return &Selector{Runtime: r} }

// Run selects until ctx ends.
func (s *Selector) Run(ctx context.Context) error {
	return s.Broker.Own(ctx, s.group(StageSelect), s.Settings.Topics.Explorations,
		func(ctx context.Context, _ pipeline.Ownership) error { return endOf(ctx, s.own(ctx)) })
}

// errMorePartitions says that an exploration reads partitions that are not followed yet.
var errMorePartitions = errors.New("scores has more partitions than before")

func (s *Selector) own(ctx context.Context) error {
	logger := s.Logger.With(zap.String("stage", StageSelect))
	for {
		err := s.followScores(ctx, logger)
		if !errors.Is(err, errMorePartitions) {
			return err
		}
		logger.Info("scores has grown, following it anew")
	}
}

// followScores reads every partition of scores and selects, until ctx ends or scores has grown.
func (s *Selector) followScores(ctx context.Context, logger *zap.Logger) error {
	partitions, err := pipeline.Retry(ctx, logger, "look up topic "+s.Settings.Topics.Scores, func() (int, error) {
		return s.Broker.Partitions(ctx, s.Settings.Topics.Scores)
	})
	if err != nil {
		return err
	}
	board := newScoreboard()
	group, ctx := errgroup.WithContext(ctx)
	for partition := range partitions {
		decoder := arrowio.NewDecoder(s.Watch.limits)
		group.Go(func() error {
			return pipeline.Follow(ctx, s.Broker, logger, s.Settings.Topics.Scores, partition, func(rec pipeline.Record) error {
				if err := board.apply(decoder, rec, s.Settings.Pipeline.Name); err != nil {
					logger.Error("checkpoint not understood, ignored", zap.Int("partition", partition),
						zap.Int64("offset", rec.Offset), zap.Error(err))
				}
				return nil
			}, nil)
		})
	}
	group.Go(func() error { return s.publishAll(ctx, logger, board, partitions) })
	return group.Wait()
}

// publishAll selects from one exploration after another; partitions of scores are followed.
func (s *Selector) publishAll(ctx context.Context, logger *zap.Logger, board *scoreboard, partitions int) error {
	for {
		stateChanged, boardChanged := s.Watch.Changed(), board.signal()
		state, err := s.Watch.Wait(ctx, func(State) bool { return true })
		if err != nil {
			return nil
		}
		if state.CurrentShadowed {
			logger.Warn("an older set was made current behind the newest, which is made current again",
				zap.String("feature_set", state.Current.ID))
			if err := s.makeCurrent(ctx, state.Current); err != nil {
				return err
			}
			continue
		}
		if spec := state.Running(); spec != nil {
			if int(spec.Partitions[len(spec.Partitions)-1].Partition) >= partitions {
				return errMorePartitions
			}
			if checkpoints, ok := s.ready(board, spec); ok {
				if err := s.publish(ctx, logger, spec, checkpoints); err != nil {
					return err
				}
				continue
			}
		}
		tick := time.NewTimer(selectTick)
		select {
		case <-ctx.Done():
		case <-stateChanged:
		case <-boardChanged:
		case <-tick.C:
		}
		tick.Stop()
	}
}

// ready returns the newest checkpoints of an exploration once every partition is closed or its deadline has passed
// with rows in hand.
func (s *Selector) ready(board *scoreboard, spec *wire.Spec) ([]*wire.Checkpoint, bool) {
	checkpoints := board.of(spec)
	closed, rows := 0, int64(0)
	for _, c := range checkpoints {
		rows += c.Counts.Scored
		if c.Closed {
			closed++
		}
	}
	late := !spec.Deadline.IsZero() && s.Clock().After(spec.Deadline)
	return checkpoints, closed == len(spec.Partitions) || late && rows > 0
}

// publish writes the set, then the pointer to it, and waits until the watch has seen both.
func (s *Selector) publish(ctx context.Context, logger *zap.Logger, spec *wire.Spec, checkpoints []*wire.Checkpoint) error {
	defer s.Counters.worked(StageSelect, time.Now())
	set, err := SelectFeatures(spec, checkpoints, s.Clock())
	if err != nil {
		if s.FailFast {
			return pipeline.Permanent(err)
		}
		logger.Error("exploration abandoned: nothing could be selected", zap.Error(err))
		return s.abandon(ctx, *spec)
	}
	id := set.ID()
	value, err := wire.EncodeFeatureSet(set)
	if err != nil {
		return pipeline.Permanent(err)
	}
	record := pipeline.Record{Key: wire.SetKey(s.Settings.Pipeline.Name, id), Value: value, Time: s.Clock()}
	if err := s.produce(ctx, s.Settings.Topics.FeatureSets, record); err != nil {
		return fmt.Errorf("publish feature set %s: %w", id, err)
	}
	current := &wire.Current{ID: id, Sequence: spec.Sequence, Exploration: spec.Exploration, Time: s.Clock()}
	if err := s.makeCurrent(ctx, current); err != nil {
		return err
	}
	logger.Info("feature set published", zap.String("feature_set", id), zap.String("exploration", spec.Exploration),
		zap.Int64("rows", set.Lineage.Rows), zap.Float64("best", set.Lineage.Best), zap.Float64("cutoff", set.Lineage.Cutoff))
	return s.retire(ctx, logger, s.Watch.State())
}

// makeCurrent writes the pointer to a set and waits until the watch has seen it.
func (s *Selector) makeCurrent(ctx context.Context, current *wire.Current) error {
	value, err := wire.EncodeCurrent(current)
	if err != nil {
		return pipeline.Permanent(err)
	}
	record := pipeline.Record{Key: wire.CurrentKey(s.Settings.Pipeline.Name), Value: value, Time: s.Clock()}
	offset, err := pipeline.Retry(ctx, s.Logger, "publish to "+s.Settings.Topics.FeatureSets, func() (int64, error) {
		return s.Broker.Produce(ctx, s.Settings.Topics.FeatureSets, 0, []pipeline.Record{record})
	})
	if err != nil {
		return fmt.Errorf("make feature set %s current: %w", current.ID, err)
	}
	// By the offset: what others write behind it may already have changed the state again.
	_, err = s.Watch.Wait(ctx, func(now State) bool { return now.featureSetsNext > offset })
	return err
}

// retire tombstones the sets that are not kept any longer.
func (s *Selector) retire(ctx context.Context, logger *zap.Logger, state State) error {
	sets := make(map[string]time.Time, len(state.Sets))
	for id, set := range state.Sets {
		sets[id] = set.Time
	}
	for _, id := range outdated(sets, s.Settings.Topics.KeepFeatureSets, s.Settings.Topics.FeaturesRetention, s.Clock()) {
		if id == state.Current.ID { // older than what a selector without ownership has written behind it
			continue
		}
		logger.Info("feature set retired", zap.String("feature_set", id))
		tombstone := pipeline.Record{Key: wire.SetKey(s.Settings.Pipeline.Name, id), Time: s.Clock()}
		if err := s.produce(ctx, s.Settings.Topics.FeatureSets, tombstone); err != nil {
			return fmt.Errorf("retire feature set %s: %w", id, err)
		}
	}
	return nil
}

// abandon publishes the spec again as one that will give no set.
func (s *Selector) abandon(ctx context.Context, spec wire.Spec) error {
	spec.Status = wire.StatusAbandoned
	value, err := wire.EncodeSpec(&spec)
	if err != nil {
		return pipeline.Permanent(err)
	}
	record := pipeline.Record{Key: wire.SpecKey(spec.Pipeline), Value: value, Time: s.Clock()}
	if err := s.produce(ctx, s.Settings.Topics.Explorations, record); err != nil {
		return fmt.Errorf("abandon exploration %s: %w", spec.Exploration, err)
	}
	_, err = s.Watch.Wait(ctx, func(now State) bool {
		running := now.Running()
		return running == nil || running.Exploration != spec.Exploration
	})
	return endOf(ctx, err)
}

func (s *Selector) produce(ctx context.Context, topic string, record pipeline.Record) error {
	return pipeline.Try(ctx, s.Logger, "publish to "+topic, func() error {
		_, err := s.Broker.Produce(ctx, topic, 0, []pipeline.Record{record})
		return err
	})
}

// scoreboard holds the newest checkpoint of each partition of each exploration that the scores topic has.
type scoreboard struct {
	mu      sync.Mutex
	newest  map[string]map[int32]*wire.Checkpoint
	changed chan struct{}
}

func newScoreboard() *scoreboard {
	return &scoreboard{newest: map[string]map[int32]*wire.Checkpoint{}, changed: make(chan struct{})}
}

func (b *scoreboard) signal() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// apply takes a record of scores in. A tombstone removes the partition's checkpoint; of two checkpoints the one with
// the greater next ordinal stays.
func (b *scoreboard) apply(decoder *arrowio.Decoder, rec pipeline.Record, pipelineName string) error {
	exploration := string(rec.Key)
	if pipelineOfExploration(exploration) != pipelineName {
		return nil
	}
	var checkpoint *wire.Checkpoint
	if rec.Value != nil {
		var err error
		if checkpoint, err = wire.DecodeCheckpoint(decoder, rec.Value); err != nil {
			return err
		}
		if checkpoint.Exploration != exploration || int(checkpoint.Partition) != rec.Partition {
			return errors.New("checkpoint under the key or in the partition of another one")
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	partitions := b.newest[exploration]
	if partitions == nil {
		partitions = map[int32]*wire.Checkpoint{}
		b.newest[exploration] = partitions
	}
	switch last := partitions[int32(rec.Partition)]; {
	case checkpoint == nil:
		delete(partitions, int32(rec.Partition))
	case last == nil || checkpoint.NextOrdinal > last.NextOrdinal ||
		checkpoint.NextOrdinal == last.NextOrdinal && checkpoint.NextOffset >= last.NextOffset:
		partitions[int32(rec.Partition)] = checkpoint
	}
	if len(partitions) == 0 {
		delete(b.newest, exploration)
	}
	close(b.changed)
	b.changed = make(chan struct{})
	return nil
}

// of returns the checkpoints made under the spec by the kernel that it names.
func (b *scoreboard) of(spec *wire.Spec) []*wire.Checkpoint {
	b.mu.Lock()
	defer b.mu.Unlock()
	var usable []*wire.Checkpoint
	for _, c := range b.newest[spec.Exploration] {
		if c.CheckAgainst(spec, spec.Kernel) == nil {
			usable = append(usable, c)
		}
	}
	return usable
}
