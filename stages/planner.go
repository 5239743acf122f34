package stages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
)

const (
	// planTick is how often time and offsets are looked at for a scheduled exploration.
	planTick = time.Second
	// planRetry is how long a plan that failed on the data it met (one class, no label) waits for other data.
	planRetry = 30 * time.Second
)

// Planner is the calibrate stage: it decides when an exploration starts, learns encoder and bandwidth, and publishes
// the spec. One instance at a time plans: the owner of the single partition of explorations.
type Planner struct {
	*Runtime
	// FailFast ends Run with the error of a calibration that the data do not allow, instead of waiting for other
	// data: for one-shot commands.
	FailFast bool

	retryAt time.Time // no plan before
}

// NewPlanner returns the runner; Run starts it.
func NewPlanner(r *Runtime) *Planner { return &Planner{Runtime: r} }

// Run plans until ctx ends.
func (p *Planner) Run(ctx context.Context) error {
	return p.Broker.Own(ctx, p.group(StageCalibrate), p.Settings.Topics.Explorations,
		func(ctx context.Context, _ pipeline.Ownership) error { return endOf(ctx, p.plan(ctx)) })
}

func (p *Planner) plan(ctx context.Context) error {
	logger := p.Logger.With(zap.String("stage", StageCalibrate))
	for {
		changed := p.Watch.Changed()
		state, err := p.Watch.Wait(ctx, func(State) bool { return true })
		if err != nil {
			return err
		}
		acted, err := p.act(ctx, logger, state)
		if err != nil {
			if p.FailFast || errors.Is(err, pipeline.ErrDenied) || pipeline.IsPermanent(err) && ctx.Err() != nil {
				return err
			}
			logger.Error("no exploration could be planned", zap.Error(err), zap.Duration("wait", planRetry))
			p.retryAt = p.Clock().Add(planRetry)
		}
		if acted {
			continue
		}
		tick := time.NewTimer(planTick)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-tick.C:
		}
		tick.Stop()
	}
}

// act does the one thing that the state asks for now, and reports whether there was one.
func (p *Planner) act(ctx context.Context, logger *zap.Logger, state State) (bool, error) {
	if state.Shadowed {
		logger.Warn("an older spec was written behind the newest, which is written again",
			zap.String("exploration", state.Spec.Exploration))
		return true, p.publish(ctx, *state.Spec)
	}
	if void := p.void(logger, state); len(void) > 0 {
		return true, p.send(ctx, "answer requests", p.tombstones(void))
	}
	start, cancelledAt := answer(state)
	if start == nil {
		start = p.scheduled(ctx, logger, state)
	}
	switch {
	case start != nil && !p.Clock().Before(p.retryAt):
		logger.Info("exploration starts", zap.String("reason", start.reason))
		return true, p.start(ctx, logger, state, *start)
	case cancelledAt >= 0:
		cancelled := *state.Spec
		cancelled.Status, cancelled.HandledOffset = wire.StatusCancelled, cancelledAt+1
		logger.Info("exploration cancelled", zap.String("exploration", cancelled.Exploration),
			zap.String("reason", describeAll(state.Requests, wire.ActionCancel)))
		return true, p.publish(ctx, cancelled, state.Requests...)
	}
	return false, nil
}

// trigger says why an exploration starts and where it reads from.
type trigger struct {
	reason   string
	until    string // overrides the configured bound where set
	goesOnAt []wire.LineagePartition
}

// answer goes through the requests that are not answered yet: the spec published next says that they are. cancelledAt is
// the offset of a request to cancel, -1 if there is none.
func answer(state State) (start *trigger, cancelledAt int64) {
	cancelledAt = -1
	running := state.Running()
	for _, r := range state.Requests {
		concerned := concerns(running, r)
		switch r.Action {
		case wire.ActionStart:
			start = &trigger{reason: r.describe(), until: r.Until}
		case wire.ActionRestart:
			if concerned {
				start = &trigger{reason: r.Reason}
			}
		case wire.ActionCancel:
			if concerned {
				start, cancelledAt = nil, r.Offset
			}
		}
	}
	return start, cancelledAt
}

// describe names a request with what its sender said of it.
func (r PendingRequest) describe() string {
	if r.Reason == "" {
		return "request " + r.ID
	}
	return "request " + r.ID + ": " + r.Reason
}

// describeAll names the requests of one action.
func describeAll(requests []PendingRequest, action wire.Action) string {
	var all []string
	for _, r := range requests {
		if r.Action == action {
			all = append(all, r.describe())
		}
	}
	return strings.Join(all, "; ")
}

// concerns reports whether a request that names the exploration, or none, is about the running one.
func concerns(running *wire.Spec, r PendingRequest) bool {
	return running != nil && (r.Exploration == "" || r.Exploration == running.Exploration)
}

