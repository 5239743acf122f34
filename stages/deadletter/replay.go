package deadletter

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
)

// ReplayOptions selects the dead letters to send back to events.
type ReplayOptions struct {
	Filter Filter
	Limit  int // number of dead letters, from the oldest of the first partition on; 0 = all
	// Repaired, if not nil, returns the value to send instead of the dead letter's own. If ok is
	// false, the dead letter is not selected.
	Repaired func(Place) (value []byte, ok bool, err error)
	DryRun   bool // nothing is written
	Progress func(done, total int64)
}

// ReplayOutcome is the outcome of a dead letter.
type ReplayOutcome string

// Outcomes of dead letters.
const (
	ReplaySent       ReplayOutcome = "replayed"
	ReplayDuplicate  ReplayOutcome = "duplicate"     // another dead letter of this replay had the same rows
	ReplayNoValue    ReplayOutcome = "no_value"      // it holds only coordinates
	ReplayNotEvents  ReplayOutcome = "not_of_events" // its source is another topic
	ReplayUnreadable ReplayOutcome = "unreadable"    // its rows cannot be read, for instance after a repair
	ReplayTooLarge   ReplayOutcome = "too_large"     // larger than the events topic accepts
)

// ReplayReport is the result of a replay, or of a dry run.
type ReplayReport struct {
	Letters  int64 // selected
	Events   int64 // messages written
	Rows     int64 // in messages of rejected rows
	Outcomes map[ReplayOutcome]int64
	Unsent   []UnsentLetter // the first unsent ones
}

// UnsentLetter is a dead letter that was not sent.
type UnsentLetter struct {
	Letter  Letter
	Outcome ReplayOutcome
	Detail  string
}

// mostUnsent is the largest number of unsent dead letters in a report.
const mostUnsent = 20

// Replayer sends dead letters back to events.
type Replayer struct {
	Env    env.Env
	Limits arrowio.Limits // of rejected rows
}

// Replay writes the selected dead letters to the partitions of events that they came from. It keeps
// no record: every call sends all selected dead letters, and a failed call may have sent some of
// them.
func (r Replayer) Replay(ctx context.Context, options ReplayOptions) (ReplayReport, error) {
	p := &replay{
		Replayer: r, options: options, rows: events.NewReader(r.Limits, nil),
		report: ReplayReport{Outcomes: map[ReplayOutcome]int64{}},
	}
	err := Visit(ctx, r.Env.Broker, r.Env.Logger, r.Env.Topics.DeadLetters, func(l Letter, rec pipeline.Record) error {
		return p.visit(ctx, l, rec)
	}, options.Progress)
	if err == nil {
		err = p.flush(ctx)
	}
	return p.report, err
}

// replay is one call of [Replayer.Replay].
type replay struct {
	Replayer
	options ReplayOptions
	report  ReplayReport
	rows    *events.Reader

	partition int // of the fields below
	sent      sentInputs
	batch     []replayEvent
	bytes     int // of batch
}

// replayEvent is an event to write.
type replayEvent struct {
	letter Letter
	rows   int64 // rejected rows; 0 = the whole message was refused
	record pipeline.Record
}

