package stages

import (
	"context"
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// replayEvent is an event to be written.
type replayEvent struct {
	replay wire.Replay
	record pipeline.Record
	letter int // in the batch
}

// replayBatch is what goes out in one request.
type replayBatch struct {
	partition int
	letters   []ReplayedLetter
	events    []replayEvent
	bytes     int
}

// flush notes that the replay begins, writes the events, notes that it is done.
func (p *replayer) flush(work context.Context) error {
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
	for _, l := range b.letters {
		p.handled[l.Letter.Place] = true
	}
	p.report.Letters = append(p.report.Letters, b.letters...)
	return nil
}

// send returns the events that were written: all but those that the broker refuses for their size.
func (p *replayer) send(ctx context.Context, b replayBatch) (sent []replayEvent, err error) {
	next, err := pipeline.Retry(ctx, p.Logger, "look up offsets", func() (int64, error) {
		_, next, err := p.Broker.Offsets(ctx, p.Settings.Topics.Events, b.partition)
		return next, err
	})
	if err == nil {
		err = p.note(ctx, b.partition, b.events, next, false)
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
		err = p.note(ctx, b.partition, sent, next, true)
	}
	return sent, err
}

func (p *replayer) writeSingly(ctx context.Context, b replayBatch, next int64) (sent []replayEvent, err error) {
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

// tooLarge takes back that an event is replayed: for its letter, and for others of the same input that relied on it.
func (p *replayer) tooLarge(b replayBatch, e replayEvent, err error) {
	p.ledger.forget(e.replay)
	if b.letters[e.letter].Outcome == ReplaySent {
		p.chosen--
	}
	b.letters[e.letter].Rows -= int64(len(e.replay.Rows))
	for i := range b.letters {
		of := &b.letters[i]
		if i == e.letter || of.Outcome == ReplayAlready && placeOfLetter(of.Letter.DeadLetter) == placeOf(e.replay) {
			of.Outcome, of.Detail = ReplayTooLarge, err.Error()
		}
	}
}

// write appends events. After a failure it looks for them first: a request without an answer may have been carried out.
func (p *replayer) write(ctx context.Context, partition int, events []replayEvent, next int64) error {
	tried := false
	return pipeline.Try(ctx, p.Logger, "write replayed events", func() error {
		if tried {
			found, err := p.find(ctx, partition, next)
			if err != nil {
				return err
			}
			if events = notAmong(events, found); len(events) == 0 {
				return nil
			}
		}
		tried = true
		records := make([]pipeline.Record, len(events))
		for i, e := range events {
			records[i] = e.record
		}
		_, err := p.Broker.Produce(ctx, p.Settings.Topics.Events, partition, records)
		return err
	})
}

func (p *replayer) note(ctx context.Context, partition int, events []replayEvent, next int64, done bool) error {
	notes := make([]pipeline.Record, len(events))
	for i, e := range events {
		note := wire.ReplayNote{Replay: e.replay, Done: done, NextOffset: next}
		if p.options.Force {
			p.noted = append(p.noted, note)
		}
		notes[i] = pipeline.Record{Headers: withHeaders(nil, note.Headers()), Time: p.Clock()}
	}
	return pipeline.Try(ctx, p.Logger, "note the replay", func() error {
		_, err := p.Broker.Produce(ctx, p.Settings.Topics.DeadLetters, partition, notes)
		return err
	})
}

// resolve finds out what became of replays of the letters' inputs that did not come to their end.
func (p *replayer) resolve(ctx context.Context, partition int, letters []Letter) error {
	from := int64(-1)
	for _, l := range letters {
		for _, note := range p.ledger.doubt(placeOfLetter(l.DeadLetter)) {
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
		p.ledger.Note(wire.ReplayNote{Replay: replay, Done: true})
	}
	for _, l := range letters {
		p.ledger.settle(placeOfLetter(l.DeadLetter))
	}
	return nil
}

// find lists the replayed events of a partition from an offset on.
func (p *replayer) find(ctx context.Context, partition int, from int64) (found []wire.Replay, err error) {
	topic := p.Settings.Topics.Events
	first, next, err := p.Broker.Offsets(ctx, topic, partition)
	if err != nil {
		return nil, fmt.Errorf("offsets of %s/%d: %w", topic, partition, err)
	}
	err = readSpan(ctx, p.Runtime, topic, partition, max(first, from), next, func(rec pipeline.Record) error {
		if replay, err := wire.ParseReplayHeaders(wireHeaders(rec.Headers)); err == nil {
			found = append(found, replay)
		}
		return nil
	})
	return found, err
}

// notAmong is the events that are not there yet.
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

// replayKey is equal for replays of the same rows of the same input.
func replayKey(r wire.Replay) string { return fmt.Sprint(placeOf(r), r.Rows) }
