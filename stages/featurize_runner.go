package stages

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
)

// FeaturizeRunner maps the partitions of events that this process owns to the same partitions of features.
type FeaturizeRunner struct {
	*Runtime
	models *modelWatch // nil = no predictions
}

// NewFeaturizeRunner returns the runner; Run starts it.
func NewFeaturizeRunner(r *Runtime) *FeaturizeRunner { return &FeaturizeRunner{Runtime: r} }

// Run owns partitions until ctx ends. With predictions it follows the models meanwhile.
func (r *FeaturizeRunner) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	if r.Settings.Featurize.Predictions {
		r.models = newModelWatch(r.Runtime)
		group.Go(func() error { return r.models.run(ctx) })
	}
	group.Go(func() error {
		return r.Broker.Own(ctx, r.group(StageFeaturize), r.Settings.Topics.Events, r.runPartition)
	})
	return group.Wait()
}

// waitForModels waits until it is known which model is in use.
func (r *FeaturizeRunner) waitForModels(ctx context.Context) {
	if r.models == nil {
		return
	}
	select {
	case <-r.models.ready:
	case <-ctx.Done():
	}
}

func (r *FeaturizeRunner) runPartition(ctx context.Context, o pipeline.Ownership) error {
	logger := r.Logger.With(zap.String("stage", StageFeaturize), zap.Int("partition", o.Partition))
	if err := waitCoPartitioned(ctx, r.Runtime, logger, o.Partition, r.Settings.Topics.Features, r.Settings.Topics.DeadLetters); err != nil {
		return endOf(ctx, err)
	}
	if _, err := r.Watch.Wait(ctx, func(s State) bool { return s.CurrentSet() != nil }); err != nil {
		return nil
	}
	if r.waitForModels(ctx); ctx.Err() != nil {
		return nil
	}
	p := &featurizePartition{FeaturizeRunner: r, partition: o.Partition, logger: logger, commit: o.Commit, refused: -1, committedAt: r.Clock()}
	if err := p.resume(ctx); err != nil {
		return endOf(ctx, err)
	}
	failpoint.Hit(failpoint.ResumeAfter)
	logger.Info("featurizing", zap.Int64("next_offset", p.next), zap.Int32("next_row", p.nextRow))
	p.at = r.Counters.follow(StageFeaturize, o.Partition, p.next)
	defer p.at.leave()
	err := pipeline.RunPartition(ctx, r.Broker, logger, r.Settings.Topics.Events, o.Partition, r.DrainTimeout, p)
	if err != nil && ctx.Err() != nil { // what is in the output is true, there is only less of it
		r.unfinished.leaves(logger, StageFeaturize, o.Partition, err)
		return nil
	}
	return err
}

// featurizePartition is the pipeline.Processor of one partition.
type featurizePartition struct {
	*FeaturizeRunner
	partition int
	logger    *zap.Logger
	commit    func(context.Context, int64) error
	at        *progress

	next      int64  // offset of events to read
	nextRow   int32  // first row of it that is neither in the output nor pending
	partlyOut string // feature set of the parts of that message before nextRow; empty if nextRow is 0
	core      *Featurizer
	missing   string      // feature set that was said to be missing
	model     *modelInUse // with predictions: the model that core uses

	pending     []pendingPart // not sent
	outputBytes int64         // of pending
	letterBytes int           // of pending
	flight      *flight       // sent, not known to be acknowledged; nil = none
	refused     int64         // last offset that an output too large for the broker made a dead letter; -1 = none
	committed   int64
	committedAt time.Time
	unseenClass int64 // rows with one since the last warning
}

// pendingPart is a part of the result with the record that it was made from.
type pendingPart struct {
	Featurized
	source pipeline.Record
	span   trace.Span // of the message, in its last part; else nil
}

