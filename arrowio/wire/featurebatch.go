package wire

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/eerf-stream/eerf/internal/outside"
)

// ReservedPrefix begins the header keys that only this project writes. Headers of events with it
// are neither believed nor passed on.
const ReservedPrefix = "eerf-"

// Header keys of the features topic. Every message has them, so that a reader can place it without
// decoding it.
const (
	HeaderFeatureSet      = "eerf-feature-set"
	HeaderSourceTopic     = "eerf-source-topic"
	HeaderSourcePartition = "eerf-source-partition"
	HeaderSourceOffset    = "eerf-source-offset"
	HeaderFirstRow        = "eerf-first-row"
	HeaderRowCount        = "eerf-row-count"
	HeaderSourceRows      = "eerf-source-rows"
	// HeaderSourceLog names the log of events that the message belongs to: offsets of different
	// logs are unrelated. It is absent if the broker has no identities.
	HeaderSourceLog = "eerf-source-log"
	// HeaderSourceBatch is the base offset and, after a colon, the CRC-32C of the Kafka batch with
	// the message of events.
	HeaderSourceBatch = "eerf-source-batch"
	// HeaderReplayedRows marks an event whose value is an Arrow stream of replayed rows, whatever
	// the format of the other events.
	HeaderReplayedRows = "eerf-replayed-rows"
	// HeaderEventTime is the timestamp of the message of events; absent if it had none.
	HeaderEventTime = "eerf-event-time"
)

// FeatureBatch are the coordinates of one message of the features topic: it covers the rows
// FirstRow up to, not including, FirstRow+RowCount of the SourceRows rows of one message of events.
// Rejected rows of that range are not in the body but still count in RowCount.
type FeatureBatch struct {
	FeatureSetID    string
	SourceTopic     string
	SourcePartition int32
	SourceOffset    int64
	FirstRow        int32
	RowCount        int32
	SourceRows      int32
	SourceLog       string    // empty if unknown
	SourceBatch     BatchMark // zero if unknown
}

// Last reports whether the message finishes its source message.
func (b FeatureBatch) Last() bool { return b.FirstRow+b.RowCount == b.SourceRows }

// Headers returns the message headers for b.
func (b FeatureBatch) Headers() []Header {
	headers := []Header{
		textHeader(HeaderFeatureSet, b.FeatureSetID),
		textHeader(HeaderSourceTopic, b.SourceTopic),
		numberHeader(HeaderSourcePartition, int64(b.SourcePartition)),
		numberHeader(HeaderSourceOffset, b.SourceOffset),
		numberHeader(HeaderFirstRow, int64(b.FirstRow)),
		numberHeader(HeaderRowCount, int64(b.RowCount)),
		numberHeader(HeaderSourceRows, int64(b.SourceRows)),
	}
	if b.SourceLog != "" {
		headers = append(headers, textHeader(HeaderSourceLog, b.SourceLog))
	}
	if b.SourceBatch != (BatchMark{}) {
		value := append(strconv.AppendInt(nil, b.SourceBatch.Offset, 10), ':')
		headers = append(
			headers,
			Header{Key: HeaderSourceBatch, Value: strconv.AppendUint(value, uint64(b.SourceBatch.Checksum), 10)},
		)
	}
	return headers
}

// maxLogName bounds the name of a log in a header.
const maxLogName = 128

// sourceLog reads the optional headers.
func (b *FeatureBatch) sourceLog(r *headerReader) {
	log, _ := r.find(HeaderSourceLog)
	if b.SourceLog = log; !utf8.ValidString(log) {
		r.fail("%s is not UTF-8", HeaderSourceLog)
	}
	text, ok := r.find(HeaderSourceBatch)
	if !ok {
		return
	}
	offset, sum, _ := strings.Cut(text, ":")
	base, err := strconv.ParseInt(offset, 10, 64)
	checksum, err2 := strconv.ParseUint(sum, 10, 32)
	if err != nil || err2 != nil || base < 0 || base > outside.LastCount {
		r.fail("%s: %.40q is not an offset and a checksum", HeaderSourceBatch, text)
		return
	}
	b.SourceBatch = BatchMark{Offset: base, Checksum: uint32(checksum)}
}

// ParseFeatureHeaders reads the result of [FeatureBatch.Headers]. Headers with other keys are
// skipped; of duplicate keys the last one counts. The error wraps [ErrHeaders].
func ParseFeatureHeaders(headers []Header) (FeatureBatch, error) {
	r := readHeaders(headers)
	b := FeatureBatch{
		FeatureSetID:    r.text(HeaderFeatureSet),
		SourceTopic:     r.text(HeaderSourceTopic),
		SourcePartition: int32(r.number(HeaderSourcePartition)),
		SourceOffset:    r.number(HeaderSourceOffset),
		FirstRow:        int32(r.number(HeaderFirstRow)),
		RowCount:        int32(r.number(HeaderRowCount)),
		SourceRows:      int32(r.number(HeaderSourceRows)),
	}
	b.sourceLog(r)
	if int64(b.FirstRow)+int64(b.RowCount) > int64(b.SourceRows) {
		r.fail("rows %d to %d are beyond the %d of the source message",
			b.FirstRow, int64(b.FirstRow)+int64(b.RowCount), b.SourceRows)
	}
	if err := checkName(HeaderFeatureSet, b.FeatureSetID); err != nil {
		r.fail("%v", err)
	}
	if r.err != nil {
		return FeatureBatch{}, r.err
	}
	return b, nil
}

// CheckRows returns an error if row numbers from [DecodeFeatures] are outside the range that the
// headers name.
func (b FeatureBatch) CheckRows(rows []int32) error {
	if len(rows) == 0 {
		return nil
	}
	if first, last := rows[0], rows[len(rows)-1]; first < b.FirstRow || last >= b.FirstRow+b.RowCount {
		return fmt.Errorf("%w: rows %d to %d, but the headers name %d to %d",
			ErrMalformed, first, last, b.FirstRow, b.FirstRow+b.RowCount-1)
	}
	return nil
}
