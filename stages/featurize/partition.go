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
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// owned is what a partition and its requests share. All of it is safe for concurrent use.
type owned struct {
	*Runner
	number int
	writer pipeline.Producer // of everything
	logger *zap.Logger
	at     *meter.Position
}

// partition is the pipeline.Processor of one partition. It belongs to one goroutine.
type partition struct {
	owned
	models  *modelLoader // nil = no model
	classes *classWatch
	commit  func(context.Context, int64, pipeline.LogID) error

	position // after what is in the output or waiting
	core     *Featurizer
	missing  string      // feature set already reported as missing
	model    *modelInUse // the model that core uses
	hasLive  bool        // the topic of live errors has the partition
	blocks   blocks

	waiting         []outgoing // parts not yet sent
	outputBytes     int64      // of waiting
	deadLetterBytes int        // of waiting
	charged         int64      // against the output memory, for what waits and what is in progress

	request *request // sent but its result not yet applied, or failed; nil = none
	failure error    // of request
	refused int64    // last offset with an output too large for the broker, which became a dead letter; -1 = none

	committed   int64
	committedAt time.Time
	unseen      encoder.ClassTally // since the last warning
}

// outgoing is a part of the result and the record that it was made from.
type outgoing struct {
	Part
	source pipeline.Record
	span   trace.Span // of the message, in its last part; else nil
}

func newPartition(r *Runner, o pipeline.Ownership, writer pipeline.Producer, models *modelLoader, classes *classWatch, logger *zap.Logger) *partition {
	r.once.Do(func() { r.outputs = newOutputMemory(max(r.Config.OutputMemory, r.Config.MaxOutputBytes)) })
	p := &partition{
		owned:  owned{Runner: r, number: o.Partition, writer: writer, logger: logger},
		models: models, classes: classes, commit: o.Commit, refused: -1, committedAt: r.Env.Clock(),
	}
	p.blocks.partition = p
	return p
}

// NextOffset implements pipeline.Processor.
func (p *partition) NextOffset() int64 { return p.next }

// Place implements pipeline.Placed.
func (p *partition) Place() pipeline.Place { return pipeline.Place{Log: p.source.id, Batch: p.batch} }

// Process maps the records and sends the results. The last request is still in progress when it returns: the next records
// are fetched and mapped meanwhile.
func (p *partition) Process(ctx context.Context, f pipeline.Fetched) error {
	defer p.Env.Meter.Worked(meter.StageFeaturize, time.Now())
	p.at.Fetched(f, p.Env.Clock())
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
	due := p.Env.Clock().Sub(p.committedAt) >= p.Config.CommitInterval
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

// mapMessage maps a message, or the rest of one that is partly out.
func (p *partition) mapMessage(ctx context.Context, rec pipeline.Record) error {
	if !p.core.Ready(rec.Value) {
		if err := p.send(ctx); err != nil { // finished work does not wait for a registry
			return err
		}
		if err := p.core.Prepare(ctx, rec.Value); err != nil {
			return err
		}
	}
	defer p.Env.Meter.Handled(meter.StageFeaturize, time.Now())
	p.Env.Meter.CheckTime(p.logger, &rec, p.Env.Clock().Add(p.Env.MaxAhead))
	span := meter.StartSpan(p.Env.Tracer, p.Env.Group, meter.StageFeaturize, rec)
	rec.Headers = meter.WithSpan(rec.Headers, span)
	p.core.log = p.source.String()
	err := p.mapInSlots(ctx, rec, span)
	if err != nil {
		meter.FailSpan(span, deadletter.Reason(err), err)
		span.End()
		return err
	}
	p.reportSupplied()
	p.next, p.nextRow, p.partlyOut, p.batch = rec.Offset+1, 0, "", rec.Batch
	p.waiting[len(p.waiting)-1].span = span // every message has a part, and the last one is not sent yet
	return nil
}

// errSlotNeeded says that a message has to give back its slot because its output waits for the broker.
var errSlotNeeded = errors.New("what was made of the message waits for the broker")

// mapInSlots maps a message in a slot. If its output has to wait for the broker, it waits without the slot, so that
// partitions that can be written to do not wait for one that cannot. The message is then read again from where it was
// left.
func (p *partition) mapInSlots(ctx context.Context, rec pipeline.Record, span trace.Span) error {
	firstRow, begun := int32(0), false
	for {
		if rec.Offset == p.next {
			firstRow = p.nextRow
		}
		err := p.mapRows(ctx, rec, firstRow, func(part Part) error {
			if stands := part.Output == nil && part.DeadLetter == nil; stands && begun {
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
		if err := p.core.Prepare(ctx, rec.Value); err != nil {
			return err
		}
	}
}

func (p *partition) mapRows(ctx context.Context, rec pipeline.Record, firstRow int32, emit func(Part) error) error {
	// Before waiting for a slot, send what was made: those who have a slot may be waiting for output memory.
	if err := p.core.begin(ctx, func() error { return p.send(ctx) }); err != nil {
		return err
	}
	defer p.core.end()
	return p.core.Process(rec, firstRow, p.Env.Clock(), emit)
}

// chooseSet prepares the current set or, if a message is partly out, the set that its parts name.
func (p *partition) chooseSet(ctx context.Context) error {
	now := p.Env.State.Snapshot()
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
		err = pipeline.Permanent(fmt.Errorf("feature set in use on partition %d at offset %d: %w", p.number, p.next, err))
	}
	if err != nil {
		return err
	}
	p.logger.Info("feature set in use", zap.String("feature_set", set.id), zap.Int64("from_offset", p.next))
	p.core, p.model = set.featurizer(&p.outputs.spares), nil
	return nil
}

// findSetOfRest returns the feature set for the rest of a message that is partly out: the one that its parts name or, if that is gone,
// the one in use. A broker may have lost it, or it was retired while the partition stood still.
func (p *partition) findSetOfRest(ctx context.Context) (*preparedSet, error) {
	now, err := p.Env.State.CatchUp(ctx, state.TopicFeatureSets)
	if err != nil {
		return nil, err
	}
	set, err := p.findSet(ctx, now, p.partlyOut)
	if !errors.Is(err, state.ErrNoSet) {
		return set, err
	}
	p.logger.Error("the feature set of a message that is partly out is gone, the rest of it gets the one in use",
		zap.String("feature_set", p.partlyOut), zap.Int64("offset", p.next), zap.Int32("next_row", p.nextRow))
	p.partlyOut = ""
	return p.findSet(ctx, now, now.Current.ID)
}

// reportMissing says once that this build does not understand the set in use: it goes on with the last one. A set that
// is on its topic is about to be read.
func (p *partition) reportMissing(now state.Snapshot, id string) {
	if _, there := now.Sets[id]; there || p.missing == id {
		return
	}
	p.logger.Error("feature set is not on its topic or not understood, the last one stays in use",
		zap.String("feature_set", id), zap.String("in_use", p.core.ID()))
	p.missing = id
}

// chooseModel makes the next message use the model in use.
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
	p.logger.Info("model for predictions", zap.String("model", now.id), zap.String("missing", p.core.predictor.columns.Missing),
		zap.Int64("from_offset", p.next))
}

// Gap makes a dead letter of a batch that cannot be read. Events that are gone are counted, and reading continues with
// what the log still holds: at its first event if retention was faster or the topic was recreated, or at its present
// end if it was truncated.
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
		p.logger.Error("the log of events is not the one that was read, featurizing goes on in the one that is there", zap.Stringer("gap", g),
			zap.String("log", p.source.String()), zap.Int64("missing_offsets", g.Missing()), zap.Error(g.Err))
		p.Env.Meter.AddGap(g)
		p.Env.Meter.AddFeaturize(meter.FeaturizeCounts{MissingOffsets: g.Missing()})
		p.next, p.refused, p.batch, p.committed = g.To, -1, pipeline.Mark{}, -1
	default:
		p.logger.Error("events are no longer in the log, featurizing goes on with the first that is",
			zap.Int64("offset", g.From), zap.Int64("first_offset", g.First), zap.Int64("missing_offsets", g.Missing()))
		p.Env.Meter.AddFeaturize(meter.FeaturizeCounts{MissingOffsets: g.Missing()})
		p.next = g.To
	}
	p.nextRow, p.partlyOut = 0, ""
	p.at.Done(p.next)
	return nil
}

