package featurize

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// partition is the pipeline.Processor of one partition. It belongs to one goroutine.
type partition struct {
	*Runner
	models  *modelLoader // nil = no predictions
	classes *classWatch
	number  int
	logger  *zap.Logger
	commit  func(context.Context, int64) error
	at      *meter.Position

	next      int64  // offset of events to read
	nextRow   int32  // first row of it that is neither in the output nor waiting
	partlyOut string // feature set of the parts of that message before nextRow; empty if nextRow is 0
	core      *Featurizer
	missing   string      // feature set that was reported as missing
	model     *modelInUse // with predictions: the model that core uses

	waiting         []outgoing // parts that are not sent
	outputBytes     int64      // of waiting
	deadLetterBytes int        // of waiting

	request *request // sent, and its result not applied; one that failed stays. nil = none
	failure error    // of request
	refused int64    // last offset that an output too large for the broker made a dead letter; -1 = none

	committed   int64
	committedAt time.Time
	unseen      encoder.ClassTally // since the last warning
}

// outgoing is a part of the result with the record that it was made from.
type outgoing struct {
	Part
	source pipeline.Record
	span   trace.Span // of the message, in its last part; else nil
}

func newPartition(r *Runner, o pipeline.Ownership, models *modelLoader, classes *classWatch, logger *zap.Logger) *partition {
	return &partition{
		Runner: r, models: models, classes: classes, number: o.Partition, logger: logger, commit: o.Commit, refused: -1, committedAt: r.Clock(),
	}
}

// NextOffset implements pipeline.Processor.
func (p *partition) NextOffset() int64 { return p.next }

