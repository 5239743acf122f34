package stages

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/training"
)

// TrainRunner is the train stage: it keeps sums of the features of the current set, makes models and puts those in use that
// stand up to the one before. It keeps no durable state: after a start its sums are built again from the features topic.
type TrainRunner struct {
	*Runtime
	logger *zap.Logger

	trainer *Trainer
	next    []int64      // offset of features to read, by partition
	at      []*progress  // through features, by partition
	solved  int64        // rows behind the last model that was judged
	kept    atomic.Int64 // bytes of the rows that the logistic loss keeps
	models  *Models      // nil before it owns the training
	inUse   *wire.Model  // the model in use, as it was loaded last
	other   *otherSet    // comparison with a model of another feature set; nil while none is needed
}

// NewTrainRunner returns the runner; Run starts it, Fit makes a single model.
func NewTrainRunner(r *Runtime) *TrainRunner {
	runner := &TrainRunner{Runtime: r, logger: r.Logger.With(zap.String("stage", StageTrain))}
	if r.Settings.Train.Loss == training.LossLogistic {
		r.Counters.meter(budgetTrainRows, r.Settings.Train.RowMemory, runner.kept.Load)
	}
	return runner
}

// Run makes a model at every interval in which rows came, until ctx ends. One instance at a time trains: the owner
// of the single partition of explorations in the group of this stage.
func (r *TrainRunner) Run(ctx context.Context) error {
	return r.Broker.Own(ctx, r.group(StageTrain), r.Settings.Topics.Explorations,
		func(ctx context.Context, _ pipeline.Ownership) error { return endOf(ctx, r.own(ctx)) })
}

func (r *TrainRunner) own(ctx context.Context) error {
	r.trainer, r.solved, r.models = nil, 0, nil // others may have trained meanwhile
	if err := r.refresh(ctx); err != nil {
		return endOf(ctx, err)
	}
	defer r.Counters.setModel(nil)
	defer r.leaveFeatures()
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
			r.logFitted(model)
		}
		timer := time.NewTimer(r.Settings.Train.Interval)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// logFitted says what became of a model.
func (r *TrainRunner) logFitted(f *Fitted) {
	fields := []zap.Field{zap.String("model", f.ID), zap.String("feature_set", f.FeatureSetID),
		zap.Int64("rows", f.TrainRows), zap.Float64("lambda", f.Model.Model.Lambda)}
	if j := f.Judgement; j != nil {
		fields = append(fields, zap.Any("judgement", j))
	}
	switch {
	case f.Unchanged:
		r.logger.Info("model unchanged", fields...)
	case f.Current && f.Judgement.Verdict == wire.VerdictNewSet && f.Judgement.Compared() && *f.Judgement.ChallengerError > *f.Judgement.IncumbentError:
		r.logger.Warn("model published, though that of the feature set before was better", fields...)
	case f.Current:
		r.logger.Info("model published", fields...)
	case f.Judgement.Verdict.Promoted():
		r.logger.Warn("model not put in use: another one was made current meanwhile", fields...)
	default:
		r.logger.Info("model not put in use: the one before stays", fields...)
	}
}

// ErrNoNewRows says that no row came since the last model.
var ErrNoNewRows = errors.New("no training rows since the last model")

// Fit reads the features topic to its present end, for the current feature set, makes a model, compares it with the one in use
// and puts it in its place if it is to be. It waits for a feature set where there is none.
func (r *TrainRunner) Fit(ctx context.Context) (*Fitted, error) {
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
	if err := r.refresh(ctx); err != nil {
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
	fitted, err := r.publish(ctx, model)
	if err != nil {
		return nil, err
	}
	if fitted.Current || !fitted.Judgement.Verdict.Promoted() { // else it is to be judged again
		r.solved = rows
	}
	return fitted, nil
}

// refresh reads what others wrote about models, and tells the counters of the one in use, so that its age and error are known
// from the start.
func (r *TrainRunner) refresh(ctx context.Context) error {
	if r.models == nil {
		r.models = NewModels(r.Runtime)
		r.models.logger = r.logger
		r.inUse, r.other = nil, nil
	}
	if err := r.models.Refresh(ctx); err != nil {
		return err
	}
	if err := r.models.repair(ctx); err != nil {
		return err
	}
	r.tell()
	return nil
}

// tell tells the counters of the model in use.
func (r *TrainRunner) tell() {
	entry, _ := r.models.CurrentEntry()
	r.Counters.setModel(entry.Model)
	var pin wire.Pin
	if current := r.models.Current(); current != nil {
		pin = current.Pin
	}
	r.Counters.setPin(pin, r.models.newest())
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
			r.next[i] = pipeline.FirstOffset
		}
		r.followFeatures(partitions)
	}
	group, ctx := errgroup.WithContext(ctx)
	before := r.trainer.Counts()
	for partition := range partitions {
		group.Go(func() error { return r.read(ctx, partition) })
	}
	err = group.Wait()
	failpoint.Hit(failpoint.TrainRead)
	r.Counters.addTrain(r.trainer.Counts(), before)
	return err
}

// read adds the messages of a partition up to its present end.
func (r *TrainRunner) read(ctx context.Context, partition int) error {
	reader := pipeline.NewReader(r.Broker, r.logger, r.Settings.Topics.Features, partition, pipeline.ReadOptions{
		From: r.next[partition], Until: pipeline.PresentEnd, OnGap: func(g pipeline.Gap) error {
			r.logger.Error("features passed over", zap.Int("partition", partition), zap.String("kind", string(g.Kind)),
				zap.Int64("offset", g.From), zap.Int64("next_offset", g.To), zap.Int64("missing_offsets", g.Missing()), zap.Error(g.Err))
			return nil
		}})
	var refused refusals
	defer func() { refused.log(r.logger, partition) }()
	next, end, err := reader.Begin(ctx)
	if err != nil {
		return err
	}
	r.reads(partition, next, end)
	for fetched, err := range reader.Fetches(ctx) {
		if err != nil {
			return err
		}
		r.at[partition].fetched(fetched, r.Clock())
		if err := r.add(ctx, partition, fetched.Records, &refused); err != nil {
			return err
		}
		r.at[partition].done(fetched.NextOffset)
	}
	r.next[partition] = reader.NextOffset()
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
		cause := r.addMessage(partition, rec)
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
	err := pipeline.Try(ctx, r.logger, "send dead letters", func() error {
		return deadLetters{r.Broker, r.Settings.Topics.DeadLetters}.send(ctx, partition, letters)
	})
	if err == nil {
		r.Counters.addLetters(letters)
	}
	return err
}

// addMessage adds a message to the sums of its partition.
func (r *TrainRunner) addMessage(partition int, rec pipeline.Record) error {
	defer r.Counters.handled(StageTrain, time.Now())
	span := r.startSpan(StageTrain, rec)
	defer span.End()
	sums := r.trainer.Partition(partition)
	before, size := sums.counts, int64(rec.Size())
	err := sums.Add(rec)
	r.countTrained(partition, before, sums.counts)
	r.kept.Store(r.trainer.kept.Load())
	switch {
	case err != nil && !errors.Is(err, ErrRowMemory):
		failSpan(span, err)
		r.Counters.addTraffic(StageTrain, Traffic{UndecodableBytes: size})
	case sums.counts.OtherSet > before.OtherSet:
		r.Counters.addTraffic(StageTrain, Traffic{OtherSetBytes: size})
	default:
		r.Counters.addTraffic(StageTrain, Traffic{UsedBytes: size})
	}
	return err
}