func (p *partition) refuse(ctx context.Context, g pipeline.Gap) error {
	deadLetter := deadletter.RefusedBatch(meter.StageFeaturize, g, p.Env.Clock())
	part := Part{DeadLetter: &deadLetter, Counts: meter.FeaturizeCounts{Messages: 1, Undecodable: 1}}
	if err := p.send(ctx); err != nil { // the dead letter needs no slot, so it may wait here
		return err
	}
	if err := p.add(ctx, outgoing{Part: part}); err != nil {
		return err
	}
	p.next, p.nextRow, p.partlyOut = g.To, 0, ""
	return p.send(ctx)
}

// Close waits for the request in progress. The error of a request is reported by the first call that finds it.
func (p *partition) Close(ctx context.Context) error {
	failpoint.Hit(failpoint.FeaturizeDrain)
	var err error
	if p.failure == nil {
		err = p.await()
	}
	p.giveBack(p.charged)
	p.commitNext(ctx)
	return err
}

// commitNext commits what is acknowledged, for lag monitors and in case retention empties the output partition.
func (p *partition) commitNext(ctx context.Context) {
	p.committedAt = p.Env.Clock()
	p.reportColumns()
	if !p.unseen.Empty() {
		p.logger.Warn("rows of classes that the feature set does not know are neither scored nor trained on", zap.Any("classes", p.unseen.List()))
		p.unseen.Clear()
	}
	if len(p.waiting) > 0 || p.request != nil || p.nextRow > 0 || p.next == p.committed {
		return
	}
	if err := p.commit(ctx, p.next, p.source.id); err != nil {
		p.logger.Warn("offset not committed: lag monitors show an older one", zap.Error(err))
		return
	}
	failpoint.Hit(failpoint.CommitAfter)
	p.committed = p.next
}

// reportColumns adds to the meter what was seen of the columns of events, by the set in use, and logs new fields.
func (p *partition) reportColumns() {
	if p.core == nil || p.core.ID() != p.Env.State.Snapshot().Current.ID {
		return
	}
	if news := p.Env.Meter.AddColumns(p.core.takeColumns()); len(news) > 0 {
		p.logger.Warn("events have fields that the feature set does not know: they are no features before an exploration begins with rows that have them", zap.Strings("fields", news))
	}
}

// describePart records in a span what became of a part, or why it was refused.
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