// visit adds a dead letter to the batch if it is selected.
func (p *replay) visit(ctx context.Context, l Letter, rec pipeline.Record) error {
	if !p.options.Filter.Matches(l) || p.options.Limit > 0 && p.report.Letters >= int64(p.options.Limit) {
		return nil
	}
	value := rec.Value
	if p.options.Repaired != nil {
		repaired, ok, err := p.options.Repaired(l.Place)
		if err != nil || !ok {
			return err
		}
		value = repaired
	}
	p.report.Letters++
	if l.Place.Partition != p.partition || p.sent == nil {
		if err := p.flush(ctx); err != nil {
			return err
		}
		p.partition, p.sent = l.Place.Partition, sentInputs{}
	}
	event, outcome, detail := p.event(l, rec, value)
	if outcome != ReplaySent {
		p.skip(l, outcome, detail)
		return nil
	}
	if len(p.batch) > 0 && p.bytes+event.record.Size() > events.RequestBytes {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	p.batch = append(p.batch, event)
	p.bytes += event.record.Size()
	return nil
}

// event makes the event of a dead letter. If outcome is not [ReplaySent], the dead letter cannot be
// sent.
func (p *replay) event(
	l Letter,
	rec pipeline.Record,
	value []byte,
) (event replayEvent, outcome ReplayOutcome, detail string) {
	event.letter = l
	switch {
	case l.Topic != p.Env.Topics.Events || int(l.Partition) != l.Place.Partition:
		return event, ReplayNotEvents, fmt.Sprintf("from %s/%d", l.Topic, l.Partition)
	case len(value) == 0 && isBare(rec):
		return event, ReplayNoValue, fmt.Sprintf("the original may still be at %s/%d offset %d", l.Topic, l.Partition,
			l.Offset)
	case len(value) == 0:
		return event, ReplayNoValue, "the message was empty"
	case l.Rows > 0:
		var err error
		if value, event.rows, err = p.rejectedRows(l, value); err != nil {
			return event, ReplayUnreadable, err.Error()
		}
		if event.rows == 0 {
			return event, ReplayDuplicate, ""
		}
	case !p.sent.message(l.Offset):
		return event, ReplayDuplicate, ""
	}
	headers := slices.DeleteFunc(slices.Clone(rec.Headers), isOwnHeader)
	if l.Rows > 0 {
		headers = append(headers, pipeline.Header{Key: wire.HeaderReplayedRows, Value: []byte("arrow")})
	}
	event.record = clone(pipeline.Record{Key: rec.Key, Value: value, Headers: headers, Time: p.Env.Clock()})
	return event, ReplaySent, ""
}

// rejectedRows returns a message of the unsent rows of a dead letter, without the columns that the
// dead letter added.
func (p *replay) rejectedRows(l Letter, value []byte) (message []byte, rows int64, err error) {
	batches, err := p.rows.Read(value)
	if err != nil {
		return nil, 0, err
	}
	defer events.Release(batches)
	if len(batches) != 1 {
		return nil, 0, fmt.Errorf("%w: %d record batches, want 1", wire.ErrMalformed, len(batches))
	}
	numbers, err := wire.RejectedRowNumbers(batches[0])
	if err != nil {
		return nil, 0, err
	}
	take := p.sent.rows(l.Offset, numbers)
	plain := events.WithoutColumns(batches[0], wire.ColumnRejectedRow, wire.ColumnRejectedReason)
	defer plain.Release()
	taken, err := events.TakeRows(plain, take, nil)
	if err != nil {
		return nil, 0, err
	}
	defer taken.Release()
	message, err = arrowio.EncodeStream(taken.Schema(), taken)
	return message, int64(len(take)), err
}

func isOwnHeader(h pipeline.Header) bool { return wire.IsOwnHeader(h.Key) }

// skip reports a dead letter that is not sent.
func (p *replay) skip(l Letter, outcome ReplayOutcome, detail string) {
	p.report.Outcomes[outcome]++
	if len(p.report.Unsent) < mostUnsent {
		p.report.Unsent = append(p.report.Unsent, UnsentLetter{l, outcome, detail})
	}
}

// flush writes the batch.
func (p *replay) flush(ctx context.Context) error {
	batch := p.batch
	p.batch = nil
	p.bytes = 0
	if len(batch) == 0 {
		return nil
	}
	err := p.write(ctx, batch)
	if !errors.Is(err, pipeline.ErrMessageTooLarge) {
		return err
	}
	for i := range batch {
		err := p.write(ctx, batch[i:i+1])
		if errors.Is(err, pipeline.ErrMessageTooLarge) {
			p.skip(batch[i].letter, ReplayTooLarge, err.Error())
		} else if err != nil {
			return err
		}
	}
	return nil
}

// write writes events in one request and counts them.
func (p *replay) write(ctx context.Context, batch []replayEvent) error {
	records := make([]pipeline.Record, len(batch))
	for i := range batch {
		records[i] = batch[i].record
	}
	if !p.options.DryRun {
		err := pipeline.Try(ctx, p.Env.Logger, "write replayed events", func() error {
			_, err := p.Env.Broker.Produce(ctx, p.Env.Topics.Events, p.partition, records)
			return err
		})
		if err != nil {
			return fmt.Errorf("replay to %s/%d: %w", p.Env.Topics.Events, p.partition, err)
		}
	}
	p.report.Outcomes[ReplaySent] += int64(len(batch))
	p.report.Events += int64(len(batch))
	for i := range batch {
		p.report.Rows += batch[i].rows
	}
	return nil
}

// sentInputs are the sent messages of a partition of events, or their sent rows, because several
// stages may have refused the same input. The rows of a completely sent message are nil.
type sentInputs map[int64]map[int32]bool

// message reports whether a whole message is to be sent, and records it as sent.
func (s sentInputs) message(offset int64) bool {
	_, known := s[offset]
	if !known {
		s[offset] = nil
	}
	return !known
}

// rows returns the indexes of the unsent row numbers, and records them as sent.
func (s sentInputs) rows(offset int64, numbers []int32) (left []int32) {
	sent, known := s[offset]
	if known && sent == nil {
		return nil
	}
	if !known {
		sent = map[int32]bool{}
		s[offset] = sent
	}
	for i, number := range numbers {
		if !sent[number] {
			sent[number] = true
			left = append(left, int32(i))
		}
	}
	return left
}
