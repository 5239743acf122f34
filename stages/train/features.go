package train

import (
	"context"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/training"
)

// features reads one partition of features into its sums. It belongs to the goroutine that reads it, from the beginning of a
// read to its end, and in between to that of the runner.
type features struct {
	*Runner
	logger    *zap.Logger
	sums      *Partition
	number    int
	next      int64 // offset to read
	at        *meter.Position
	restarted bool // the last read restarted the sums

	refused int   // messages that the last read could not use: a line for each would flood the log
	cause   error // why the first of them could not be used
}

// catchUp adds what the features topic holds beyond the sums, starting new sums for a new set.
func (r *Runner) catchUp(ctx context.Context, set *state.Set) error {
	partitions, err := pipeline.Retry(ctx, r.Logger, "look up topic "+r.Topics.Features, func() (int, error) {
		return r.Broker.Partitions(ctx, r.Topics.Features)
	})
	if err != nil {
		return err
	}
	if r.trainer == nil || r.trainer.FeatureSetID() != set.ID || len(r.features) != partitions {
		if err := r.begin(set, partitions); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	before := r.trainer.Counts()
	for _, f := range r.features {
		group.Go(func() error { return f.read(ctx) })
	}
	err = group.Wait()
	failpoint.Hit(failpoint.TrainRead)
	r.Meter.AddTrain(meter.Less(r.trainer.Counts(), before))
	for _, f := range r.features {
		if f.restarted { // equal counts may be other rows
			r.solved, r.other = 0, nil
		}
	}
	return err
}

// begin starts new sums for a set.
func (r *Runner) begin(set *state.Set, partitions int) error {
	r.leave()
	trainer, err := New(set.Set, r.Config, r.State.Limits(), partitions)
	if err != nil {
		return err
	}
	r.trainer, r.solved = trainer, 0
	for number := range partitions {
		r.features = append(r.features, &features{
			Runner: r, logger: r.Logger.With(zap.Int("partition", number)), sums: trainer.Partition(number), number: number,
			next: pipeline.FirstOffset, at: r.Meter.Follow(meter.StageTrain, r.Topics.Features, number, 0),
		})
	}
	return nil
}

// leave drops the sums and stops following the partitions.
func (r *Runner) leave() {
	for _, f := range r.features {
		f.at.Leave()
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
	r.Meter.SetBudget(budget)
}

// read adds the messages of the partition up to its present end.
func (f *features) read(ctx context.Context) error {
	f.restarted, f.refused, f.cause = false, 0, nil
	defer f.logRefused()
	reader := pipeline.NewReader(f.Broker, f.logger, f.Topics.Features, f.number,
		pipeline.ReadOptions{From: f.next, Until: pipeline.PresentEnd, OnGap: f.gap})
	next, end, err := reader.Begin(ctx)
	if err != nil {
		return err
	}
	f.moveTo(next, end)
	for fetched, err := range reader.Fetches(ctx) {
		if err != nil {
			return err
		}
		f.at.Fetched(fetched, f.Clock())
		if err := f.add(ctx, fetched.Records); err != nil {
			return err
		}
		f.next = fetched.NextOffset
		f.at.Done(f.next)
	}
	f.next = reader.NextOffset()
	f.at.Done(f.next)
	return nil
}

// moveTo reports that the partition is read from an offset on and ends at another.
func (f *features) moveTo(next, end int64) {
	f.next = next
	f.at.Fetched(pipeline.Fetched{NextOffset: next, End: end}, f.Clock())
	f.at.Done(next)
}

// gap restarts the sums where the topic was truncated or recreated: what is read again, from its first offset on, may be other
// rows under the offsets of events that the sums have.
func (f *features) gap(g pipeline.Gap) error {
	if g.Kind != pipeline.GapTruncated {
		f.logger.Error("features skipped", zap.Stringer("gap", g), zap.Int64("missing_offsets", g.Missing()), zap.Error(g.Err))
		return nil
	}
	f.logger.Warn("features were truncated or recreated, the partition is summed again from its first offset", zap.Stringer("gap", g))
	f.restarted = true
	f.sums.Reset()
	f.reportRowMemory()
	f.moveTo(g.To, g.End)
	return nil
}

func (f *features) logRefused() {
	if f.refused > 0 {
		f.logger.Error("features messages not usable, sent to the dead letters",
			zap.Int("messages", f.refused), zap.NamedError("first_error", f.cause))
	}
}

// add adds messages, and sends those that cannot be used to the dead letters.
func (f *features) add(ctx context.Context, records []pipeline.Record) error {
	defer f.Meter.Worked(meter.StageTrain, time.Now())
	sender := deadletter.Sender{Log: f.Broker, Topic: f.Topics.DeadLetters, Meter: f.Meter, Logger: f.logger}
	var deadLetters []pipeline.Record
	waiting := 0 // bytes
	for _, rec := range records {
		cause := f.addMessage(rec)
		if cause != nil {
			deadLetter := deadletter.Refused(meter.StageTrain, rec, cause, f.Clock())
			deadLetters = append(deadLetters, deadLetter)
			if f.refused++; f.cause == nil {
				f.cause = cause
			}
			if waiting += deadLetter.Memory(); waiting >= deadletter.PendingBytes {
				if err := sender.Send(ctx, f.number, deadLetters); err != nil {
					return err
				}
				deadLetters, waiting = nil, 0
			}
		}
	}
	return sender.Send(ctx, f.number, deadLetters)
}

// addMessage adds a message to the sums.
func (f *features) addMessage(rec pipeline.Record) error {
	defer f.Meter.Handled(meter.StageTrain, time.Now())
	span := meter.StartSpan(f.Tracer, f.Group, meter.StageTrain, rec)
	defer span.End()
	before, size := f.sums.counts, int64(rec.Size())
	err := f.sums.Add(rec)
	grown := meter.Less(f.sums.counts, before)
	f.at.Count(grown.Messages-grown.OtherSet, grown.Rows+grown.Unlabelled+grown.Duplicate)
	f.reportRowMemory()
	switch {
	case err != nil:
		meter.FailSpan(span, deadletter.Reason(err), err)
		f.Meter.AddTraffic(meter.StageTrain, meter.Traffic{UndecodableBytes: size})
	case grown.OtherSet > 0:
		f.Meter.AddTraffic(meter.StageTrain, meter.Traffic{OtherSetBytes: size})
	default:
		f.Meter.AddTraffic(meter.StageTrain, meter.Traffic{UsedBytes: size})
	}
	return err
}