// resume finds where the output ends: in the output partition itself, else in the group's committed offset, else as
// configured.
func (p *featurizePartition) resume(ctx context.Context) error {
	events := p.Settings.Topics.Events
	failpoint.Hit(failpoint.ResumeBefore)
	found, err := pipeline.Retry(ctx, p.logger, "find the end of the output", func() (bool, error) { return p.readTail(ctx) })
	if err != nil {
		return fmt.Errorf("resume featurizing %s/%d: %w", events, p.partition, err)
	}
	committed, err := pipeline.Retry(ctx, p.logger, "look up the committed offset", func() (int64, error) {
		return p.Broker.Committed(ctx, p.group(StageFeaturize), events, p.partition)
	})
	if err != nil {
		return fmt.Errorf("resume featurizing %s/%d: %w", events, p.partition, err)
	}
	if committed >= 0 && (!found || committed > p.next) {
		p.next, p.nextRow, p.partlyOut, found = committed, 0, "", true
	}
	p.committed = committed
	if found {
		return nil
	}
	p.next, err = pipeline.Retry(ctx, p.logger, "look up offsets", func() (int64, error) {
		first, next, err := p.Broker.Offsets(ctx, events, p.partition)
		if p.Settings.Featurize.Start == "latest" {
			return next, err
		}
		return first, err
	})
	return err
}

// readTail takes the position behind the last message of the output partition that came from this partition of events.
func (p *featurizePartition) readTail(ctx context.Context) (found bool, err error) {
	topic := p.Settings.Topics.Features
	first, next, err := p.Broker.Offsets(ctx, topic, p.partition)
	if err != nil {
		return false, err
	}
	for back := int64(1); ; back *= 2 {
		from := max(first, next-back)
		r := pipeline.NewReader(p.Broker, p.logger, topic, p.partition, pipeline.ReadOptions{From: from, Until: next})
		for rec, err := range r.Records(ctx) {
			if err != nil {
				return false, err
			}
			found = p.isTail(rec) || found
		}
		if found || from == first {
			return found, nil
		}
	}
}

func (p *featurizePartition) isTail(rec pipeline.Record) bool {
	part, err := wire.ParseFeatureHeaders(wireHeaders(rec.Headers))
	if err != nil || part.SourceTopic != p.Settings.Topics.Events || int(part.SourcePartition) != p.partition {
		return false
	}
	p.moveBehind(part)
	return true
}

// moveBehind moves the position behind the rows of an output.
func (p *featurizePartition) moveBehind(rows wire.FeatureBatch) {
	p.next, p.nextRow, p.partlyOut = rows.SourceOffset+1, 0, ""
	if !rows.Last() {
		p.next, p.nextRow, p.partlyOut = rows.SourceOffset, rows.FirstRow+rows.RowCount, rows.FeatureSetID
	}
}

func (p *featurizePartition) NextOffset() int64 { return p.next }

// Process maps the records and sends what came of them. The last request is still under way when it returns: the next
// records are fetched and mapped meanwhile.
func (p *featurizePartition) Process(ctx context.Context, f pipeline.Fetched) error {
	defer p.Counters.worked(StageFeaturize, time.Now())
	p.at.fetched(f, p.Clock())
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
	due := p.Clock().Sub(p.committedAt) >= p.Settings.Featurize.CommitInterval
	if due || len(f.Records) == 0 {
		if err := p.land(ctx); err != nil {
			return err
		}
	}
	if p.flight == nil {
		p.at.done(p.next)
	}
	if due {
		p.commitNext(ctx)
	}
	failpoint.Hit(failpoint.FetchBefore)
	return nil
}

// mapMessage maps a message, or what is left of the one that is partly out.
func (p *featurizePartition) mapMessage(ctx context.Context, rec pipeline.Record) error {
	defer p.Counters.handled(StageFeaturize, time.Now())
	span := p.startSpan(StageFeaturize, rec)
	rec.Headers = withSpan(rec.Headers, span)
	firstRow := int32(0)
	if rec.Offset == p.next {
		firstRow = p.nextRow
	}
	err := p.core.Process(rec, firstRow, p.Clock(), func(part Featurized) error {
		describePart(span, p.core.ID(), part)
		return p.add(ctx, pendingPart{Featurized: part, source: rec})
	})
	if err != nil {
		failSpan(span, err)
		span.End()
		return err
	}
	p.next, p.nextRow, p.partlyOut = rec.Offset+1, 0, ""
	p.pending[len(p.pending)-1].span = span // every message has a part, and the last one is not sent yet
	return nil
}

