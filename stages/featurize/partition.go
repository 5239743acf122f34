package featurize

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// owned is shared by a partition and its requests. It is safe for concurrent use.
type owned struct {
	runner *Runner
	number int
	writer pipeline.Producer // shared by features, dead letters and live errors
	logger *zap.Logger
	at     *meter.Position
}

// partition is the pipeline.Processor of one partition. It belongs to one goroutine.
type partition struct {
	owned
	models  *modelLoader // nil = no model
	classes *classWatch
	commit  func(context.Context, int64, pipeline.LogID) error

	position // after the rows that are written or waiting
	core     *Featurizer
	missing  string      // feature set already reported as missing
	model    *modelInUse // the model of core
	hasLive  bool        // the topic of live errors has the partition
	blocks   blocks

	waiting         []outgoing // unsent parts
	outputBytes     int64      // of waiting
	deadLetterBytes int        // of waiting
	charged         int64      // output memory of waiting parts and of the request in progress

	request *request // sent but not applied, or failed; nil = none
	failure error    // of request
	refused int64    // last offset with an output too large for the broker, which became a dead letter; -1 = none

	committed   int64
	committedAt time.Time
	unseen      encoder.ClassTally // since the last warning
}

// outgoing is a part of the result and its source record.
type outgoing struct {
	Part
	source pipeline.Record
	span   trace.Span // of the message, in its last part; else nil
}

func newPartition(
	r *Runner,
	o pipeline.Ownership,
	writer pipeline.Producer,
	models *modelLoader,
	classes *classWatch,
	logger *zap.Logger,
) *partition {
	r.once.Do(func() { r.outputs = newOutputMemory(max(r.Config.OutputMemory, r.Config.MaxOutputBytes)) })
	p := &partition{
		owned:  owned{runner: r, number: o.Partition, writer: writer, logger: logger},
		models: models, classes: classes, commit: o.Commit, refused: -1, committedAt: r.Env.Clock(),
	}
	p.blocks.owned = p.owned
	return p
}

// NextOffset implements pipeline.Processor.
func (p *partition) NextOffset() int64 { return p.next }

// Start implements pipeline.Processor.
func (p *partition) Start() (at pipeline.Place, batchBudget int64) {
	return pipeline.Place{Log: p.source.id, Batch: p.batch}, 0
}

// Process maps the records and sends the results. The last request is still in progress when
// Process returns, so that the next records are fetched and mapped meanwhile.
func (p *partition) Process(ctx context.Context, f pipeline.Fetched) error {
	defer p.runner.Env.Meter.Worked(meter.StageFeaturize, time.Now())
	events.DropReserved(f.Records)
	p.at.Fetched(f, p.runner.Env.Clock())
	if p.source.id == "" {
		p.source.id = f.Place.Log
	}
	for _, rec := range f.Records {
		if err := p.chooseSet(ctx); err != nil {
			return err
		}
		p.chooseModel()
		if err := p.mapMessage(ctx, rec); err != nil {
			return err
		}
	}
	if err := p.sendLast(ctx); err != nil {
		return err
	}
	p.next = max(p.next, f.NextOffset)
	due := p.runner.Env.Clock().Sub(p.committedAt) >= p.runner.Config.CommitInterval
	if due || len(f.Records) == 0 {
		if err := p.await(); err != nil {
			return err
		}
	}
	if p.request == nil {
		p.at.Done(p.next)
	}
	if due {
		p.commitNext(ctx)
	}
	failpoint.Hit(failpoint.FetchBefore)
	return nil
}

// mapMessage maps a message, or the rest of a partially written one.
func (p *partition) mapMessage(ctx context.Context, rec pipeline.Record) error {
	if !p.core.Ready(&rec) {
		if err := p.send(ctx); err != nil { // finished work must not wait for a registry
			return err
		}
		if err := p.core.Prepare(ctx, &rec); err != nil {
			return err
		}
	}
	defer p.runner.Env.Meter.Handled(meter.StageFeaturize, time.Now())
	p.runner.Env.Meter.CheckTime(p.logger, &rec, p.runner.Env.Clock(), p.runner.Env.MaxAhead)
	span := meter.StartSpan(p.runner.Env.Tracer, p.runner.Env.Group, meter.StageFeaturize, rec)
	rec.Headers = meter.WithSpan(rec.Headers, span)
	p.core.log = p.source.String()
	err := p.mapInSlots(ctx, rec, span)
	if err != nil {
		meter.FailSpan(span, deadletter.Reason(err), err)
		span.End()
		return err
	}
	p.reportSupplied()
	p.next = rec.Offset + 1
	p.nextRow, p.partlyOut = 0, ""
	p.batch = rec.Batch
	p.waiting[len(p.waiting)-1].span = span // every message has a part, and its last part is unsent
	return nil
}