// Process maps the records and sends what came of them. The last request is still under way when it returns: the next
// records are fetched and mapped meanwhile.
func (p *partition) Process(ctx context.Context, f pipeline.Fetched) error {
	defer p.Meter.Worked(meter.StageFeaturize, time.Now())
	p.at.Fetched(f, p.Clock())
	for _, rec := range f.Records {
		if err := p.chooseSet(); err != nil {
			return err
		}
		p.chooseModel()
		if err := p.mapMessage(ctx, rec); err != nil {
			return err
		}
	}
	if err := p.send(ctx); err != nil {
		return err
	}
	p.next = max(p.next, f.NextOffset)
	due := p.Clock().Sub(p.committedAt) >= p.Config.CommitInterval
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

// mapMessage maps a message, or what is left of the one that is partly out.
func (p *partition) mapMessage(ctx context.Context, rec pipeline.Record) error {
	if !p.core.Ready(rec.Value) {
		if err := p.send(ctx); err != nil { // what is done does not wait for a registry
			return err
		}
		if err := p.core.Prepare(ctx, rec.Value); err != nil {
			return err
		}
	}
	defer p.Meter.Handled(meter.StageFeaturize, time.Now())
	span := meter.StartSpan(p.Tracer, p.Group, meter.StageFeaturize, rec)
	rec.Headers = meter.WithSpan(rec.Headers, span)
	firstRow := int32(0)
	if rec.Offset == p.next {
		firstRow = p.nextRow
	}
	err := p.core.Process(rec, firstRow, p.Clock(), func(part Part) error {
		describePart(span, p.core.ID(), part)
		return p.add(ctx, outgoing{Part: part, source: rec})
	})
	if err != nil {
		meter.FailSpan(span, deadletter.Reason(err), err)
		span.End()
		return err
	}
	p.next, p.nextRow, p.partlyOut = rec.Offset+1, 0, ""
	p.waiting[len(p.waiting)-1].span = span // every message has a part, and the last one is not sent yet
	return nil
}

// chooseSet prepares the current set, or the one that the parts name where a message is partly out.
func (p *partition) chooseSet() error {
	now := p.State.Snapshot()
	id := now.Current.ID
	if p.partlyOut != "" {
		id = p.partlyOut
	}
	if p.core != nil && p.core.ID() == id {
		return nil
	}
	set, ok := now.Sets[id]
	switch {
	case !ok && p.core != nil: // a set that this build does not understand: the last one is better than none
		if p.missing != id {
			p.logger.Error("feature set is not on its topic or not understood, the last one stays in use",
				zap.String("feature_set", id), zap.String("in_use", p.core.ID()))
			p.missing = id
		}
		return nil
	case !ok:
		return pipeline.Permanent(fmt.Errorf("feature set %s, in use on partition %d at offset %d, is not on topic %s",
			id, p.number, p.next, p.Topics.FeatureSets))
	}
	p.logger.Info("feature set in use", zap.String("feature_set", id), zap.Int64("from_offset", p.next))
	p.core, p.model = NewFrom(set.Set, p.Source, p.Config.MaxOutputBytes), nil
	p.core.BoundOutput(p.Amplification)
	if p.models == nil {
		return nil
	}
	return p.core.AttachPredictions(set.Set)
}

// chooseModel has the predictions of the next message made with the model in use.
func (p *partition) chooseModel() {
	if p.models == nil {
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

// add has a part wait and moves the position behind its rows. What waits is sent first where it would become too much
// with the part: a request holds outputs of at most MaxOutputBytes, or a single one.
func (p *partition) add(ctx context.Context, part outgoing) error {
	var outputBytes int64
	var deadLetterBytes int
	if part.Output != nil {
		outputBytes = int64(part.Output.Memory())
	}
	if part.DeadLetter != nil {
		deadLetterBytes = part.DeadLetter.Memory()
	}
	if p.outputBytes+outputBytes > p.Config.MaxOutputBytes || p.deadLetterBytes+deadLetterBytes > deadletter.PendingBytes {
		if err := p.send(ctx); err != nil {
			return err
		}
	}
	p.waiting = append(p.waiting, part)
	p.outputBytes += outputBytes
	p.deadLetterBytes += deadLetterBytes
	if part.Output != nil {
		p.moveBehind(part.Rows)
	}
	return nil
}

// send awaits the request under way and starts one of the parts that wait.
func (p *partition) send(ctx context.Context) error {
	if err := p.await(); err != nil || len(p.waiting) == 0 {
		return err
	}
	p.request = startRequest(ctx, p.sender(), p.waiting, p.next, p.refused)
	p.waiting, p.outputBytes, p.deadLetterBytes = nil, 0, 0
	return nil
}

// sender sends to the output of this partition.
func (p *partition) sender() sender {
	return sender{
		log: p.Broker, topic: p.Topics.Features, partition: p.number, logger: p.logger, clock: p.Clock, at: p.at,
		deadLetters: deadletter.Sender{Log: p.Broker, Topic: p.Topics.DeadLetters, Meter: p.Meter, Logger: p.logger},
	}
}

// await waits for the request under way, if there is one, and applies its result. Its error is that of every later call.
func (p *partition) await() error {
	if p.request == nil || p.failure != nil {
		return p.failure
	}
	went := <-p.request.result
	if went.err != nil {
		p.failure = went.err
		return went.err
	}
	for i := range went.parts {
		p.apply(&went.parts[i], &went)
	}
	p.request, p.refused = nil, went.refused
	return nil
}

// apply counts a part that is out.
func (p *partition) apply(part *outgoing, went *result) {
	if part.Output != nil {
		p.Meter.Arrived(meter.EventTime(&part.source), went.acknowledged)
		if !went.triedAgain {
			p.core.Recycle(part.Output.Value)
		}
	}
	p.Meter.AddFeaturize(part.Counts)
	p.Meter.AddTraffic(meter.StageFeaturize, part.traffic())
	p.at.Count(part.Counts.Messages, part.Counts.Rows)
	p.classes.met(part.Unseen)
	for _, c := range part.Unseen {
		p.unseen.Add(c.Class, c.Rows)
	}
}

// traffic is what was read and written for a part.
func (o *outgoing) traffic() (t meter.Traffic) {
	size := int64(o.source.Size())
	switch {
	case o.Counts.Undecodable > 0:
		t.UndecodableBytes = size
	case o.Counts.Messages > 0: // the part that stands for the message
		t.UsedBytes = size
	}
	if o.Output != nil {
		t.OutputMessages, t.OutputBytes = 1, int64(o.Output.Size())
	}
	return t
}

// Gap has a batch that cannot be read in the dead letters. Of events that are gone it counts how many, and continues with what
// the log still holds: with the first where retention was quicker, with those to come where the log lost its end (an unclean
// leader election).
func (p *partition) Gap(ctx context.Context, g pipeline.Gap) error {
	if g.Kind == pipeline.GapUnreadable {
		return p.refuse(ctx, g)
	}
	if err := p.await(); err != nil { // its offsets are of the log before the gap
		return err
	}
	switch g.Kind {
	case pipeline.GapTruncated:
		p.logger.Error("the log of events ends before the offset to read, it has lost its end: featurizing goes on with what comes now",
			zap.Int64("offset", g.From), zap.Int64("next_offset", g.End))
		p.next, p.refused = g.End, -1
	default:
		p.logger.Error("events are no longer in the log, featurizing goes on with the first that is",
			zap.Int64("offset", g.From), zap.Int64("first_offset", g.First), zap.Int64("missing_offsets", g.Missing()))
		p.Meter.AddFeaturize(meter.FeaturizeCounts{MissingOffsets: g.Missing()})
		p.next = g.To
	}
	p.nextRow, p.partlyOut = 0, ""
	p.at.Done(p.next)
	return nil
}

func (p *partition) refuse(ctx context.Context, g pipeline.Gap) error {
	deadLetter := deadletter.RefusedBatch(meter.StageFeaturize, g, p.Clock())
	part := Part{DeadLetter: &deadLetter, Counts: meter.FeaturizeCounts{Messages: 1, Undecodable: 1}}
	if err := p.add(ctx, outgoing{Part: part}); err != nil {
		return err
	}
	p.next, p.nextRow, p.partlyOut = g.To, 0, ""
	return p.send(ctx)
}

// Close waits for what is under way. The error of a request is reported once, by whoever finds it first.
func (p *partition) Close(ctx context.Context) error {
	failpoint.Hit(failpoint.FeaturizeDrain)
	var err error
	if p.failure == nil {
		err = p.await()
	}
	p.commitNext(ctx)
	return err
}

// commitNext commits what is out, acknowledged, for lag monitors and for an output partition that retention emptied.
func (p *partition) commitNext(ctx context.Context) {
	p.committedAt = p.Clock()
	if !p.unseen.Empty() {
		p.logger.Warn("rows of classes that the feature set does not know are neither scored nor trained on", zap.Any("classes", p.unseen.List()))
		p.unseen.Clear()
	}
	if len(p.waiting) > 0 || p.request != nil || p.nextRow > 0 || p.next == p.committed {
		return
	}
	if err := p.commit(ctx, p.next); err != nil {
		p.logger.Warn("offset not committed, lag monitors are behind", zap.Error(err))
		return
	}
	failpoint.Hit(failpoint.CommitAfter)
	p.committed = p.next
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
	if deadLetter, err := wire.ParseDeadLetterHeaders(events.Headers(part.DeadLetter.Headers)); err == nil {
		span.SetStatus(codes.Error, deadLetter.Reason)
	}
}
