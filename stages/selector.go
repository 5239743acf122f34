package stages

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
)

// selectTick is how often a running exploration's deadline is looked at.
const selectTick = time.Second

// Selector is the select stage: it follows the checkpoints of the running exploration and publishes its feature set, or
// the plan of its next pass, when every partition is closed. One instance at a time selects: the owner of the single
// partition of explorations.
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
	defer s.Counters.setMissingRows(-1)
	board := newScoreboard()
	board.behind = partitions
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
			}, func(int64) { board.caughtUp() })
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
		spec := state.Running()
		if spec == nil {
			s.Counters.setMissingRows(0)
		} else {
			if int(spec.Partitions[len(spec.Partitions)-1].Partition) >= partitions {
				return errMorePartitions
			}
			if checkpoints, ok := s.ready(logger, board, spec); ok {
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

// errNoRows says that an exploration ended, mostly by its deadline, before a row was scored.
var errNoRows = errors.New("no row was scored until it was over: the rows have no labels, or there are none")

// ready returns the newest checkpoints of an exploration once every partition is closed or its deadline has passed. With
// no row in hand by then, it leaves the time in which a first one would be saved.
func (s *Selector) ready(logger *zap.Logger, board *scoreboard, spec *wire.Spec) ([]*wire.Checkpoint, bool) {
	complete := board.complete() // before the checkpoints that it is said of
	checkpoints := board.of(spec)
	for _, err := range board.refusals(spec) {
		logger.Error("checkpoint refused", zap.Error(err))
	}
	s.Counters.setMissingRows(missingRows(spec, checkpoints))
	closed, end := 0, spec.Deadline
	for _, c := range checkpoints {
		if c.Closed {
			closed++
		}
	}
	if scoredRows(checkpoints) == 0 {
		end = end.Add(s.Settings.Subsample.CheckpointInterval)
	}
	late := spec.Pass == 0 && !spec.Deadline.IsZero() && s.Clock().After(end) // later passes take the rows of the first
	return checkpoints, closed == len(spec.Partitions) || late && complete
}

// missingRows is how many rows an exploration has yet to score, as far as its checkpoints tell; -1 where it has no quota.
func missingRows(spec *wire.Spec, checkpoints []*wire.Checkpoint) (missing int64) {
	if spec.SampleRows == 0 {
		return -1
	}
	if spec.Pass > 0 { // the rows are chosen
		return 0
	}
	for _, part := range spec.Partitions {
		switch c := checkpointOf(checkpoints, part.Partition); {
		case c == nil:
			missing += part.Quota
		case !c.Closed:
			missing += max(0, part.Quota-c.Counts.Scored)
		}
	}
	return missing
}

func scoredRows(checkpoints []*wire.Checkpoint) (rows int64) {
	for _, c := range checkpoints {
		rows += c.Counts.Scored
	}
	return rows
}

// publish writes the set, then the pointer to it, or the plan of the next pass, and waits until the watch has seen it.
func (s *Selector) publish(ctx context.Context, logger *zap.Logger, spec *wire.Spec, checkpoints []*wire.Checkpoint) error {
	defer s.Counters.worked(StageSelect, time.Now())
	if scoredRows(checkpoints) == 0 {
		return s.giveUp(ctx, logger, spec, errNoRows)
	}
	set, next, err := EndPass(spec, checkpoints, s.Clock())
	switch {
	case err != nil:
		return s.giveUp(ctx, logger, spec, err)
	case next != nil:
		return s.publishPass(ctx, logger, spec, next)
	}
	return s.publishSet(ctx, logger, spec, set)
}

// publishPass writes the plan of an exploration's next pass.
func (s *Selector) publishPass(ctx context.Context, logger *zap.Logger, spec, next *wire.Spec) error {
	value, err := wire.EncodeSpec(next)
	failpoint.Hit(failpoint.PassBefore)
	if err == nil {
		err = s.publishSpec(ctx, next, value)
	}
	if ctx.Err() == nil && (pipeline.IsPermanent(err) || errors.Is(err, pipeline.ErrMessageTooLarge) || value == nil) {
		return s.giveUp(ctx, logger, spec, fmt.Errorf("plan of pass %d, %d bytes: %w", next.Pass, len(value), err))
	}
	if err != nil {
		return fmt.Errorf("publish pass %d of exploration %s: %w", next.Pass, next.Exploration, err)
	}
	failpoint.Hit(failpoint.PassAfter)
	logger.Info("next pass published", zap.String("exploration", next.Exploration), zap.Int("pass", next.Pass),
		zap.Int("round", next.Residual.Round), zap.Int("kept", len(next.Residual.Kept.Index)), zap.Int("pool", len(next.Residual.Pool)))
	return nil
}

// publishSet writes the set, then the pointer to it.
func (s *Selector) publishSet(ctx context.Context, logger *zap.Logger, spec *wire.Spec, set *wire.FeatureSet) error {
	id := set.ID()
	value, err := wire.EncodeFeatureSet(set)
	if err != nil {
		return pipeline.Permanent(err)
	}
	record := pipeline.Record{Key: wire.SetKey(s.Settings.Pipeline.Name, id), Value: value, Time: s.Clock()}
	failpoint.Hit(failpoint.SetBefore)
	err = s.produce(ctx, s.Settings.Topics.FeatureSets, record)
	if errors.Is(err, pipeline.ErrMessageTooLarge) { // nor would it fit the next time
		return s.giveUp(ctx, logger, spec, fmt.Errorf("feature set %s of %d bytes: %w", id, len(value), err))
	}
	if err != nil {
		return fmt.Errorf("publish feature set %s: %w", id, err)
	}
	failpoint.Hit(failpoint.SetBetween)
	current := &wire.Current{ID: id, Sequence: spec.Sequence, Exploration: spec.Exploration, Time: s.Clock()}
	if err := s.makeCurrent(ctx, current); err != nil {
		return err
	}
	failpoint.Hit(failpoint.SetAfter)
	logger.Info("feature set published", zap.String("feature_set", id), zap.String("exploration", spec.Exploration),
		zap.Int64("rows", set.Lineage.Rows), zap.Float64("best", set.Lineage.Best), zap.Float64("cutoff", set.Lineage.Cutoff))
	return s.retire(ctx, logger, s.Watch.State())
}

// giveUp ends an exploration that can give no set.
func (s *Selector) giveUp(ctx context.Context, logger *zap.Logger, spec *wire.Spec, cause error) error {
	if s.FailFast {
		return pipeline.Permanent(cause)
	}
	logger.Error("exploration abandoned, it gives no feature set", zap.String("exploration", spec.Exploration), zap.Error(cause))
	return s.abandon(ctx, *spec)
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
	if err := s.publishSpec(ctx, &spec, value); err != nil {
		return fmt.Errorf("abandon exploration %s: %w", spec.Exploration, err)
	}
	return nil
}

// publishSpec writes a spec that takes the place of the running one and waits until the watch has seen it.
func (s *Selector) publishSpec(ctx context.Context, spec *wire.Spec, value []byte) error {
	record := pipeline.Record{Key: wire.SpecKey(spec.Pipeline), Value: value, Time: s.Clock()}
	if err := s.produce(ctx, s.Settings.Topics.Explorations, record); err != nil {
		return err
	}
	_, err := s.Watch.Wait(ctx, func(now State) bool {
		running := now.Running()
		return running == nil || running.Exploration != spec.Exploration || spec.Status == wire.StatusRunning && running.Pass >= spec.Pass
	})
	return endOf(ctx, err)
}

func (s *Selector) produce(ctx context.Context, topic string, record pipeline.Record) error {
	return pipeline.Try(ctx, s.Logger, "publish to "+topic, func() error {
		_, err := s.Broker.Produce(ctx, topic, 0, []pipeline.Record{record})
		return err
	})
}
