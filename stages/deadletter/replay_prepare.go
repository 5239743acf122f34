package deadletter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
)

// prepare makes the events of a dead letter and sets its outcome in done. An error is not the dead letter's fault: a
// file cannot be read, or the registry is away.
func (p *replay) prepare(ctx context.Context, done *ReplayedLetter, rec pipeline.Record) ([]replayEvent, error) {
	deadLetter := done.Letter
	value := rec.Value
	if p.options.Repaired != nil {
		var err error
		if value, _, err = p.options.Repaired(deadLetter.Place); err != nil {
			return nil, err
		}
	}
	switch {
	case deadLetter.Topic != p.Topics.Events || int(deadLetter.Partition) != deadLetter.Place.Partition:
		done.Outcome = ReplayNotEvents
		done.Detail = fmt.Sprintf("from %s/%d", deadLetter.Topic, deadLetter.Partition)
		return nil, nil
	case len(value) == 0:
		done.Outcome, done.Detail = ReplayNoValue, "the message was empty"
		if isBare(rec) {
			done.Detail = fmt.Sprintf("the original may still be at %s/%d offset %d", deadLetter.Topic, deadLetter.Partition, deadLetter.Offset)
		}
		return nil, nil
	case deadLetter.Rows > 0:
		return p.prepareRows(done, rec, value)
	default:
		return p.prepareMessage(ctx, done, rec, value)
	}
}

// prepareMessage repeats a message that was refused whole, byte for byte.
func (p *replay) prepareMessage(ctx context.Context, done *ReplayedLetter, rec pipeline.Record, value []byte) ([]replayEvent, error) {
	_, whole := p.ledger.missing(placeOfDeadLetter(done.Letter.DeadLetter), nil)
	if !whole {
		done.Outcome = ReplayAlready
		return nil, nil
	}
	if !p.options.Unchecked {
		if err := p.reader.Prepare(ctx, value); err != nil {
			return nil, err
		}
		if err := p.check(value); err != nil {
			done.Outcome, done.Detail = ReplayRefusedAgain, err.Error()
			return nil, nil
		}
	}
	done.Outcome = ReplaySent
	return []replayEvent{p.event(done.Letter, rec, nil, bytes.Clone(value))}, nil
}

// check returns why a stage would refuse a message.
func (p *replay) check(value []byte) error {
	batches, err := p.reader.Read(value)
	if err != nil {
		return err
	}
	defer events.Release(batches)
	for _, batch := range batches {
		if err := p.checkSchema(batch); err != nil {
			return err
		}
	}
	return nil
}

func (p *replay) checkSchema(batch arrow.Record) error {
	if p.options.Encoder == nil || p.options.Unchecked {
		return nil
	}
	return p.options.Encoder.Check(batch.Schema())
}

