package deadletter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Reasons of dead letters besides those of arrowio.Reason and of rejected rows.
const (
	ReasonUnreadableBatch = "unreadable_batch"
	ReasonOutputTooLarge  = "output_too_large"
	reasonBadHeaders      = "bad_headers" // of a features message
	reasonMalformed       = "malformed"   // features message that is Arrow, but not as documented
	ReasonUnusable        = "unusable"    // for any other reason: the detail says which
)

// ErrOutputTooLarge says that the output for a single message is over the broker's limit.
var ErrOutputTooLarge = errors.New("the output for this message is larger than the broker accepts")

// Reason is the stable word for why a message was refused whole.
func Reason(err error) string {
	switch {
	case errors.Is(err, encoder.ErrSchema):
		return encoder.ReasonSchema
	case errors.Is(err, ErrOutputTooLarge):
		return ReasonOutputTooLarge
	case errors.Is(err, wire.ErrHeaders):
		return reasonBadHeaders
	case errors.Is(err, wire.ErrMalformed):
		return reasonMalformed
	}
	if reason := formats.Reason(err); reason != "" {
		return reason
	}
	return ReasonUnusable
}

// Reasons are those of the dead letters that a stage sends, none where it sends no dead letters.
func Reasons(stage string) []string {
	ofMessages := append(formats.Reasons(), ReasonUnusable)
	ofEvents := slices.Concat(ofMessages, []string{ReasonUnreadableBatch, encoder.ReasonSchema}, encoder.RejectionReasons())
	switch stage {
	case meter.StageSubsample:
		return ofEvents
	case meter.StageFeaturize:
		return append(ofEvents, ReasonOutputTooLarge)
	case meter.StageTrain:
		return append(ofMessages, reasonBadHeaders, reasonMalformed)
	}
	return nil
}

// Refused is the dead letter of a message that could not be used: its original bytes, key and headers.
func Refused(stage string, source pipeline.Record, cause error, now time.Time) pipeline.Record {
	deadLetter := wire.DeadLetter{
		Stage: stage, Reason: Reason(cause), Detail: cause.Error(), Topic: source.Topic,
		Partition: int32(source.Partition), Offset: source.Offset, Time: now,
	}
	headers := events.WithHeaders(source.Headers, deadLetter.Headers())
	return pipeline.Record{Key: source.Key, Value: source.Value, Headers: headers, Time: now}
}

// RefusedBatch is the dead letter of a batch that could not be read: its coordinates alone.
func RefusedBatch(stage string, g pipeline.Gap, now time.Time) pipeline.Record {
	deadLetter := wire.DeadLetter{
		Stage: stage, Reason: ReasonUnreadableBatch, Detail: g.Err.Error(), Topic: g.Topic,
		Partition: int32(g.Partition), Offset: g.From, Time: now,
	}
	return pipeline.Record{Headers: events.WithHeaders(nil, deadLetter.Headers()), Time: now}
}

// RejectedRow is a row of a record batch that could not be used.
type RejectedRow struct {
	Row    int32 // number in the batch
	Reason string
}

// Rejected is the dead letter of some rows of a record batch. rowBase is the number, in its message, of the
// batch's first row.
func Rejected(stage string, source pipeline.Record, batch arrow.Record, rowBase int32, rejected []RejectedRow,
	now time.Time) (pipeline.Record, error) {
	inBatch := make([]int32, len(rejected))
	inMessage := make([]int32, len(rejected))
	reasons := make([]string, len(rejected))
	for i, r := range rejected {
		inBatch[i], inMessage[i], reasons[i] = r.Row, rowBase+r.Row, r.Reason
	}
	value, err := encodeRejected(batch, inBatch, inMessage, reasons)
	if err != nil {
		return pipeline.Record{}, fmt.Errorf("dead letter for %d rows of %s/%d offset %d: %w",
			len(rejected), source.Topic, source.Partition, source.Offset, err)
	}
	deadLetter := wire.DeadLetter{
		Stage: stage, Reason: reasons[0], Detail: rejectedDetail(reasons),
		Topic: source.Topic, Partition: int32(source.Partition), Offset: source.Offset, Time: now, Rows: int32(len(rejected)),
	}
	headers := events.WithHeaders(source.Headers, deadLetter.Headers())
	return pipeline.Record{Key: source.Key, Value: value, Headers: headers, Time: now}, nil
}

