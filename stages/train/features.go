package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/supervise"
	"github.com/eerf-stream/eerf/training"
)

// errDropped reports that the sums of a lane were dropped because some of them no longer match the
// topic.
var errDropped = errors.New("the sums were dropped")

// features reads one partition of features into its sums. During a read it belongs to the reading
// goroutine, otherwise to the goroutine of the runner.
type features struct {
	runner     *Runner
	logger     *zap.Logger
	sums       *Partition
	number     int
	start      int64          // offset at which the window begins
	next       int64          // next offset to read
	rows       int64          // rows of the set that were read, labelled or not
	place      pipeline.Place // in features, before next
	at         *meter.Position
	restarted  bool             // sums were restarted since the last model
	reader     *pipeline.Reader // of the last read
	supervised *supervise.Partition

	refused int   // unusable messages in the last read, logged in one line
	cause   error // error of the first of them
}

// catchUp adds the rows of the features topic that the sums lack, and starts new sums for a new
// set.
func (r *Runner) catchUp(ctx context.Context, set *state.Set) error {
	if err := set.Set.Encoder.CheckOutputs(r.MaxOutputs); err != nil {
		return fmt.Errorf("train on feature set %s: %w", set.ID, err)
	}
	partitions, err := pipeline.Retry(ctx, r.Env.Logger, "look up topic "+r.Env.Topics.Features, func() (int, error) {
		return r.Env.Broker.Partitions(ctx, r.Env.Topics.Features)
	})
	if err != nil {
		return err
	}
	if r.trainer == nil || r.trainer.FeatureSetID() != set.ID || len(r.features) != partitions || r.outgrown() {
		if err := r.begin(ctx, set, partitions); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, r.Env.Slots.Count()))
	before := r.trainer.Counts()
	for first := 0; first < partitions; {
		next := first + len(r.features[first].sums.lane.parts)
		neighbours := r.features[first:next]
		group.Go(func() error { return r.readLane(ctx, neighbours) })
		first = next
	}
	err = group.Wait()
	failpoint.Hit(failpoint.TrainRead)
	r.Env.Meter.AddTrain(meter.Sub(r.trainer.Counts(), before))
	for _, f := range r.features {
		if f.restarted { // equal counts may mean other rows
			f.restarted, r.solved = false, 0
		}
	}
	return err
}

// FeatureLimits returns the limits for messages of features whose size limits allow: their columns
// are read in place.
func FeatureLimits(limits arrowio.Limits) arrowio.Limits {
	limits.BudgetBytes = min(limits.BudgetBytes, 2*limits.MaxMessageBytes)
	return limits
}

// begin starts new sums for a set.
func (r *Runner) begin(ctx context.Context, set *state.Set, partitions int) error {
	r.leave()
	starts, err := r.starts(ctx, set.ID, partitions)
	if err != nil {
		return fmt.Errorf("find where train.window begins: %w", err)
	}
	trainer, err := New(set.Set, r.Config, FeatureLimits(r.Env.State.Limits()), partitions)
	if err != nil {
		return err
	}
	r.trainer, r.solved = trainer, 0
	for number := range partitions {
		f := &features{
			runner:     r,
			logger:     r.Env.Logger.With(zap.Int("partition", number)),
			sums:       trainer.Partition(number),
			number:     number,
			start:      pipeline.FirstOffset,
			at:         r.Env.Meter.Follow(meter.StageTrain, r.Env.Topics.Features, number, 0),
			supervised: r.stage.Partition(number),
		}
		if starts != nil {
			f.start = starts[number]
		}
		f.next = f.start
		r.features = append(r.features, f)
	}
	return nil
}