// prepareRows makes events of rejected rows, except for those already replayed and, unless unchecked, those that would
// be rejected again.
func (p *replay) prepareRows(done *ReplayedLetter, rec pipeline.Record, value []byte) ([]replayEvent, error) {
	if p.options.Repaired != nil {
		if err := p.checkRepair(rec.Value, value); err != nil {
			done.Outcome, done.Detail = ReplayBadRepair, err.Error()
			return nil, nil
		}
	}
	batches, err := p.rows.Read(value)
	if err != nil {
		done.Outcome, done.Detail = ReplayRefusedAgain, err.Error()
		return nil, nil
	}
	defer events.Release(batches)
	var made []replayEvent
	for _, batch := range batches {
		if err := p.checkSchema(batch); err != nil {
			done.Outcome, done.Detail = ReplayRefusedAgain, err.Error()
			return nil, nil
		}
		more, err := p.batchEvents(done, rec, batch)
		if errors.Is(err, wire.ErrMalformed) {
			done.Outcome, done.Detail = ReplayRefusedAgain, err.Error()
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		made = append(made, more...)
	}
	switch {
	case len(made) > 0:
		done.Outcome = ReplaySent
	case done.Dropped > 0:
		done.Outcome = ReplayRefusedAgain
	default:
		done.Outcome = ReplayAlready
	}
	return made, nil
}

// batchEvents makes events of the rows of one batch.
func (p *replay) batchEvents(done *ReplayedLetter, rec pipeline.Record, batch arrow.Record) (made []replayEvent, err error) {
	numbers, err := wire.RejectedRowNumbers(batch)
	if err != nil {
		return nil, err
	}
	wanted, _ := p.ledger.missing(placeOfDeadLetter(done.Letter.DeadLetter), numbers)
	take := positions(numbers, wanted)
	if take, err = p.dropRejected(done, batch, take); err != nil {
		return nil, err
	}
	plain := events.WithoutColumns(batch, wire.ColumnRejectedRow, wire.ColumnRejectedReason)
	defer plain.Release()
	for some := range slices.Chunk(take, wire.MaxReplayRows) {
		rows, err := events.TakeRows(plain, some, nil)
		if err != nil {
			return nil, err
		}
		value, err := arrowio.EncodeStream(rows.Schema(), rows)
		rows.Release()
		if err != nil {
			return nil, err
		}
		named := make([]int32, len(some))
		for i, at := range some {
			named[i] = numbers[at]
		}
		made = append(made, p.event(done.Letter, rec, named, value))
		done.Rows += int64(len(some))
	}
	return made, nil
}

// positions returns the indexes of the wanted numbers among the numbers; both ascend.
func positions(numbers, wanted []int32) []int32 {
	at := make([]int32, 0, len(wanted))
	for i, n := range numbers {
		if _, ok := slices.BinarySearch(wanted, n); ok {
			at = append(at, int32(i))
		}
	}
	return at
}

// dropRejected leaves out the rows that the encoder of the set in use rejects.
func (p *replay) dropRejected(done *ReplayedLetter, batch arrow.Record, take []int32) ([]int32, error) {
	if p.options.Encoder == nil || p.options.Unchecked || len(take) == 0 {
		return take, nil
	}
	var kept []int32
	var rows encoder.Rows
	for some := range slices.Chunk(take, int(events.ChunkRows(p.options.Encoder.Dim))) {
		if err := p.options.Encoder.Encode(&rows, batch, some); err != nil {
			return nil, err
		}
		kept = append(kept, rows.Row[:rows.N]...)
		done.Dropped += int64(len(some) - rows.N)
	}
	if done.Dropped > 0 {
		done.Detail = fmt.Sprintf("%d rows would be rejected again", done.Dropped)
	}
	return kept, nil
}

// checkRepair checks that repaired rows belong to the dead letter: each has to be one of its rows, in their order.
func (p *replay) checkRepair(original, repaired []byte) error {
	of, err := p.rowNumbers(original)
	if err != nil {
		return fmt.Errorf("the dead letter itself: %w", err)
	}
	rows, err := p.rowNumbers(repaired)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if _, ok := slices.BinarySearch(of, row); !ok {
			return fmt.Errorf("row %d is not one of the dead letter's", row)
		}
		if i > 0 && rows[i-1] >= row {
			return fmt.Errorf("row %d stands behind row %d", row, rows[i-1])
		}
	}
	return nil
}

// rowNumbers lists the numbers of rejected rows in all batches of a dead letter.
func (p *replay) rowNumbers(value []byte) ([]int32, error) {
	batches, err := p.rows.Read(value)
	if err != nil {
		return nil, err
	}
	defer events.Release(batches)
	var all []int32
	for _, batch := range batches {
		rows, err := wire.RejectedRowNumbers(batch)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// event returns a new event with the key and the producer's headers of the refused one, and headers that name what it
// repeats.
func (p *replay) event(deadLetter Letter, rec pipeline.Record, rows []int32, value []byte) replayEvent {
	replay := wire.Replay{Topic: deadLetter.Topic, Partition: deadLetter.Partition, Offset: deadLetter.Offset, Rows: rows, DeadLetter: deadLetter.Place.Offset}
	rec = Clone(pipeline.Record{Key: rec.Key, Headers: slices.DeleteFunc(slices.Clone(rec.Headers), isOwnHeader)})
	return replayEvent{replay: replay, record: pipeline.Record{
		Key: rec.Key, Value: value, Headers: events.WithHeaders(rec.Headers, replay.Headers()), Time: p.Clock(),
	}}
}

func isOwnHeader(h pipeline.Header) bool { return wire.IsOwnHeader(h.Key) }
