package subsample

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/supervise"
	"github.com/eerf-stream/eerf/stages/topics"
)

// Runner is the stage: it accumulates the scores of the partitions of events that this process
// owns.
type Runner struct {
	Env    env.Env
	Config Config
	// CandidateMemory bounds the memory of the candidates, in bytes.
	CandidateMemory int64
	// MaxOutputs is the number of outputs for which the process has memory; 0 = any.
	MaxOutputs int

	mu   sync.Mutex
	bank *scoring.Bank // of the exploration named by key; shared by the partitions
	key  string
}

// Run owns partitions until ctx ends. It gives them up while an exploration runs that this process
// cannot compute.
func (r *Runner) Run(ctx context.Context) error {
	r.Env.Meter.SetBudget(meter.Budget{Setting: meter.BudgetCandidates, Limit: r.CandidateMemory})
	r.Env.Meter.RightKernel(meter.StageSubsample)
	leaves := func(from *wire.Spec) {
		r.Env.Meter.WrongKernel(r.Env.Logger, meter.StageSubsample, scoring.Arithmetic(), from)
	}
	supervised := &supervise.Stage{
		Name: meter.StageSubsample, Meter: r.Env.Meter, Logger: r.Env.Logger, Policy: r.Env.Quarantine,
		Overdue: supervise.Exclude(r.Env.State, r.Env.Logger, r.Env.Clock),
	}
	return r.Env.State.WhileKernelMatches(ctx, scoring.Arithmetic(), leaves, func(ctx context.Context) error {
		return r.Env.Broker.Own(ctx, r.Env.Group, r.Env.Topics.Events, func(ctx context.Context, o pipeline.Ownership) error {
			return supervised.Run(ctx, o.Partition, func(ctx context.Context) error { return r.own(ctx, o) })
		})
	})
}

// owner is an ownership with the writer that fences earlier owners.
type owner struct {
	pipeline.Ownership
	writer pipeline.Producer
}

// own works on a partition until ctx ends.
func (r *Runner) own(ctx context.Context, o pipeline.Ownership) error {
	logger := r.Env.Logger.With(zap.Int("partition", o.Partition))
	return pipeline.Retake(ctx, logger, func() error { return r.take(ctx, logger, o) })
}

// take fences earlier owners of the partition and runs one exploration after another.
func (r *Runner) take(ctx context.Context, logger *zap.Logger, ownership pipeline.Ownership) error {
	o := owner{Ownership: ownership}
	err := topics.WaitCoPartitioned(
		ctx,
		r.Env.Broker,
		logger,
		o.Partition,
		r.Env.Topics.Scores,
		r.Env.Topics.Samples,
		r.Env.Topics.DeadLetters,
	)
	if err != nil {
		return pipeline.EndOf(ctx, err)
	}
	if _, err := r.Env.State.Wait(ctx, func(state.Snapshot) bool { return true }); err != nil {
		return pipeline.EndOf(ctx, err)
	}
	if o.writer, err = r.openWriter(ctx, logger, o.Partition); err != nil {
		return pipeline.EndOf(ctx, err)
	}
	if err := r.retire(ctx, logger, o); err != nil { // checkpoints left by an earlier owner
		return err
	}
	for {
		now, err := r.Env.State.Wait(ctx, func(s state.Snapshot) bool { return s.Running() != nil })
		if err != nil {
			return pipeline.EndOf(ctx, err)
		}
		// explore returns once that very exploration no longer runs: two planners may use the same
		// sequence number.
		if err := r.explore(ctx, logger, now.Running(), o); err != nil {
			return err
		}
	}
}

func (r *Runner) openWriter(ctx context.Context, logger *zap.Logger, partition int) (pipeline.Producer, error) {
	return pipeline.OpenWriter(
		ctx,
		r.Env.Broker,
		logger,
		&pipeline.WriterID{Group: r.Env.Group, Topic: r.Env.Topics.Events, Partition: partition},
		pipeline.Target{
			Topic:     r.Env.Topics.Samples,
			Partition: partition,
		},
		pipeline.Target{Topic: r.Env.Topics.Scores, Partition: partition},
		pipeline.Target{Topic: r.Env.Topics.DeadLetters, Partition: partition},
	)
}

// explore takes the partition through an exploration: restore, read, close, guard the last
// checkpoint until the exploration is over, and retire it.
func (r *Runner) explore(ctx context.Context, logger *zap.Logger, spec *wire.Spec, o owner) error {
	logger = logger.With(zap.String("exploration", spec.Exploration))
	hash := spec.Hash()
	over := func(s state.Snapshot) bool { // another exploration replaces it, or its set is published
		now := s.Running()
		return now == nil || now != spec && (now.Exploration != spec.Exploration || now.Hash() != hash)
	}
	_, err := r.Env.State.Until(ctx, over, func(ctx context.Context) error {
		err := r.takePart(ctx, logger, spec, hash, o)
		if err == nil {
			<-ctx.Done()
		}
		return err
	})
	if err != nil || ctx.Err() != nil {
		return err
	}
	return r.retire(ctx, logger, o)
}

