package stages

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
)

// Runtime is what every runner works with.
type Runtime struct {
	Broker   pipeline.Broker
	Settings Settings
	Watch    *Watch
	Counters *Counters
	Logger   *zap.Logger
	// DrainTimeout bounds the work that is finished after a shutdown has begun.
	DrainTimeout time.Duration
	// Tracer starts the spans of messages; nil = none, and traces pass from events to features as any header does.
	Tracer trace.Tracer
	// Now is the clock of published times; nil means time.Now.
	Now func() time.Time

	unfinished unfinished
}

// Clock is the time that is published.
func (r *Runtime) Clock() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// group is the consumer group of a stage.
func (r *Runtime) group(stage string) string {
	return "eerf-" + r.Settings.Pipeline.Name + "-" + stage
}

// SubsampleRunner accumulates the scores of the partitions of events that this process owns.
type SubsampleRunner struct {
	*Runtime

	held holder

	mu   sync.Mutex
	bank *scoring.Bank // of the exploration named by key; shared by the partitions
	key  string

	bankBytes atomic.Int64 // read while the bank is drawn, which takes its time
}

// NewSubsampleRunner returns the runner; Run starts it.
func NewSubsampleRunner(r *Runtime) *SubsampleRunner {
	e := r.Settings.Exploration
	s := &SubsampleRunner{Runtime: r, held: holder{limit: e.RowMemory}}
	r.Counters.meter(budgetCandidates, e.CandidateMemory, s.bankBytes.Load)
	r.Counters.meter(budgetScoredRows, e.RowMemory, s.held.bytes)
	return s
}

// Run owns partitions until ctx ends.
func (r *SubsampleRunner) Run(ctx context.Context) error {
	return r.Broker.Own(ctx, r.group(StageSubsample), r.Settings.Topics.Events, r.runPartition)
}

// runPartition takes part in one exploration after another.
func (r *SubsampleRunner) runPartition(ctx context.Context, o pipeline.Ownership) error {
	logger := r.Logger.With(zap.String("stage", StageSubsample), zap.Int("partition", o.Partition))
	if err := waitCoPartitioned(ctx, r.Runtime, logger, o.Partition, r.Settings.Topics.Scores, r.Settings.Topics.DeadLetters); err != nil {
		return endOf(ctx, err)
	}
	if _, err := r.Watch.Wait(ctx, func(State) bool { return true }); err != nil {
		return nil
	}
	if err := r.tombstone(ctx, logger, o.Partition); err != nil { // what an earlier owner left
		return err
	}
	for {
		state, err := r.Watch.Wait(ctx, func(s State) bool { return s.Running() != nil })
		if err != nil {
			return nil
		}
		// Returns once that pass does not run any more: two planners may give one sequence number twice.
		if err := r.explore(ctx, logger, state.Running(), o); err != nil {
			return err
		}
	}
}

// explore takes the partition through one pass of an exploration: restore, read, close, guard the last checkpoint until
// the pass is over, tombstone it.
func (r *SubsampleRunner) explore(ctx context.Context, logger *zap.Logger, spec *wire.Spec, o pipeline.Ownership) error {
	logger = logger.With(zap.String("exploration", spec.Exploration), zap.Int("pass", spec.Pass))
	hash := spec.Hash()
	running, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		// The pass ends for this partition when another one takes its place or the set is out.
		_, _ = r.Watch.Wait(running, func(s State) bool {
			now := s.Running()
			return now == nil || now != spec && (now.Exploration != spec.Exploration || now.Hash() != hash)
		})
		stop()
	}()
	if err := r.takePart(running, logger, spec, o); err != nil {
		return err
	}
	<-running.Done()
	if ctx.Err() != nil {
		return nil
	}
	r.held.release(r.Watch.State().Running())
	return r.tombstone(ctx, logger, o.Partition)
}

