package stages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// Reasons of dead letters besides those of arrowio.Reason and of rejected rows.
const (
	reasonUnreadableBatch = "unreadable_batch"
	reasonOutputTooLarge  = "output_too_large"
	reasonBadHeaders      = "bad_headers" // of a features message
	reasonMalformed       = "malformed"   // features message that is Arrow, but not as documented
	reasonUnusable        = "unusable"    // for any other reason: the detail says which
)

// errOutputTooLarge says that the output for a single message is over the broker's limit.
var errOutputTooLarge = errors.New("the output for this message is larger than the broker accepts")

// refusalReason is the stable word for why a message was refused whole.
func refusalReason(err error) string {
	switch {
	case errors.Is(err, encoder.ErrSchema):
		return encoder.ReasonSchema
	case errors.Is(err, errOutputTooLarge):
		return reasonOutputTooLarge
	case errors.Is(err, wire.ErrHeaders):
		return reasonBadHeaders
	case errors.Is(err, wire.ErrMalformed):
		return reasonMalformed
	}
	if reason := arrowio.Reason(err); reason != "" {
		return reason
	}
	return reasonUnusable
}

// refusedMessage is the dead letter of a message that could not be used: its original bytes, key and headers.
func refusedMessage(stage string, source pipeline.Record, cause error, now time.Time) pipeline.Record {
	letter := wire.DeadLetter{
		Stage: stage, Reason: refusalReason(cause), Detail: cause.Error(), Topic: source.Topic,
		Partition: int32(source.Partition), Offset: source.Offset, Time: now,
	}
	headers := withHeaders(source.Headers, letter.Headers())
	return pipeline.Record{Key: source.Key, Value: source.Value, Headers: headers, Time: now}
}

// refusedBatch is the dead letter of a batch that could not be read: its coordinates alone.
func refusedBatch(stage string, g pipeline.Gap, now time.Time) pipeline.Record {
	letter := wire.DeadLetter{
		Stage: stage, Reason: reasonUnreadableBatch, Detail: g.Err.Error(), Topic: g.Topic,
		Partition: int32(g.Partition), Offset: g.From, Time: now,
	}
	return pipeline.Record{Headers: withHeaders(nil, letter.Headers()), Time: now}
}

// RejectedRow is a row of a record batch that could not be used.
type RejectedRow struct {
	Row    int32 // number in the batch
	Reason string
}

// rejectedRows is the dead letter of some rows of a record batch. rowBase is the number, in its message, of the
// batch's first row.
func rejectedRows(stage string, source pipeline.Record, batch arrow.Record, rowBase int32, rejected []RejectedRow,
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
	letter := wire.DeadLetter{
		Stage: stage, Reason: reasons[0], Detail: rejectedDetail(reasons),
		Topic: source.Topic, Partition: int32(source.Partition), Offset: source.Offset, Time: now, Rows: int32(len(rejected)),
	}
	headers := withHeaders(source.Headers, letter.Headers())
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
	batch = withoutColumns(batch, wire.ColumnRejectedRow, wire.ColumnRejectedReason)
	defer batch.Release()
	rows, err := TakeRows(batch, inBatch, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	return wire.EncodeRejectedRows(rows, inMessage, reasons)
}

// withoutColumns returns the record without the columns of some names. The caller releases it.
func withoutColumns(rec arrow.Record, names ...string) arrow.Record {
	var fields []arrow.Field
	var columns []arrow.Array
	for i, field := range rec.Schema().Fields() {
		if !slices.Contains(names, field.Name) {
			fields, columns = append(fields, field), append(columns, rec.Column(i))
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, rec.NumRows())
}

// cloneRecord copies what a record points to. A letter that waits for a checkpoint would otherwise keep all that was fetched
// with its message.
func cloneRecord(r pipeline.Record) pipeline.Record {
	r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
	r.Headers = slices.Clone(r.Headers)
	for i := range r.Headers {
		r.Headers[i].Value = bytes.Clone(r.Headers[i].Value)
	}
	return r
}

// withHeaders is the headers of a source with own ones behind them.
func withHeaders(source []pipeline.Header, own []wire.Header) []pipeline.Header {
	headers := append(make([]pipeline.Header, 0, len(source)+len(own)), source...)
	for _, h := range own {
		headers = append(headers, pipeline.Header{Key: h.Key, Value: h.Value})
	}
	return headers
}

func wireHeaders(headers []pipeline.Header) []wire.Header {
	out := make([]wire.Header, len(headers))
	for i, h := range headers {
		out[i] = wire.Header{Key: h.Key, Value: h.Value}
	}
	return out
}

// deadLetters sends dead letters of one source partition to the same partition of their topic.
type deadLetters struct {
	log   pipeline.Log
	topic string
}

// send waits for the acknowledgement. Of a letter that is larger than the broker accepts, by its value or by the key and
// headers of the source, only our own headers are sent: the coordinates and the reason are never lost, and the original
// is still in the source topic.
func (d deadLetters) send(ctx context.Context, partition int, letters []pipeline.Record) error {
	if len(letters) == 0 {
		return nil
	}
	_, err := d.log.Produce(ctx, d.topic, partition, letters)
	if !errors.Is(err, pipeline.ErrMessageTooLarge) {
		return err
	}
	for _, letter := range letters {
		_, err := d.log.Produce(ctx, d.topic, partition, []pipeline.Record{letter})
		if errors.Is(err, pipeline.ErrMessageTooLarge) {
			_, err = d.log.Produce(ctx, d.topic, partition, []pipeline.Record{bareLetter(letter)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bareLetter is a dead letter without what comes from its source. The source may be a dead letter itself: the last
// headers are the ones that count.
func bareLetter(letter pipeline.Record) pipeline.Record {
	return pipeline.Record{Headers: letter.Headers[max(0, len(letter.Headers)-ownHeaders):], Time: letter.Time}
}

// ownHeaders is how many headers a dead letter adds to those of its source.
var ownHeaders = len(wire.DeadLetter{}.Headers())

// isBare is whether a dead letter has nothing of its source, either because that was too much or because it had nothing.
func isBare(letter pipeline.Record) bool {
	return len(letter.Key) == 0 && len(letter.Value) == 0 && len(letter.Headers) <= ownHeaders
}