// chooseSet takes the current set, or the one that the parts name where a message is partly out.
func (p *featurizePartition) chooseSet() error {
	state := p.Watch.State()
	id := state.Current.ID
	if p.partlyOut != "" {
		id = p.partlyOut
	}
	if p.core != nil && p.core.ID() == id {
		return nil
	}
	set, ok := state.Sets[id]
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
			id, p.partition, p.next, p.Settings.Topics.FeatureSets))
	}
	p.logger.Info("feature set in use", zap.String("feature_set", id), zap.Int64("from_offset", p.next))
	p.core, p.model = NewFeaturizer(set.Set, p.Settings.Limits.decoder(), p.Settings.Featurize.MaxOutputBytes), nil
	if p.models == nil {
		return nil
	}
	return p.core.AttachPredictions(set.Set)
}

// add takes a part and moves the position behind its rows. What is pending is sent first where it would become too much
// with the part: a request holds outputs of at most MaxOutputBytes, or a single one.
func (p *featurizePartition) add(ctx context.Context, part pendingPart) error {
	var outputBytes int64
	var letterBytes int
	if part.Output != nil {
		outputBytes = int64(part.Output.Size())
	}
	if part.Letter != nil {
		letterBytes = part.Letter.Size()
	}
	if p.outputBytes+outputBytes > p.Settings.Featurize.MaxOutputBytes || p.letterBytes+letterBytes > letterBytesMax {
		if err := p.send(ctx); err != nil {
			return err
		}
	}
	p.pending = append(p.pending, part)
	p.outputBytes += outputBytes
	p.letterBytes += letterBytes
	if part.Output != nil {
		p.moveBehind(part.Rows)
	}
	return nil
}

// Gap has a batch that cannot be read in the dead letters. Of events that are gone it says how many, and goes on with what
// the log still holds: with the first where retention was quicker, with those to come where the log lost its end (an unclean
// leader election).
func (p *featurizePartition) Gap(ctx context.Context, g pipeline.Gap) error {
	switch g.Kind {
	case pipeline.GapUnreadable:
		return p.refuse(ctx, g)
	case pipeline.GapTruncated:
		p.logger.Error("the log of events ends before the offset to read, it has lost its end: featurizing goes on with what comes now",
			zap.Int64("offset", g.From), zap.Int64("next_offset", g.End))
		p.next, p.refused = g.End, -1
	default:
		p.logger.Error("events are no longer in the log, featurizing goes on with the first that is",
			zap.Int64("offset", g.From), zap.Int64("first_offset", g.First), zap.Int64("missing_offsets", g.Missing()))
		p.Counters.addFeaturize(FeaturizeCounts{MissingOffsets: g.Missing()})
		p.next = g.To
	}
	p.nextRow, p.partlyOut = 0, ""
	p.at.done(p.next)
	return nil
}

func (p *featurizePartition) refuse(ctx context.Context, g pipeline.Gap) error {
	letter := refusedBatch(StageFeaturize, g, p.Clock())
	part := Featurized{Letter: &letter, Counts: FeaturizeCounts{Messages: 1, Undecodable: 1}}
	if err := p.add(ctx, pendingPart{Featurized: part}); err != nil {
		return err
	}
	p.next, p.nextRow, p.partlyOut = g.To, 0, ""
	return p.send(ctx)
}

// Close waits for what is under way. The fault of a request is reported once, by whoever finds it first.
func (p *featurizePartition) Close(ctx context.Context) error {
	failpoint.Hit(failpoint.FeaturizeDrain)
	var err error
	if p.flight != nil && !p.flight.failed {
		err = p.land(ctx)
	}
	p.commitNext(ctx)
	return err
}

// commitNext commits what is out, acknowledged, for lag monitors and for an output partition that retention emptied.
func (p *featurizePartition) commitNext(ctx context.Context) {
	p.committedAt = p.Clock()
	if p.unseenClass > 0 {
		p.logger.Warn("rows of classes that calibration did not see are not trained on: name the classes in events.classes",
			zap.Int64("rows", p.unseenClass))
		p.unseenClass = 0
	}
	if len(p.pending) > 0 || p.flight != nil || p.nextRow > 0 || p.next == p.committed {
		return
	}
	if err := p.commit(ctx, p.next); err != nil {
		p.logger.Warn("offset not committed, lag monitors are behind", zap.Error(err))
		return
	}
	failpoint.Hit(failpoint.CommitAfter)
	p.committed = p.next
}
