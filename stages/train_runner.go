package stages

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// TrainRunner is the train stage: it keeps sums of the features of the current set and publishes models. It keeps no
// durable state: after a start its sums are built again from the features topic.
type TrainRunner struct {
	*Runtime
	logger *zap.Logger

	trainer *Trainer
	next    []int64              // offset of features to read, by partition
	solved  int64                // rows behind the last model published
	models  map[string]time.Time // record times of the models on their topic; nil until they were read
}

// NewTrainRunner returns the runner; Run starts it, Fit makes a single model.
func NewTrainRunner(r *Runtime) *TrainRunner {
	return &TrainRunner{Runtime: r, logger: r.Logger.With(zap.String("stage", StageTrain))}
}

// Run publishes a model at every interval in which rows came, until ctx ends. One instance at a time trains: the owner
// of the single partition of explorations in the group of this stage.
func (r *TrainRunner) Run(ctx context.Context) error {
	return r.Broker.Own(ctx, r.group(StageTrain), r.Settings.Topics.Explorations,
		func(ctx context.Context, _ pipeline.Ownership) error { return endOf(ctx, r.own(ctx)) })
}

func (r *TrainRunner) own(ctx context.Context) error {
	r.trainer, r.solved, r.models = nil, 0, nil // others may have trained meanwhile
	for {
		model, err := r.Fit(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrTooFewRows), errors.Is(err, ErrNoNewRows):
			r.logger.Debug("no model yet", zap.Error(err))
		case err != nil && pipeline.IsPermanent(err):
			return err
		case err != nil:
			r.logger.Error("no model could be made", zap.Error(err))
		default:
			r.logger.Info("model published", zap.String("model", model.ID), zap.String("feature_set", model.FeatureSetID),
				zap.Int64("rows", model.TrainRows), zap.Float64("lambda", model.Model.Lambda))
		}
		timer := time.NewTimer(r.Settings.Train.Interval)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// ErrNoNewRows says that no row came since the last model.
var ErrNoNewRows = errors.New("no training rows since the last model")

// Fit reads the features topic to its present end, for the current feature set, and publishes a model. It waits for a
// feature set where there is none.
func (r *TrainRunner) Fit(ctx context.Context) (*wire.Model, error) {
	if _, err := r.Watch.Wait(ctx, func(State) bool { return true }); err != nil {
		return nil, fmt.Errorf("read the feature sets: %w", err)
	}
	if r.Watch.State().CurrentSet() == nil {
		r.logger.Info("waiting for a feature set", zap.String("pipeline", r.Settings.Pipeline.Name))
	}
	state, err := r.Watch.Wait(ctx, func(s State) bool { return s.CurrentSet() != nil })
	if err != nil {
		return nil, fmt.Errorf("wait for a feature set: %w", err)
	}
	if err := r.catchUp(ctx, state.CurrentSet()); err != nil {
		return nil, err
	}
	rows := r.trainer.Rows()
	if rows > 0 && rows == r.solved {
		return nil, ErrNoNewRows
	}
	defer r.Counters.worked(StageTrain, time.Now())
	model, err := r.trainer.Solve(ctx, r.Settings.Pipeline.Name, r.Clock())
	if err != nil {
		return nil, err
	}
	if d := model.Metrics.Descent; d != nil && !d.Converged {
		r.logger.Warn("the model did not converge", zap.String("model", model.ID), zap.Int("iterations", d.Iterations),
			zap.Float64("relative_gradient", d.RelativeGradient))
	}
	model.Sequence = state.Current.Sequence // a later exploration may have found the same set again
	if err := r.publish(ctx, model); err != nil {
		return nil, err
	}
	r.solved = rows
	return model, nil
}

// catchUp adds what the features topic holds beyond the sums, starting new sums for a new set.
func (r *TrainRunner) catchUp(ctx context.Context, set *PublishedSet) error {
	topic := r.Settings.Topics.Features
	partitions, err := pipeline.Retry(ctx, r.logger, "look up topic "+topic, func() (int, error) {
		return r.Broker.Partitions(ctx, topic)
	})
	if err != nil {
		return err
	}
	if r.trainer == nil || r.trainer.FeatureSetID() != set.ID || len(r.next) != partitions {
		if r.trainer, err = NewTrainer(set.Set, r.Settings.Train, r.Watch.limits, partitions); err != nil {
			return err
		}
		r.next, r.solved = make([]int64, partitions), 0
		for i := range r.next {
			r.next[i] = -1
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	before := r.trainer.Counts()
	for partition := range partitions {
		group.Go(func() error { return r.read(ctx, partition) })
	}
	err = group.Wait()
	r.Counters.addTrain(r.trainer.Counts(), before)
	return err
}

// read adds the messages of a partition up to its present end.
func (r *TrainRunner) read(ctx context.Context, partition int) error {
	topic := r.Settings.Topics.Features
	span, err := pipeline.Retry(ctx, r.logger, "look up offsets", func() (span [2]int64, err error) {
		span[0], span[1], err = r.Broker.Offsets(ctx, topic, partition)
		return span, err
	})
	if err != nil {
		return err
	}
	var refused refusals
	defer func() { refused.log(r.logger, partition) }()
	at := max(r.next[partition], span[0])
	for at < span[1] {
		fetched, err := pipeline.Retry(ctx, r.logger, "read features", func() (pipeline.Fetched, error) {
			return r.Broker.Fetch(ctx, topic, partition, at)
		})
		if after, ok := passOver(err, at); ok {
			r.logger.Error("features passed over", zap.Int("partition", partition), zap.Int64("offset", at), zap.Error(err))
			at = after
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s/%d from offset %d: %w", topic, partition, at, err)
		}
		if err := r.add(ctx, partition, fetched.Records, &refused); err != nil {
			return err
		}
		at = fetched.NextOffset
	}
	r.next[partition] = at
	return nil
}

// refusals sums up the messages that one read could not use: a line for each would flood the log.
type refusals struct {
	messages int
	first    error
}

func (s *refusals) log(logger *zap.Logger, partition int) {
	if s.messages > 0 {
		logger.Error("features messages not usable, sent to the dead letters", zap.Int("partition", partition),
			zap.Int("messages", s.messages), zap.NamedError("first_error", s.first))
	}
}

func (r *TrainRunner) add(ctx context.Context, partition int, records []pipeline.Record, refused *refusals) error {
	defer r.Counters.worked(StageTrain, time.Now())
	var letters []pipeline.Record
	for _, rec := range records {
		cause := r.trainer.Partition(partition).Add(rec)
		if errors.Is(cause, ErrRowMemory) {
			return cause
		}
		if cause != nil {
			letters = append(letters, refusedMessage(StageTrain, rec, cause, r.Clock()))
			if refused.messages++; refused.first == nil {
				refused.first = cause
			}
		}
	}
	return pipeline.Try(ctx, r.logger, "send dead letters", func() error {
		return deadLetters{r.Broker, r.Settings.Topics.DeadLetters}.send(ctx, partition, letters)
	})
}

// passOver returns the next offset that can be read after an error about particular offsets.
func passOver(err error, at int64) (int64, bool) {
	var unreadable *pipeline.UnreadableBatchError
	if errors.As(err, &unreadable) {
		return unreadable.NextOffset, true
	}
	var outOfRange *pipeline.OffsetOutOfRangeError
	if errors.As(err, &outOfRange) && outOfRange.First > at {
		return outOfRange.First, true
	}
	return at, false
}

// publish writes the model, then the pointer to it, then tombstones the models that are not kept any longer.
func (r *TrainRunner) publish(ctx context.Context, model *wire.Model) error {
	value, err := wire.EncodeModel(model)
	if err != nil {
		return pipeline.Permanent(err)
	}
	pointer, err := wire.EncodeCurrent(&wire.Current{ID: model.ID, Sequence: model.Sequence, Time: model.TrainedAt})
	if err != nil {
		return pipeline.Permanent(err)
	}
	name := r.Settings.Pipeline.Name
	records := []pipeline.Record{
		{Key: wire.SetKey(name, model.ID), Value: value, Time: model.TrainedAt},
		{Key: wire.CurrentKey(name), Value: pointer, Time: model.TrainedAt},
	}
	for _, record := range records {
		err := pipeline.Try(ctx, r.logger, "publish model", func() error {
			_, err := r.Broker.Produce(ctx, r.Settings.Topics.Models, 0, []pipeline.Record{record})
			return err
		})
		if err != nil {
			return fmt.Errorf("publish model %s: %w", model.ID, err)
		}
	}
	return r.retire(ctx, model)
}

func (r *TrainRunner) retire(ctx context.Context, newest *wire.Model) error {
	if err := r.readModels(ctx); err != nil {
		return err
	}
	r.models[newest.ID] = newest.TrainedAt
	topics, name := r.Settings.Topics, r.Settings.Pipeline.Name
	for _, id := range outdated(r.models, topics.KeepModels, topics.FeaturesRetention, r.Clock()) {
		err := pipeline.Try(ctx, r.logger, "retire model", func() error {
			_, err := r.Broker.Produce(ctx, topics.Models, 0, []pipeline.Record{{Key: wire.SetKey(name, id), Time: r.Clock()}})
			return err
		})
		if err != nil {
			return fmt.Errorf("retire model %s: %w", id, err)
		}
		delete(r.models, id)
	}
	return nil
}

// readModels lists, once, the models that the topic holds.
func (r *TrainRunner) readModels(ctx context.Context) error {
	if r.models != nil {
		return nil
	}
	models := map[string]time.Time{}
	_, err := pipeline.ReadAll(ctx, r.Broker, r.logger, r.Settings.Topics.Models, 0, func(rec pipeline.Record) error {
		owner, id, current, ok := wire.ParseSetKey(rec.Key)
		switch {
		case !ok || current || owner != r.Settings.Pipeline.Name:
		case rec.Value == nil:
			delete(models, id)
		default:
			models[id] = rec.Time
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list models: %w", err)
	}
	r.models = models
	return nil
}