// rejectedDetail says how many rows were rejected for each reason, in the order in which these came.
func rejectedDetail(reasons []string) string {
	var order, parts []string
	counts := map[string]int{}
	for _, reason := range reasons {
		if counts[reason]++; counts[reason] == 1 {
			order = append(order, reason)
		}
	}
	for _, reason := range order {
		parts = append(parts, fmt.Sprintf("%d %s", counts[reason], reason))
	}
	return fmt.Sprintf("%d rows rejected: %s", len(reasons), strings.Join(parts, ", "))
}

// encodeRejected puts rows with their numbers and reasons into a message. Columns of the events that have the names of
// these two, as those of a replayed dead letter do, give way to the new ones.
func encodeRejected(batch arrow.Record, inBatch, inMessage []int32, reasons []string) ([]byte, error) {
	batch = events.WithoutColumns(batch, wire.ColumnRejectedRow, wire.ColumnRejectedReason)
	defer batch.Release()
	rows, err := events.TakeRows(batch, inBatch, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	return wire.EncodeRejectedRows(rows, inMessage, reasons)
}

// Clone copies what a record points to. A dead letter that waits for a checkpoint would otherwise keep all that was fetched
// with its message.
func Clone(r pipeline.Record) pipeline.Record {
	r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
	r.Headers = slices.Clone(r.Headers)
	for i := range r.Headers {
		r.Headers[i].Value = bytes.Clone(r.Headers[i].Value)
	}
	return r
}

// PendingBytes is how many bytes of dead letters a stage keeps until it sends them, besides those of one fetch.
const PendingBytes = 4 << 20

// Sender sends the dead letters of a stage.
type Sender struct {
	Log    pipeline.Log
	Topic  string
	Meter  *meter.Meter // counts what was sent
	Logger *zap.Logger
}

// Send sends dead letters of one source partition to the same partition of their topic and waits for the acknowledgement,
// until ctx ends.
func (s Sender) Send(ctx context.Context, partition int, deadLetters []pipeline.Record) error {
	if len(deadLetters) == 0 {
		return nil
	}
	err := pipeline.Try(ctx, s.Logger, "send dead letters", func() error { return s.produce(ctx, partition, deadLetters) })
	if err != nil {
		return fmt.Errorf("send dead letters of partition %d: %w", partition, err)
	}
	for _, rec := range deadLetters {
		if deadLetter, err := wire.ParseDeadLetterHeaders(events.Headers(rec.Headers)); err == nil {
			s.Meter.AddDeadLetter(meter.Cause{Stage: deadLetter.Stage, Reason: deadLetter.Reason})
		}
	}
	return nil
}

// produce writes the dead letters. Of one that is larger than the broker accepts, by its value or by the key and
// headers of the source, only our own headers are sent: the coordinates and the reason are never lost, and the original
// is still in the source topic.
func (s Sender) produce(ctx context.Context, partition int, deadLetters []pipeline.Record) error {
	_, err := s.Log.Produce(ctx, s.Topic, partition, deadLetters)
	if !errors.Is(err, pipeline.ErrMessageTooLarge) {
		return err
	}
	for _, deadLetter := range deadLetters {
		_, err := s.Log.Produce(ctx, s.Topic, partition, []pipeline.Record{deadLetter})
		if errors.Is(err, pipeline.ErrMessageTooLarge) {
			_, err = s.Log.Produce(ctx, s.Topic, partition, []pipeline.Record{bareDeadLetter(deadLetter)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bareDeadLetter is a dead letter without what comes from its source. The source may be a dead letter itself: the last
// headers are the ones that count.
func bareDeadLetter(deadLetter pipeline.Record) pipeline.Record {
	return pipeline.Record{Headers: deadLetter.Headers[max(0, len(deadLetter.Headers)-ownHeaders):], Time: deadLetter.Time}
}

// ownHeaders is how many headers a dead letter adds to those of its source.
var ownHeaders = len(wire.DeadLetter{}.Headers())

// isBare is whether a dead letter has nothing of its source, either because that was too much or because it had nothing.
func isBare(deadLetter pipeline.Record) bool {
	return len(deadLetter.Key) == 0 && len(deadLetter.Value) == 0 && len(deadLetter.Headers) <= ownHeaders
}
