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

// Reasons of dead letters in addition to the reasons of package formats and of rejected rows.
const (
	ReasonUnreadableBatch = "unreadable_batch"
	ReasonOutputTooLarge  = "output_too_large"
	ReasonAmplification   = "amplification"
	reasonBadHeaders      = "bad_headers" // of a features message
	reasonMalformed       = "malformed"   // a features message that is Arrow, but not as documented
	ReasonUnusable        = "unusable"    // any other fault, which the detail describes
)

// ErrOutputTooLarge reports that the output for a single message exceeds the broker's limit.
var ErrOutputTooLarge = errors.New("the output for this message is larger than the broker accepts")

// ErrAmplified reports that the features of a message would be far larger than the message. Rows of
// the null type take no bytes, and rows of a dictionary refer to long values by number: 600 bytes
// can claim a million rows, or 4 GB of features.
var ErrAmplified = errors.New("the features of this message would be far larger than the message")

// Reason returns the stable word for the refusal of a whole message.
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

// Reasons lists the possible reasons of a stage's dead letters. The list is empty for a stage that
// sends none.
func Reasons(stage meter.Stage) []string {
	ofMessages := append(formats.Reasons(), ReasonUnusable)
	ofEvents := slices.Concat(ofMessages, []string{ReasonUnreadableBatch, encoder.ReasonSchema},
		encoder.RejectionReasons())
	switch stage {
	case meter.StageCalibrate:
		return ofMessages
	case meter.StageSubsample:
		return ofEvents
	case meter.StageFeaturize:
		return append(ofEvents, ReasonOutputTooLarge, ReasonAmplification)
	case meter.StageTrain:
		return append(ofMessages, reasonBadHeaders, reasonMalformed)
	}
	return nil
}

// Draft is a dead letter that is not sent yet.
type Draft struct {
	pipeline.Record
	Cause meter.Cause // stage and reason, as in the headers
}

// draft adds the headers of a dead letter to the parts of its source that it passes on.
func draft(of pipeline.Record, d wire.DeadLetter) Draft {
	of.Headers = slices.Concat(of.Headers, d.Headers())
	of.Time = d.Time
	return Draft{Record: of, Cause: meter.Cause{Stage: meter.Stage(d.Stage), Reason: d.Reason}}
}

// Refused returns the dead letter of a message that could not be used, with the message's key,
// value and headers.
func Refused(stage meter.Stage, source pipeline.Record, cause error, now time.Time) Draft {
	of := pipeline.Record{Key: source.Key, Value: source.Value, Headers: meter.WithEventTime(&source)}
	return draft(of, wire.DeadLetter{
		Stage:     string(stage),
		Reason:    Reason(cause),
		Detail:    cause.Error(),
		Topic:     source.Topic,
		Partition: int32(source.Partition),
		Offset:    source.Offset,
		Time:      now,
	})
}

// RefusedBatch returns the dead letter of a batch that could not be read. It holds only the
// coordinates.
func RefusedBatch(stage meter.Stage, g pipeline.Gap, now time.Time) Draft {
	return draft(pipeline.Record{}, wire.DeadLetter{
		Stage:     string(stage),
		Reason:    ReasonUnreadableBatch,
		Detail:    g.Err.Error(),
		Topic:     g.Topic,
		Partition: int32(g.Partition),
		Offset:    g.From,
		Time:      now,
	})
}

// RejectedRow is a row of a record batch that could not be used.
type RejectedRow struct {
	Row    int32 // number in the batch
	Reason string
}

// rejectedRowBytes is the memory of a row in the lists of encodeRejected, in addition to its
// values.
const rejectedRowBytes = 72

// Rejected returns the dead letter of some rows of a record batch. rowBase is the number, within
// its message, of the batch's first row. If the remaining budget of the message is too small, the
// dead letter holds only the coordinates: the rows are still in the source topic.
func Rejected(
	stage meter.Stage,
	source pipeline.Record,
	batch arrow.Record,
	rowBase int32,
	rejected []RejectedRow,
	budget *arrowio.Budget,
	now time.Time,
) (Draft, error) {
	of := pipeline.Record{Key: source.Key, Headers: events.DerivedHeaders(&source)}
	value, err := encodeRejected(batch, rowBase, rejected, budget)
	switch {
	case errors.Is(err, arrowio.ErrBudget):
		of = pipeline.Record{}
	case err != nil:
		return Draft{}, fmt.Errorf("dead letter for %d rows of %s/%d offset %d: %w",
			len(rejected), source.Topic, source.Partition, source.Offset, err)
	default:
		of.Value = value
	}
	return draft(of, wire.DeadLetter{
		Stage:     string(stage),
		Reason:    rejected[0].Reason,
		Detail:    rejectedDetail(rejected),
		Topic:     source.Topic,
		Partition: int32(source.Partition),
		Offset:    source.Offset,
		Time:      now,
		Rows:      int32(len(rejected)),
	}), nil
}