// readLane reads the partitions of a lane in order. If the sums of the lane had to be dropped, it
// rereads all of them.
func (r *Runner) readLane(ctx context.Context, neighbours []*features) error {
	for again := true; again; {
		again = false
		for _, f := range neighbours {
			err := f.readOrQuarantine(ctx)
			if errors.Is(err, errDropped) {
				for _, f := range neighbours {
					f.restart()
				}
				again = true
				break
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// leave drops the sums and stops following the partitions.
func (r *Runner) leave() {
	for _, f := range r.features {
		f.at.Leave()
		f.supervised.Recovered()
	}
	r.trainer, r.features = nil, nil
	r.reportRowMemory()
}

// reportRowMemory reports the bytes of the rows that the logistic loss keeps.
func (r *Runner) reportRowMemory() {
	if r.Config.Loss == training.LossSquared {
		return
	}
	budget := meter.Budget{Setting: meter.BudgetTrainRows, Limit: r.Config.RowMemory}
	if r.trainer != nil {
		budget.Used = r.trainer.keptBytes()
	}
	r.Env.Meter.SetBudget(budget)
}

// readOrQuarantine reads the partition. If that fails, or the partition has no leader, models are
// trained without its newest rows, and a later read retries.
func (f *features) readOrQuarantine(ctx context.Context) error {
	if time.Now().Before(f.supervised.RetryAt()) {
		return nil
	}
	bounded, stop := f.runner.leaders.During(ctx, func() bool { return f.runner.leaders.IsGone(f.number) })
	defer stop()
	err := f.read(bounded)
	if err != nil && !errors.Is(err, errDropped) && errors.Is(context.Cause(bounded), supervise.ErrNoLeader) {
		err = supervise.ErrNoLeader
	}
	switch {
	case err == nil:
		f.supervised.Recovered()
		return nil
	case errors.Is(err, errDropped) || ctx.Err() != nil || f.runner.stage.EndsProcess(err):
		return err
	}
	f.supervised.Failed(ctx, err)
	return nil
}

// read adds the messages of the partition up to its present end.
func (f *features) read(ctx context.Context) error {
	f.refused, f.cause = 0, nil
	defer f.logRefused()
	defer f.sums.Trim()
	f.reader = pipeline.NewReader(f.runner.Env.Broker, f.logger, f.runner.Env.Topics.Features, f.number,
		pipeline.ReadOptions{
			From:  f.next,
			Until: pipeline.PresentEnd,
			Watch: pipeline.WatchBatches,
			Place: f.place,
			OnGap: f.gap,
		})
	next, end, err := f.reader.Begin(ctx)
	if err != nil {
		return err
	}
	f.moveTo(next, end)
	for fetched, err := range f.reader.Fetches(ctx) {
		if err != nil {
			return err
		}
		f.at.Fetched(fetched, f.runner.Env.Clock())
		if err := f.add(ctx, fetched.Records); err != nil {
			return err
		}
		f.next, f.place = fetched.NextOffset, fetched.Place
		f.at.Done(f.next)
	}
	f.next, f.place = f.reader.NextOffset(), f.reader.Place()
	f.at.Done(f.next)
	return nil
}

// moveTo reports the next offset and the end of the partition.
func (f *features) moveTo(next, end int64) {
	f.next = next
	f.at.Fetched(pipeline.Fetched{NextOffset: next, End: end}, f.runner.Env.Clock())
	f.at.Done(next)
}

// gap drops the sums if the topic was truncated or recreated, because its first offsets may now
// hold other rows with the same event offsets.
func (f *features) gap(g pipeline.Gap) error {
	if !g.Changed() {
		f.logger.Error("features topic has a gap; skipping it", zap.Stringer("gap", g),
			zap.Int64("missing_offsets", g.Missing()), zap.Error(g.Err))
		return nil
	}
	f.logger.Warn("features topic was truncated or recreated; summing the partition from its first offset",
		zap.Stringer("gap", g), zap.Int64("missing_offsets", g.Missing()), zap.Error(g.Err))
	f.runner.Env.Meter.AddGap(g)
	f.sums.lane.reset()
	f.runner.reportRowMemory()
	return errDropped
}

// restart rereads the partition from its first offset, because the beginning of the window is no
// longer known.
func (f *features) restart() {
	f.start, f.next, f.rows, f.restarted = pipeline.FirstOffset, pipeline.FirstOffset, 0, true
	f.place = pipeline.Place{}
}

func (f *features) logRefused() {
	if f.refused > 0 {
		f.logger.Error("features messages are unusable; sent to the dead letters",
			zap.Int("messages", f.refused), zap.NamedError("first_error", f.cause))
	}
}

// add adds messages and sends unusable ones to the dead letters.
func (f *features) add(ctx context.Context, records []pipeline.Record) error {
	defer f.runner.Env.Meter.Worked(meter.StageTrain, time.Now())
	var deadLetters []deadletter.Draft
	waiting := 0 // bytes
	for _, rec := range records {
		cause := f.addMessage(rec)
		if cause != nil {
			deadLetter := deadletter.Refused(meter.StageTrain, rec, cause, f.runner.Env.Clock())
			deadLetters = append(deadLetters, deadLetter)
			f.refused++
			if f.cause == nil {
				f.cause = cause
			}
			waiting += deadLetter.Memory()
			if waiting >= deadletter.PendingBytes {
				if err := f.sendDeadLetters(ctx, deadLetters); err != nil {
					return err
				}
				deadLetters, waiting = nil, 0
			}
		}
	}
	return f.sendDeadLetters(ctx, deadLetters)
}

// sendDeadLetters opens the writer for the first dead letters, because usually there are none.
func (f *features) sendDeadLetters(ctx context.Context, deadLetters []deadletter.Draft) (err error) {
	if len(deadLetters) == 0 {
		return nil
	}
	f.runner.opening.Lock()
	if f.runner.writer == nil {
		f.runner.writer, err = pipeline.OpenWriter(ctx, f.runner.Env.Broker, f.logger, nil)
	}
	writer := f.runner.writer
	f.runner.opening.Unlock()
	if err != nil {
		return err
	}
	sender := deadletter.Sender{
		To:     writer,
		Topic:  f.runner.Env.Topics.DeadLetters,
		Meter:  f.runner.Env.Meter,
		Logger: f.logger,
	}
	return sender.Send(ctx, f.number, deadLetters)
}

// addMessage adds a message to the sums.
func (f *features) addMessage(rec pipeline.Record) error {
	defer f.runner.Env.Meter.Handled(meter.StageTrain, time.Now())
	span := meter.StartSpan(f.runner.Env.Tracer, f.runner.Env.Group, meter.StageTrain, rec)
	defer span.End()
	before, size := f.sums.counts, int64(rec.Size())
	err := f.sums.Add(rec)
	grown := meter.Sub(f.sums.counts, before)
	f.at.Count(grown.Messages-grown.OtherSet,
		grown.Rows+grown.Unlabelled+grown.UnseenClass+grown.Rejected+grown.Duplicate)
	f.rows += grown.Rows + grown.Unlabelled + grown.UnseenClass + grown.Rejected
	f.runner.reportRowMemory()
	switch {
	case err != nil:
		meter.FailSpan(span, deadletter.Reason(err), err)
		f.runner.Env.Meter.AddTraffic(meter.StageTrain, meter.Traffic{UndecodableBytes: size})
	case grown.OtherSet > 0:
		f.runner.Env.Meter.AddTraffic(meter.StageTrain, meter.Traffic{OtherSetBytes: size})
	default:
		f.runner.Env.Meter.AddTraffic(meter.StageTrain, meter.Traffic{UsedBytes: size})
	}
	return err
}