// void returns the requests that ask for nothing that can be done: to cancel or restart what does not run, or to start
// an exploration that would have no end. They are answered by their tombstones.
func (p *Planner) void(logger *zap.Logger, state State) []PendingRequest {
	var void []PendingRequest
	for _, r := range state.Requests {
		why := ""
		switch r.Action {
		case wire.ActionStart:
			if r.Until == wire.UntilQuota && p.Settings.Exploration.SampleRows <= 0 {
				why = "it asks for a quota of rows, and exploration.sample_rows is 0: the exploration would have no end"
			}
		case wire.ActionCancel, wire.ActionRestart:
			if !concerns(state.Running(), r) {
				why = "the exploration that it is about does not run"
			}
		}
		if why != "" {
			logger.Warn("request refused", zap.String("request", r.ID), zap.String("action", string(r.Action)),
				zap.String("exploration", r.Exploration), zap.String("why", why))
			void = append(void, r)
		}
	}
	return void
}

// handledOffset is behind the requests that the state has.
func handledOffset(state State) int64 {
	var next int64
	if state.Spec != nil {
		next = state.Spec.HandledOffset
	}
	for _, r := range state.Requests {
		next = max(next, r.Offset+1)
	}
	return next
}

// scheduled looks at everything but requests that starts an exploration.
func (p *Planner) scheduled(ctx context.Context, logger *zap.Logger, state State) *trigger {
	e := p.Settings.Exploration
	switch {
	case state.Spec == nil:
		return &trigger{reason: "the pipeline has no feature set"}
	case state.Spec.ConfigHash != p.Settings.ConfigHash():
		return &trigger{reason: "the configured spec has changed"}
	case state.Current == nil && state.Spec.Status == wire.StatusAbandoned && p.Clock().Sub(state.SpecTime) >= planRetry:
		return &trigger{reason: "the pipeline has no feature set and the last exploration was abandoned"}
	case state.Running() != nil && state.Spec.Kernel != scoring.Kernel():
		return &trigger{reason: fmt.Sprintf("the running exploration is for numeric kernel %s, this is %s", state.Spec.Kernel, scoring.Kernel())}
	case state.Running() != nil:
		return nil
	case e.Every > 0 && p.Clock().Sub(state.Spec.PlannedAt) >= e.Every: // the record's time moves when it is cancelled
		return &trigger{reason: fmt.Sprintf("%v since the last plan", e.Every), goesOnAt: lastLineage(state)}
	case e.EveryOffsets > 0:
		advanced, err := p.advanced(ctx, state)
		if err != nil {
			logger.Warn("offsets of events not known", zap.Error(err))
		} else if advanced >= e.EveryOffsets {
			return &trigger{reason: fmt.Sprintf("events advanced by %d offsets", advanced), goesOnAt: lastLineage(state)}
		}
	}
	return nil
}

// lastLineage is where the newest exploration stopped to read, or, where it gave no set, began to.
func lastLineage(state State) []wire.LineagePartition {
	set := state.CurrentSet()
	if set != nil && set.Set.Lineage.Exploration == state.Spec.Exploration {
		return set.Set.Lineage.Partitions
	}
	var began []wire.LineagePartition
	for _, part := range state.Spec.Partitions {
		began = append(began, wire.LineagePartition{Partition: part.Partition, NextOffset: part.StartOffset})
	}
	return began
}

// advanced is how many offsets of events lie beyond where the last exploration stopped to read.
func (p *Planner) advanced(ctx context.Context, state State) (int64, error) {
	var total int64
	for _, part := range lastLineage(state) {
		_, next, err := p.Broker.Offsets(ctx, p.Settings.Topics.Events, int(part.Partition))
		if err != nil {
			return 0, err
		}
		total += max(0, next-part.NextOffset)
	}
	return total, nil
}

// start plans and publishes an exploration.
func (p *Planner) start(ctx context.Context, logger *zap.Logger, state State, why trigger) error {
	began := time.Now()
	defer p.Counters.worked(StageCalibrate, began)
	settings := p.Settings
	if why.until != "" {
		settings.Exploration.Until = why.until
	}
	partitions, err := pipeline.Retry(ctx, logger, "look up offsets", func() ([]wire.Partition, error) {
		return planPartitions(ctx, p.Broker, settings, why.goesOnAt)
	})
	if err != nil {
		return err
	}
	found, rows, err := calibrateFromLog(ctx, p.Runtime, logger, settings, partitions)
	if err != nil {
		return err
	}
	shareQuota(partitions, settings.Exploration.SampleRows)
	spec := newSpec(p.Settings, found, rows, state.Sequence()+1, partitions)
	spec.HandledOffset = handledOffset(state)
	spec.PlannedAt = p.Clock()
	if d := settings.Exploration.Deadline; d > 0 {
		spec.Deadline = spec.PlannedAt.Add(d)
	}
	if err := errors.Join(spec.Validate(), checkFits(spec, settings.Topics.MaxMessageBytes)); err != nil {
		return fmt.Errorf("plan of exploration %s: %w", spec.Exploration, err)
	}
	logger.Info("exploration planned", zap.String("exploration", spec.Exploration), zap.Int("dim", spec.Candidates.Dim),
		zap.Float64("sigma", spec.Candidates.Sigma), zap.Int("candidates", spec.Candidates.Count),
		zap.Int64("calibration_rows", rows), zap.Any("left_out", found.Report.LeftOut),
		zap.Strings("warnings", found.Report.Warnings), zap.String("bandwidth_warning", found.Warning))
	return p.publish(ctx, *spec, state.Requests...)
}