// takePart reads the partition's share of the exploration and keeps its last checkpoint the newest until ctx ends.
func (r *SubsampleRunner) takePart(ctx context.Context, logger *zap.Logger, spec *wire.Spec, o pipeline.Ownership) error {
	part, ok := spec.Partition(int32(o.Partition))
	if !ok {
		return nil
	}
	if spec.Kernel != scoring.Kernel() {
		logger.Error("this process has another numeric kernel than the exploration's planner and takes no part",
			zap.String("kernel", scoring.Kernel()), zap.String("spec_kernel", spec.Kernel))
		return nil
	}
	p := &subsamplePartition{SubsampleRunner: r, spec: spec, part: part, logger: logger, commit: o.Commit}
	if err := p.restore(ctx); err != nil {
		return endOf(ctx, err)
	}
	err := p.run(ctx)
	if errors.Is(err, errExplorationLost) {
		logger.Warn("exploration abandoned, another one is asked for", zap.Error(err))
		return nil
	}
	if err != nil && ctx.Err() != nil { // the checkpoint that is there is true, only older
		r.unfinished.leaves(logger, StageSubsample, o.Partition, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("subsample partition %d: %w", o.Partition, err)
	}
	return p.guard(ctx)
}

// sharedBank draws the candidates of a spec once for all partitions of the process.
func (r *SubsampleRunner) sharedBank(spec *wire.Spec) *scoring.Bank {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bank == nil || r.key != spec.Exploration {
		r.bank, r.key = NewBank(spec, r.Settings.Exploration.CandidateMemory, len(spec.Partitions)), spec.Exploration
		plan := r.bank.Plan()
		r.bankBytes.Store(plan.KeptBytes)
		r.Logger.Info("candidates drawn", zap.String("stage", StageSubsample), zap.String("exploration", spec.Exploration),
			zap.Int("kept", plan.Kept), zap.Int64("kept_bytes", plan.KeptBytes), zap.Int("drawn_again", plan.Drawn))
	}
	return r.bank
}

// tombstone removes the checkpoints, in this partition, of explorations and passes that are over.
func (r *SubsampleRunner) tombstone(ctx context.Context, logger *zap.Logger, partition int) error {
	over, err := r.finished(ctx, logger, partition)
	if err != nil || len(over) == 0 {
		return endOf(ctx, err)
	}
	failpoint.Hit(failpoint.RetireBefore)
	return endOf(ctx, pipeline.Try(ctx, logger, "tombstone checkpoints", func() error {
		_, err := r.Broker.Produce(ctx, r.Settings.Topics.Scores, partition, over)
		return err
	}))
}

// finished lists tombstones for this pipeline's checkpoints that no running pass needs.
func (r *SubsampleRunner) finished(ctx context.Context, logger *zap.Logger, partition int) ([]pipeline.Record, error) {
	decoder := arrowio.NewDecoder(r.Watch.limits)
	held := map[string]bool{}
	_, err := pipeline.ReadAll(ctx, r.Broker, logger, r.Settings.Topics.Scores, partition, func(rec pipeline.Record) error {
		held[string(rec.Key)] = rec.Value != nil && r.isOver(decoder, rec)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var over []pipeline.Record
	for key, tombstone := range held {
		if tombstone {
			over = append(over, pipeline.Record{Key: []byte(key), Time: r.Clock()})
		}
	}
	return over, nil
}

func (r *SubsampleRunner) isOver(decoder *arrowio.Decoder, rec pipeline.Record) bool {
	if pipelineOfExploration(string(rec.Key)) != r.Settings.Pipeline.Name {
		return false
	}
	checkpoint, err := wire.DecodeCheckpoint(decoder, rec.Value)
	if err != nil {
		return false
	}
	// Of an exploration that the watch has not heard of yet, another owner may be in the middle.
	state := r.Watch.State()
	running := state.Running()
	return checkpoint.Sequence <= state.Sequence() &&
		(running == nil || running.Exploration != checkpoint.Exploration || checkpoint.Pass < running.Pass)
}

func endOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