// errSlotNeeded reports that a message must release its slot because its output waits for the
// broker.
var errSlotNeeded = errors.New("the output of the message waits for the broker")

// mapInSlots maps a message in a slot. If its output has to wait for the broker, it releases the
// slot, so that writable partitions do not wait for an unwritable one. The message is then reread
// from its first unmapped row.
func (p *partition) mapInSlots(ctx context.Context, rec pipeline.Record, span trace.Span) error {
	firstRow, begun := int32(0), false
	for {
		if rec.Offset == p.next {
			firstRow = p.nextRow
		}
		err := p.mapRows(ctx, rec, firstRow, func(part Part) error {
			if begun && part.Output == nil && part.DeadLetter == nil {
				return nil // the message is already counted
			}
			describePart(span, p.core.ID(), part)
			err := p.add(ctx, outgoing{Part: part, source: rec})
			begun = begun || err == nil
			return err
		})
		if !errors.Is(err, errSlotNeeded) {
			return err
		}
		if err := p.await(); err != nil {
			return err
		}
		if err := p.core.Prepare(ctx, &rec); err != nil {
			return err
		}
	}
}

func (p *partition) mapRows(ctx context.Context, rec pipeline.Record, firstRow int32, emit func(Part) error) error {
	// Send the waiting parts before waiting for a slot: holders of slots may be waiting for output
	// memory.
	if err := p.core.begin(ctx, func() error { return p.send(ctx) }); err != nil {
		return err
	}
	defer p.core.end()
	return p.core.Process(rec, firstRow, p.runner.Env.Clock(), emit)
}

// chooseSet selects the current set or, for a partially written message, the set of its written
// parts.
func (p *partition) chooseSet(ctx context.Context) error {
	now := p.runner.Env.State.Snapshot()
	id := now.Current.ID
	if p.partlyOut != "" {
		id = p.partlyOut
	}
	if p.core != nil && p.core.ID() == id {
		return nil
	}
	if p.core != nil && p.partlyOut == "" && now.CurrentSet() == nil {
		p.reportMissing(now, id)
		return nil
	}
	set, err := p.findSet(ctx, now, id)
	if errors.Is(err, state.ErrNoSet) && p.partlyOut != "" {
		set, err = p.findSetOfRest(ctx)
	}
	if errors.Is(err, state.ErrNoSet) {
		err = pipeline.Permanent(fmt.Errorf("current feature set for partition %d at offset %d: %w", p.number, p.next, err))
	}
	if err != nil {
		return err
	}
	p.logger.Info("using feature set", zap.String("feature_set", set.id), zap.Int64("from_offset", p.next))
	p.core, p.model = set.featurizer(&p.runner.outputs.spares), nil
	return nil
}

// findSetOfRest returns the feature set for the rest of a partially written message: the set of its
// written parts or, if that is gone, the current one. A broker may have lost it, or it was retired
// while the partition stood still.
func (p *partition) findSetOfRest(ctx context.Context) (*preparedSet, error) {
	now, err := p.runner.Env.State.CatchUp(ctx, state.TopicFeatureSets)
	if err != nil {
		return nil, err
	}
	set, err := p.findSet(ctx, now, p.partlyOut)
	if !errors.Is(err, state.ErrNoSet) {
		return set, err
	}
	p.logger.Error("feature set of a partially written message was deleted; finishing it with the current set",
		zap.String("feature_set", p.partlyOut), zap.Int64("offset", p.next), zap.Int32("next_row", p.nextRow))
	p.partlyOut = ""
	return p.findSet(ctx, now, now.Current.ID)
}

// reportMissing logs once that this build cannot decode the current set and continues with the
// previous one. A set that is on its topic is about to be read.
func (p *partition) reportMissing(now state.Snapshot, id string) {
	if _, listed := now.Sets[id]; listed || p.missing == id {
		return
	}
	p.logger.Error("current feature set is missing or undecodable; continuing with the previous one",
		zap.String("feature_set", id), zap.String("previous", p.core.ID()))
	p.missing = id
}

// chooseModel selects the current model for the next message.
func (p *partition) chooseModel() {
	if p.models == nil || p.core.predictor == nil {
		return
	}
	now := p.models.inUse()
	if now == p.model {
		return
	}
	p.model = now
	p.core.UseModel(now.model, now.missing)
	p.logger.Info("using model for predictions", zap.String("model", now.id),
		zap.String("missing", p.core.predictor.columns.Missing), zap.Int64("from_offset", p.next))
}