// takePart reads the partition's share of the exploration and rereads it if its samples are
// refused. It guards the last checkpoint until ctx ends.
func (r *Runner) takePart(ctx context.Context, logger *zap.Logger, spec *wire.Spec, hash string, o owner) error {
	part, ok := spec.Partition(int32(o.Partition))
	if !ok || part.Empty() { // nothing to read or write
		return nil
	}
	if spec.Arithmetic != scoring.Arithmetic() { // the partition is about to be given up
		return nil
	}
	if err := spec.Encoder.CheckOutputs(r.MaxOutputs); err != nil {
		return wrap(err, o.Partition)
	}
	for attempt := 0; ctx.Err() == nil; {
		p := &partition{Runner: r, spec: spec, specHash: hash, part: part, writer: o.writer, logger: logger, commit: o.Commit}
		if err := p.restore(ctx, attempt); err != nil {
			return pipeline.EndOf(ctx, err)
		}
		err := p.run(ctx)
		if err != nil && ctx.Err() != nil { // the checkpoint on the topic stays valid, it is only older
			r.Env.Meter.LeftUndone(logger, meter.StageSubsample, o.Partition, err)
			return nil
		}
		if err == nil {
			err = p.guard(ctx)
		}
		var refused *refusedError
		switch {
		case errors.As(err, &refused):
			logger.Warn("samples refused; rereading the partition from its start",
				zap.Int("attempt", refused.attempt), zap.String("reason", refused.reason))
			attempt = refused.attempt + 1
		case errors.Is(err, errOvertaken):
			logger.Warn("another owner has written a newer checkpoint; continuing from it")
		default:
			return pipeline.EndOf(ctx, wrap(err, o.Partition))
		}
	}
	return nil
}

func wrap(err error, partition int) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("subsample partition %d: %w", partition, err)
}

// sharedBank draws the candidates of a spec once for all partitions of the process.
func (r *Runner) sharedBank(spec *wire.Spec) *scoring.Bank {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bank == nil || r.key != spec.Exploration {
		r.bank, r.key = scoring.NewBank(spec.Candidates), spec.Exploration
		bytes := scoring.BankBytes(spec.Candidates, 0)
		r.Env.Meter.SetBudget(meter.Budget{Setting: meter.BudgetCandidates, Limit: r.CandidateMemory, Used: bytes})
		r.Env.Logger.Info(
			"candidates drawn",
			zap.String("exploration", spec.Exploration),
			zap.Int("candidates", r.bank.Len()),
			zap.Int64("bytes", bytes),
		)
	}
	return r.bank
}

// retire tombstones the checkpoints of finished explorations in this partition.
func (r *Runner) retire(ctx context.Context, logger *zap.Logger, o owner) error {
	over, err := r.finished(ctx, logger, o.Partition)
	if err != nil || len(over) == 0 {
		return pipeline.EndOf(ctx, err)
	}
	failpoint.Hit(failpoint.RetireBefore)
	return pipeline.EndOf(ctx, pipeline.Try(ctx, logger, "tombstone checkpoints", func() error {
		_, err := o.writer.Produce(ctx, r.Env.Topics.Scores, o.Partition, over)
		return err
	}))
}

// finished returns tombstones for the remaining records of this pipeline's finished explorations.
// It recognises them by their keys, including the keys of earlier versions.
func (r *Runner) finished(ctx context.Context, logger *zap.Logger, partition int) ([]pipeline.Record, error) {
	there := map[string]bool{}
	_, err := pipeline.ReadAll(ctx, r.Env.Broker, logger, r.Env.Topics.Scores, partition, func(rec pipeline.Record) error {
		there[string(rec.Key)] = rec.Value != nil && r.isOver(rec.Key)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var over []pipeline.Record
	for key, tombstone := range there {
		if tombstone {
			over = append(over, pipeline.Record{Key: []byte(key), Time: r.Env.Clock()})
		}
	}
	return over, nil
}

func (r *Runner) isOver(key []byte) bool {
	owner, sequence, ok := wire.ParseCheckpointKey(key)
	if !ok || owner != r.Env.Pipeline {
		return false
	}
	// Another owner may be working on an exploration that the follower has not read yet.
	now := r.Env.State.Snapshot()
	running := now.Running()
	return wire.CompareSequences(sequence, now.Sequence()) <= 0 && (running == nil || running.Exploration != string(key))
}

// decoder decodes records of the scores topic.
func (r *Runner) decoder() *arrowio.Decoder { return arrowio.NewDecoder(r.Env.State.Limits()) }
