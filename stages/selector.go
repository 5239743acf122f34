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
		if spec := state.Running(); spec != nil {
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
	closed, end := 0, spec.Deadline
	for _, c := range checkpoints {
		if c.Closed {
			closed++
		}
	}
	if scoredRows(checkpoints) == 0 {
		end = end.Add(s.Settings.Subsample.CheckpointInterval)
	}
	late := !spec.Deadline.IsZero() && s.Clock().After(end)
	return checkpoints, closed == len(spec.Partitions) || late && complete
}

func scoredRows(checkpoints []*wire.Checkpoint) (rows int64) {
	for _, c := range checkpoints {
		rows += c.Counts.Scored
	}
	return rows
}

// publish writes the set, then the pointer to it, and waits until the watch has seen both.
func (s *Selector) publish(ctx context.Context, logger *zap.Logger, spec *wire.Spec, checkpoints []*wire.Checkpoint) error {
	defer s.Counters.worked(StageSelect, time.Now())
	if scoredRows(checkpoints) == 0 {
		return s.giveUp(ctx, logger, spec, errNoRows)
	}
	set, err := SelectFeatures(spec, checkpoints, s.Clock())
	if err != nil {
		return s.giveUp(ctx, logger, spec, err)
	}
	id := set.ID()
	value, err := wire.EncodeFeatureSet(set)
	if err != nil {
		return pipeline.Permanent(err)
	}
	record := pipeline.Record{Key: wire.SetKey(s.Settings.Pipeline.Name, id), Value: value, Time: s.Clock()}
	err = s.produce(ctx, s.Settings.Topics.FeatureSets, record)
	if errors.Is(err, pipeline.ErrMessageTooLarge) { // nor would it fit the next time
		return s.giveUp(ctx, logger, spec, fmt.Errorf("feature set %s of %d bytes: %w", id, len(value), err))
	}
	if err != nil {
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

// scoreboard holds the newest checkpoints of each partition of each exploration that the scores topic has.
type scoreboard struct {
	mu      sync.Mutex
	newest  map[string]map[int32]entries // by exploration and partition
	changed chan struct{}
	behind  int // partitions of scores that have not been read to their end yet

	spec     *wire.Spec // last asked for; these two belong to the goroutine that asks
	specHash string
}

// origin is what checkpoints must have in common for one of them to take another's place.
type origin struct{ specHash, kernel string }

// entries are the newest checkpoints of one partition by their origin: those of another spec or kernel than the
// exploration's hide nothing.
type entries map[origin]*entry

type entry struct {
	*wire.Checkpoint
	refused bool // it has been said that these checkpoints are not used
}

func newScoreboard() *scoreboard {
	return &scoreboard{newest: map[string]map[int32]entries{}, changed: make(chan struct{})}
}

func (b *scoreboard) signal() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// caughtUp says that one more partition has been read to the end that it had at the start.
func (b *scoreboard) caughtUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.behind--
	b.announce()
}

// complete says that everything that scores held at the start has been read.
func (b *scoreboard) complete() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.behind == 0
}

// announce tells of a change; the caller holds the lock.
func (b *scoreboard) announce() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// apply takes a record of scores in. A tombstone removes the partition's checkpoints; of two checkpoints of one origin
// the one that has come further stays.
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
	defer b.announce()
	partitions, partition := b.newest[exploration], int32(rec.Partition)
	if checkpoint == nil {
		if delete(partitions, partition); len(partitions) == 0 {
			delete(b.newest, exploration)
		}
		return nil
	}
	if partitions == nil {
		partitions = map[int32]entries{}
		b.newest[exploration] = partitions
	}
	if partitions[partition] == nil {
		partitions[partition] = entries{}
	}
	made := origin{checkpoint.SpecHash, checkpoint.Kernel}
	switch last := partitions[partition][made]; {
	case last == nil:
		partitions[partition][made] = &entry{Checkpoint: checkpoint}
	case supersedes(checkpoint, last.Checkpoint, made.kernel):
		last.Checkpoint = checkpoint
	}
	return nil
}

// of returns the checkpoints made under the spec by the kernel that it names.
func (b *scoreboard) of(spec *wire.Spec) []*wire.Checkpoint {
	var usable []*wire.Checkpoint
	b.each(spec, func(e *entry, fits bool) {
		if fits {
			usable = append(usable, e.Checkpoint)
		}
	})
	return usable
}

// refusals says why other checkpoints under the exploration's key are not used, once for each origin.
func (b *scoreboard) refusals(spec *wire.Spec) []error {
	var refused []error
	b.each(spec, func(e *entry, fits bool) {
		if !fits && !e.refused {
			e.refused = true
			refused = append(refused, e.CheckAgainst(spec, spec.Kernel))
		}
	})
	return refused
}

// each calls do for the checkpoints under the exploration's key, and says which of them may be used.
func (b *scoreboard) each(spec *wire.Spec, do func(e *entry, fits bool)) {
	if b.spec != spec { // the hash of a large encoder takes its time
		b.spec, b.specHash = spec, spec.Hash()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, partition := range b.newest[spec.Exploration] {
		for _, e := range partition {
			do(e, b.fits(e.Checkpoint))
		}
	}
}

// fits is [wire.Checkpoint.CheckAgainst] for the spec in hand, whose hash is known.
func (b *scoreboard) fits(c *wire.Checkpoint) bool {
	part, ok := b.spec.Partition(c.Partition)
	return ok && c.SpecHash == b.specHash && c.Kernel == b.spec.Kernel && c.NextOffset >= part.StartOffset &&
		c.Sums.Candidates() == b.spec.Candidates.Count
}