// publish writes the spec, with tombstones for the requests that it answers, and waits until the watch has seen it.
func (p *Planner) publish(ctx context.Context, spec wire.Spec, answered ...PendingRequest) error {
	value, err := wire.EncodeSpec(&spec)
	if err != nil {
		return err
	}
	records := []pipeline.Record{{Key: wire.SpecKey(spec.Pipeline), Value: value, Time: p.Clock()}}
	answered = slices.DeleteFunc(slices.Clone(answered), func(r PendingRequest) bool { return r.Offset >= spec.HandledOffset })
	records = append(records, p.tombstones(answered)...)
	failpoint.Hit(failpoint.PlanBefore)
	if err := p.send(ctx, "publish spec", records); err != nil {
		return fmt.Errorf("publish exploration %s: %w", spec.Exploration, err)
	}
	return nil
}

// tombstones answers requests: they go from the topic.
func (p *Planner) tombstones(requests []PendingRequest) []pipeline.Record {
	var records []pipeline.Record
	for _, r := range requests {
		records = append(records, pipeline.Record{Key: wire.RequestKey(p.Settings.Pipeline.Name, r.ID), Time: p.Clock()})
	}
	return records
}

// send writes records to the topic of explorations and waits until the watch has seen the last of them.
func (p *Planner) send(ctx context.Context, what string, records []pipeline.Record) error {
	first, err := pipeline.Retry(ctx, p.Logger, what, func() (int64, error) {
		return p.Broker.Produce(ctx, p.Settings.Topics.Explorations, 0, records)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	failpoint.Hit(failpoint.PlanAfter)
	// By the offset: what others write behind it may already have changed the state again.
	last := first + int64(len(records)) - 1
	_, err = p.Watch.Wait(ctx, func(s State) bool { return s.explorationsNext > last })
	return err
}

// planPartitions gives each partition of events its start and, for an exploration that ends with the log as it is,
// its end.
func planPartitions(ctx context.Context, log pipeline.Log, s Settings, goesOnAt []wire.LineagePartition) ([]wire.Partition, error) {
	n, err := log.Partitions(ctx, s.Topics.Events)
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", s.Topics.Events, err)
	}
	switch have, err := log.Partitions(ctx, s.Topics.Scores); {
	case err != nil:
		return nil, fmt.Errorf("topic %s: %w", s.Topics.Scores, err)
	case have < n:
		return nil, fmt.Errorf("topic %s: %d partitions, events has %d: %w", s.Topics.Scores, have, n, ErrNotCoPartitioned)
	}
	partitions := make([]wire.Partition, n)
	for i := range partitions {
		first, next, err := log.Offsets(ctx, s.Topics.Events, i)
		if err != nil {
			return nil, fmt.Errorf("offsets of %s/%d: %w", s.Topics.Events, i, err)
		}
		start := first
		if s.Exploration.Start == "latest" {
			start = next
		}
		for _, last := range goesOnAt {
			if last.Partition == int32(i) {
				start = min(max(last.NextOffset, first), next)
			}
		}
		partitions[i] = wire.Partition{Partition: int32(i), StartOffset: start, EndOffset: -1}
		if s.Exploration.Until == "end" {
			partitions[i].EndOffset = next
		}
	}
	return partitions, nil
}

// SendRequest writes a request to the explorations topic.
func SendRequest(ctx context.Context, r *Runtime, request wire.Request) error {
	value, err := wire.EncodeRequest(&request)
	if err != nil {
		return err
	}
	record := pipeline.Record{Key: wire.RequestKey(r.Settings.Pipeline.Name, request.ID), Value: value, Time: request.Time}
	err = pipeline.Try(ctx, r.Logger, "send request", func() error {
		_, err := r.Broker.Produce(ctx, r.Settings.Topics.Explorations, 0, []pipeline.Record{record})
		return err
	})
	if err != nil {
		return fmt.Errorf("send request %s %s: %w", request.Action, request.ID, err)
	}
	return nil
}