// rejectedDetail counts the rejected rows by reason, in the order of the first row of each.
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

// encodeRejected encodes rows with their numbers and reasons as a message, within a budget. It
// replaces event columns with the names of these two, which a replayed dead letter may have.
func encodeRejected(
	batch arrow.Record,
	rowBase int32,
	rejected []RejectedRow,
	budget *arrowio.Budget,
) ([]byte, error) {
	if err := budget.Take(arrowio.Repeated(batch, 0) + rejectedRowBytes*int64(len(rejected))); err != nil {
		return nil, err
	}
	inBatch := make([]int32, len(rejected))
	inMessage := make([]int32, len(rejected))
	reasons := make([]string, len(rejected))
	for i, r := range rejected {
		inBatch[i] = r.Row
		inMessage[i] = rowBase + r.Row
		reasons[i] = r.Reason
	}
	if err := budget.Take(2 * arrowio.TakenBytes(batch, inBatch)); err != nil { // copied once, then encoded
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

// Clone copies all memory of a dead letter. While it waits for a checkpoint, it would otherwise
// keep the whole fetch alive.
func (d Draft) Clone() Draft {
	d.Record = clone(d.Record)
	return d
}

func clone(r pipeline.Record) pipeline.Record {
	r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
	r.Headers = slices.Clone(r.Headers)
	for i := range r.Headers {
		r.Headers[i].Value = bytes.Clone(r.Headers[i].Value)
	}
	return r
}

// Memory of unsent dead letters, in addition to the one being added.
const (
	PendingBytes = 4 << 20  // of a partition, at most
	leastPending = 64 << 10 // of a partition, at least
	allPending   = 16 << 20 // of all partitions of a stage
)

// Share returns the memory, in bytes, for unsent dead letters of one partition, given the stage's
// number of partitions.
func Share(partitions int) int {
	return min(PendingBytes, max(leastPending, allPending/max(1, partitions)))
}

// Sender sends the dead letters of a stage.
type Sender struct {
	To     pipeline.Producer
	Topic  string
	Meter  *meter.Meter // counts the sent dead letters
	Logger *zap.Logger
}

// Send sends dead letters of one source partition to the same partition of their topic, and waits
// for the acknowledgement until ctx ends.
func (s Sender) Send(ctx context.Context, partition int, drafts []Draft) error {
	if len(drafts) == 0 {
		return nil
	}
	records := make([]pipeline.Record, len(drafts))
	for i := range drafts {
		records[i] = drafts[i].Record
	}
	if err := s.produce(ctx, partition, records); err != nil {
		return fmt.Errorf("send dead letters of partition %d: %w", partition, err)
	}
	for i := range drafts {
		s.Meter.AddDeadLetter(drafts[i].Cause)
	}
	return nil
}

// produce writes dead letters, and splits a request in halves if it exceeds the broker's limit. If
// a single dead letter is too large, by its value or by the source's key and headers, only its own
// headers are sent: the coordinates and the reason are never lost, and the original is still in the
// source topic.
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
	return s.try(ctx, partition, []pipeline.Record{bare(deadLetters[0])})
}

// try writes dead letters in one request, and retries while the broker is unavailable.
func (s Sender) try(ctx context.Context, partition int, deadLetters []pipeline.Record) error {
	return pipeline.Try(ctx, s.Logger, "send dead letters", func() error {
		_, err := s.To.Produce(ctx, s.Topic, partition, deadLetters)
		return err
	})
}

// bare returns a dead letter without the parts of its source. Its own headers are the last ones.
func bare(deadLetter pipeline.Record) pipeline.Record {
	own := deadLetter.Headers[len(deadLetter.Headers)-ownHeaders:]
	return pipeline.Record{Headers: own, Time: deadLetter.Time}
}

// ownHeaders is the number of headers that a dead letter adds to the headers of its source.
var ownHeaders = len(wire.DeadLetter{}.Headers())

// isBare reports whether a dead letter has no part of its source, because the source was too large
// or empty.
func isBare(deadLetter pipeline.Record) bool {
	return len(deadLetter.Key) == 0 && len(deadLetter.Value) == 0 && len(deadLetter.Headers) <= ownHeaders
}
