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

	"github.com/eerf-stream/eerf/arrowio"
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
	ReasonAmplification   = "amplification"
	reasonBadHeaders      = "bad_headers" // of a features message
	reasonMalformed       = "malformed"   // features message that is Arrow, but not as documented
	ReasonUnusable        = "unusable"    // anything else: the detail says what
)

// ErrOutputTooLarge says that the output for a single message exceeds the broker's limit.
var ErrOutputTooLarge = errors.New("the output for this message is larger than the broker accepts")

// ErrAmplified says that a message would turn into far more bytes of features than it has. Rows of the null type take
// no bytes, and rows of a dictionary refer to long values by number: 600 bytes can claim a million rows, and 4 GB of
// features.
var ErrAmplified = errors.New("the features of this message would be far larger than the message")

// Reason returns the stable word for why a message was refused whole.
func Reason(err error) string {
	switch {
	case errors.Is(err, encoder.ErrSchema):
		return encoder.ReasonSchema
	case errors.Is(err, ErrOutputTooLarge):
		return ReasonOutputTooLarge
	case errors.Is(err, ErrAmplified):
		return ReasonAmplification
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

// Reasons lists the reasons of the dead letters that a stage sends. A stage that sends none has none.
func Reasons(stage string) []string {
	ofMessages := append(formats.Reasons(), ReasonUnusable)
	ofEvents := slices.Concat(ofMessages, []string{ReasonUnreadableBatch, encoder.ReasonSchema}, encoder.RejectionReasons())
	switch stage {
	case meter.StageSubsample:
		return ofEvents
	case meter.StageFeaturize:
		return append(ofEvents, ReasonOutputTooLarge, ReasonAmplification)
	case meter.StageTrain:
		return append(ofMessages, reasonBadHeaders, reasonMalformed)
	}
	return nil
}

// Refused returns the dead letter of a message that could not be used: its original bytes, key and headers.
func Refused(stage string, source pipeline.Record, cause error, now time.Time) pipeline.Record {
	deadLetter := wire.DeadLetter{
		Stage: stage, Reason: Reason(cause), Detail: cause.Error(), Topic: source.Topic,
		Partition: int32(source.Partition), Offset: source.Offset, Time: now,
	}
	headers := slices.Concat(meter.WithEventTime(&source), deadLetter.Headers())
	return pipeline.Record{Key: source.Key, Value: source.Value, Headers: headers, Time: now}
}

// RefusedBatch returns the dead letter of a batch that could not be read. It has the coordinates only.
func RefusedBatch(stage string, g pipeline.Gap, now time.Time) pipeline.Record {
	deadLetter := wire.DeadLetter{
		Stage: stage, Reason: ReasonUnreadableBatch, Detail: g.Err.Error(), Topic: g.Topic,
		Partition: int32(g.Partition), Offset: g.From, Time: now,
	}
	return pipeline.Record{Headers: slices.Concat(nil, deadLetter.Headers()), Time: now}
}

// RejectedRow is a row of a record batch that could not be used.
type RejectedRow struct {
	Row    int32 // number in the batch
	Reason string
}

// rejectedRowBytes is what a row takes in the lists below, in addition to its values.
const rejectedRowBytes = 72

// Rejected returns the dead letter of some rows of a record batch. rowBase is the number, within its message, of the
// batch's first row. The rows are left out, as of a letter that is too large for the broker, if the message has too
// little left of its budget: they are still in the source topic.
func Rejected(stage string, source pipeline.Record, batch arrow.Record, rowBase int32, rejected []RejectedRow,
	budget *arrowio.Budget, now time.Time) (pipeline.Record, error) {
	value, err := encodeRejected(batch, rowBase, rejected, budget)
	bare := errors.Is(err, arrowio.ErrBudget)
	if err != nil && !bare {
		return pipeline.Record{}, fmt.Errorf("dead letter for %d rows of %s/%d offset %d: %w",
			len(rejected), source.Topic, source.Partition, source.Offset, err)
	}
	deadLetter := wire.DeadLetter{
		Stage: stage, Reason: rejected[0].Reason, Detail: rejectedDetail(rejected),
		Topic: source.Topic, Partition: int32(source.Partition), Offset: source.Offset, Time: now, Rows: int32(len(rejected)),
	}
	headers := slices.Concat(meter.WithEventTime(&source), deadLetter.Headers())
	letter := pipeline.Record{Key: source.Key, Value: value, Headers: headers, Time: now}
	if bare {
		letter = bareDeadLetter(letter)
	}
	return letter, nil
}

// rejectedDetail says how many rows were rejected for each reason, in the order in which the reasons came up.
func rejectedDetail(rejected []RejectedRow) string {
	var order, parts []string
	counts := map[string]int{}
	for _, r := range rejected {
		if counts[r.Reason]++; counts[r.Reason] == 1 {
			order = append(order, r.Reason)
		}
	}
	for _, reason := range order {
		parts = append(parts, fmt.Sprintf("%d %s", counts[reason], reason))
	}
	return fmt.Sprintf("%d rows rejected: %s", len(rejected), strings.Join(parts, ", "))
}

// encodeRejected encodes rows with their numbers and reasons as a message, within a budget. Event columns with the names
// of these two, as a replayed dead letter has them, give way to the new ones.
func encodeRejected(batch arrow.Record, rowBase int32, rejected []RejectedRow, budget *arrowio.Budget) ([]byte, error) {
	if err := budget.Take(arrowio.Repeated(batch, 0) + rejectedRowBytes*int64(len(rejected))); err != nil {
		return nil, err
	}
	inBatch, inMessage, reasons := make([]int32, len(rejected)), make([]int32, len(rejected)), make([]string, len(rejected))
	for i, r := range rejected {
		inBatch[i], inMessage[i], reasons[i] = r.Row, rowBase+r.Row, r.Reason
	}
	if err := budget.Take(2 * arrowio.TakenBytes(batch, inBatch)); err != nil { // taken, then encoded
		return nil, err
	}
	batch = events.WithoutColumns(batch, wire.ColumnRejectedRow, wire.ColumnRejectedReason)
	defer batch.Release()
	rows, err := events.TakeRows(batch, inBatch, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	return wire.EncodeRejectedRows(rows, inMessage, reasons)
}

// Clone copies what a record points to. A dead letter that waits for a checkpoint would otherwise keep the whole fetch
// alive.
func Clone(r pipeline.Record) pipeline.Record {
	r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
	r.Headers = slices.Clone(r.Headers)
	for i := range r.Headers {
		r.Headers[i].Value = bytes.Clone(r.Headers[i].Value)
	}
	return r
}

// Memory that dead letters take until a stage sends them, in addition to the one being added.
const (
	PendingBytes = 4 << 20  // for each partition, at most
	leastPending = 64 << 10 // for each partition, at least
	allPending   = 16 << 20 // for all partitions of a stage
)

// Share returns how many bytes the dead letters of one partition may take, given how many partitions the stage has.
func Share(partitions int) int {
	return min(PendingBytes, max(leastPending, allPending/max(1, partitions)))
}

// Sender sends the dead letters of a stage.
type Sender struct {
	To     pipeline.Producer
	Topic  string
	Meter  *meter.Meter // counts what was sent
	Logger *zap.Logger
}

// Send sends dead letters of one source partition to the same partition of their topic, and waits for the
// acknowledgement until ctx ends.
func (s Sender) Send(ctx context.Context, partition int, deadLetters []pipeline.Record) error {
	if len(deadLetters) == 0 {
		return nil
	}
	err := s.produce(ctx, partition, deadLetters)
	if err != nil {
		return fmt.Errorf("send dead letters of partition %d: %w", partition, err)
	}
	for _, rec := range deadLetters {
		if deadLetter, err := wire.ParseDeadLetterHeaders(rec.Headers); err == nil {
			s.Meter.AddDeadLetter(meter.Cause{Stage: deadLetter.Stage, Reason: deadLetter.Reason})
		}
	}
	return nil
}

// produce writes the dead letters, and halves those that together exceed the broker's limit. If a single one is too
// large, by its value or by the source's key and headers, only our own headers are sent: the coordinates and the reason
// are never lost, and the original is still in the source topic.
func (s Sender) produce(ctx context.Context, partition int, deadLetters []pipeline.Record) error {
	err := s.try(ctx, partition, deadLetters)
	if !errors.Is(err, pipeline.ErrMessageTooLarge) {
		return err
	}
	if n := len(deadLetters); n > 1 {
		if err := s.produce(ctx, partition, deadLetters[:n/2]); err != nil {
			return err
		}
		return s.produce(ctx, partition, deadLetters[n/2:])
	}
	return s.try(ctx, partition, []pipeline.Record{bareDeadLetter(deadLetters[0])})
}

// try writes the dead letters in one request, and retries the same ones while the broker is away.
func (s Sender) try(ctx context.Context, partition int, deadLetters []pipeline.Record) error {
	return pipeline.Try(ctx, s.Logger, "send dead letters", func() error {
		_, err := s.To.Produce(ctx, s.Topic, partition, deadLetters)
		return err
	})
}

// bareDeadLetter returns a dead letter without what comes from its source. The source may be a dead letter itself, so
// the last headers are the ones that count.
func bareDeadLetter(deadLetter pipeline.Record) pipeline.Record {
	return pipeline.Record{Headers: deadLetter.Headers[max(0, len(deadLetter.Headers)-ownHeaders):], Time: deadLetter.Time}
}

// ownHeaders is how many headers a dead letter adds to those of its source.
var ownHeaders = len(wire.DeadLetter{}.Headers())

// isBare reports whether a dead letter has nothing from its source, because that was too large or because there was
// nothing.
func isBare(deadLetter pipeline.Record) bool {
	return len(deadLetter.Key) == 0 && len(deadLetter.Value) == 0 && len(deadLetter.Headers) <= ownHeaders
}