// Gap makes a dead letter of an unreadable batch. Missing events are counted, and reading continues
// in the present log: at its first event if retention removed events or the topic was recreated, or
// at its end if it was truncated.
func (p *partition) Gap(ctx context.Context, g pipeline.Gap) error {
	if g.Kind == pipeline.GapUnreadable {
		return p.refuse(ctx, g)
	}
	if err := p.await(); err != nil { // its offsets belong to the log before the gap
		return err
	}
	switch g.Kind {
	case pipeline.GapTruncated, pipeline.GapRecreated:
		p.source = p.source.after(g)
		p.logger.Error("events topic was recreated or truncated; continuing from its current log", zap.Stringer("gap", g),
			zap.String("log", p.source.String()), zap.Int64("missing_offsets", g.Missing()), zap.Error(g.Err))
		p.runner.Env.Meter.AddGap(g)
		p.runner.Env.Meter.AddFeaturize(meter.FeaturizeCounts{MissingOffsets: g.Missing()})
		p.next = g.To
		p.refused = -1
		p.batch = pipeline.Mark{}
		p.committed = -1
	default:
		p.logger.Error("events were removed before they were read; continuing with the first remaining one",
			zap.Int64("offset", g.From), zap.Int64("first_offset", g.First), zap.Int64("missing_offsets", g.Missing()))
		p.runner.Env.Meter.AddFeaturize(meter.FeaturizeCounts{MissingOffsets: g.Missing()})
		p.next = g.To
	}
	p.nextRow, p.partlyOut = 0, ""
	p.at.Done(p.next)
	return nil
}

func (p *partition) refuse(ctx context.Context, g pipeline.Gap) error {
	deadLetter := deadletter.RefusedBatch(meter.StageFeaturize, g, p.runner.Env.Clock())
	part := Part{DeadLetter: &deadLetter, Counts: meter.FeaturizeCounts{Messages: 1, Undecodable: 1}}
	if err := p.send(ctx); err != nil { // no slot is held, so this may wait
		return err
	}
	if err := p.add(ctx, outgoing{Part: part}); err != nil {
		return err
	}
	p.next = g.To
	p.nextRow, p.partlyOut = 0, ""
	return p.send(ctx)
}

// Close waits for the request in progress. The first call after a failed request returns its error.
func (p *partition) Close(ctx context.Context) error {
	failpoint.Hit(failpoint.FeaturizeDrain)
	var err error
	if p.failure == nil {
		err = p.await()
	}
	if err == nil && p.failure == nil && len(p.waiting) == 0 {
		p.start(ctx, p.blocks.take(true))
		err = p.await()
	}
	p.giveBack(p.charged)
	p.commitNext(ctx)
	return err
}

// commitNext commits the acknowledged position, for lag monitors and in case retention empties the
// output partition.
func (p *partition) commitNext(ctx context.Context) {
	p.committedAt = p.runner.Env.Clock()
	p.reportColumns()
	if !p.unseen.Empty() {
		p.logger.Warn("rows of classes unknown to the feature set teach nothing and count as errors",
			zap.Any("classes", p.unseen.List()))
		p.unseen.Clear()
	}
	if len(p.waiting) > 0 || p.request != nil || p.nextRow > 0 || p.next == p.committed {
		return
	}
	if err := p.commit(ctx, p.next, p.source.id); err != nil {
		p.logger.Warn("offset commit failed; reported lag will be too high", zap.Error(err))
		return
	}
	failpoint.Hit(failpoint.CommitAfter)
	p.committed = p.next
}

// reportColumns passes the observations of event columns under the current set to the meter, and
// logs new fields.
func (p *partition) reportColumns() {
	if p.core == nil || p.core.ID() != p.runner.Env.State.Snapshot().Current.ID {
		return
	}
	if news := p.runner.Env.Meter.AddColumns(p.core.takeColumns()); len(news) > 0 {
		p.logger.Warn("ignoring unknown event fields until an exploration includes them", zap.Strings("fields", news))
	}
}

// describePart records the feature set of a part in a span, or the reason of its refusal.
func describePart(span trace.Span, featureSet string, part Part) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("eerf.feature_set", featureSet))
	if part.Counts.Undecodable == 0 {
		return
	}
	span.SetStatus(codes.Error, part.DeadLetter.Cause.Reason)
}
