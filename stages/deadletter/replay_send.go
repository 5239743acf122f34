package deadletter

import (
	"context"
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/topics"
)

// replayEvent is an event to be written.
type replayEvent struct {
	replay     wire.Replay
	record     pipeline.Record
	deadLetter int // index in the batch
}

// replayBatch is what is sent in one request.
type replayBatch struct {
	partition   int
	deadLetters []ReplayedLetter
	events      []replayEvent
	bytes       int
}

// flush writes the notes that the replay begins, then the events, then the notes that it is done.
func (p *replay) flush(work context.Context) error {
	b := p.batch
	p.batch = replayBatch{partition: b.partition}
	sent := b.events
	if len(b.events) > 0 && !p.options.DryRun {
		var err error
		if sent, err = p.send(work, b); err != nil {
			return err
		}
	}
	p.report.Events += int64(len(sent))
	for _, e := range sent {
		p.report.Rows += int64(len(e.replay.Rows))
	}
	for _, l := range b.deadLetters {
		p.handled[l.Letter.Place] = true
	}
	p.report.Letters = append(p.report.Letters, b.deadLetters...)
	return nil
}

// send returns the events that were written: all but those that the broker refuses as too large.
func (p *replay) send(ctx context.Context, b replayBatch) (sent []replayEvent, err error) {
	next, err := pipeline.Retry(ctx, p.Logger, "look up offsets", func() (int64, error) {
		_, next, err := p.Broker.Offsets(ctx, p.Topics.Events, b.partition)
		return next, err
	})
	if err == nil {
		err = p.writeNotes(ctx, b.partition, b.events, next, false)
	}
	if err != nil {
		return nil, err
	}
	sent = b.events
	err = p.write(ctx, b.partition, sent, next)
	if errors.Is(err, pipeline.ErrMessageTooLarge) {
		sent, err = p.writeSingly(ctx, b, next)
	}
	if err == nil && len(sent) > 0 {
		err = p.writeNotes(ctx, b.partition, sent, next, true)
	}
	return sent, err
}

func (p *replay) writeSingly(ctx context.Context, b replayBatch, next int64) (sent []replayEvent, err error) {
	for i, e := range b.events {
		err := p.write(ctx, b.partition, b.events[i:i+1], next)
		switch {
		case errors.Is(err, pipeline.ErrMessageTooLarge):
			p.tooLarge(b, e, err)
		case err != nil:
			return nil, err
		default:
			sent = append(sent, e)
		}
	}
	return sent, nil
}

// tooLarge takes back that an event was replayed, for its dead letter and for others of the same input that relied on
// it.
func (p *replay) tooLarge(b replayBatch, e replayEvent, err error) {
	p.ledger.forget(e.replay)
	if b.deadLetters[e.deadLetter].Outcome == ReplaySent {
		p.chosen--
	}
	b.deadLetters[e.deadLetter].Rows -= int64(len(e.replay.Rows))
	for i := range b.deadLetters {
		of := &b.deadLetters[i]
		if i == e.deadLetter || of.Outcome == ReplayAlready && placeOfDeadLetter(of.Letter.DeadLetter) == placeOf(e.replay) {
			of.Outcome, of.Detail = ReplayTooLarge, err.Error()
		}
	}
}

// write appends events. After a failure it first looks for them on the topic, because a request without an answer may
// have been carried out.
func (p *replay) write(ctx context.Context, partition int, left []replayEvent, next int64) error {
	tried := false
	return pipeline.Try(ctx, p.Logger, "write replayed events", func() error {
		if tried {
			found, err := p.find(ctx, partition, next)
			if err != nil {
				return err
			}
			if left = notAmong(left, found); len(left) == 0 {
				return nil
			}
		}
		tried = true
		records := make([]pipeline.Record, len(left))
		for i, e := range left {
			records[i] = e.record
		}
		_, err := p.Broker.Produce(ctx, p.Topics.Events, partition, records)
		return err
	})
}

func (p *replay) writeNotes(ctx context.Context, partition int, made []replayEvent, next int64, done bool) error {
	notes := make([]pipeline.Record, len(made))
	for i, e := range made {
		note := wire.ReplayNote{Replay: e.replay, Done: done, NextOffset: next}
		if p.options.Force {
			p.ownNotes = append(p.ownNotes, note)
		}
		notes[i] = pipeline.Record{Headers: events.WithHeaders(nil, note.Headers()), Time: p.Clock()}
	}
	return pipeline.Try(ctx, p.Logger, "write notes of the replay", func() error {
		_, err := p.Broker.Produce(ctx, p.Topics.DeadLetters, partition, notes)
		return err
	})
}

// resolve finds out what unfinished replays of the dead letters' inputs have done.
func (p *replay) resolve(ctx context.Context, partition int, deadLetters []Letter) error {
	from := int64(-1)
	for _, l := range deadLetters {
		for _, note := range p.ledger.doubt(placeOfDeadLetter(l.DeadLetter)) {
			if from < 0 || note.NextOffset < from {
				from = note.NextOffset
			}
		}
	}
	if from < 0 {
		return nil
	}
	found, err := p.find(ctx, partition, from)
	if err != nil {
		return err
	}
	for _, replay := range found {
		p.ledger.Apply(wire.ReplayNote{Replay: replay, Done: true})
	}
	for _, l := range deadLetters {
		p.ledger.settle(placeOfDeadLetter(l.DeadLetter))
	}
	return nil
}

// find lists the replayed events of a partition from an offset on.
func (p *replay) find(ctx context.Context, partition int, from int64) (found []wire.Replay, err error) {
	topic := p.Topics.Events
	first, next, err := p.Broker.Offsets(ctx, topic, partition)
	if err != nil {
		return nil, fmt.Errorf("offsets of %s/%d: %w", topic, partition, err)
	}
	ctx = pipeline.Control(ctx) // dead letters stay in memory meanwhile
	err = topics.ReadSpan(ctx, p.Broker, p.Logger, topic, partition, max(first, from), next, func(rec pipeline.Record) error {
		if replay, err := wire.ParseReplayHeaders(events.Headers(rec.Headers)); err == nil {
			found = append(found, replay)
		}
		return nil
	})
	return found, err
}

// notAmong returns the events that are not there yet.
func notAmong(events []replayEvent, found []wire.Replay) (left []replayEvent) {
	there := map[string]bool{}
	for _, replay := range found {
		there[replayKey(replay)] = true
	}
	for _, e := range events {
		if !there[replayKey(e.replay)] {
			left = append(left, e)
		}
	}
	return left
}

// replayKey is the same for replays of the same rows of the same input.
func replayKey(r wire.Replay) string { return fmt.Sprint(placeOf(r), r.Rows) }
