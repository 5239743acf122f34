package wire

import "fmt"

// Header keys of the features topic. They are on every message, so that a reader can place it without
// decoding it.
const (
	HeaderFeatureSet      = "eerf-feature-set"
	HeaderSourceTopic     = "eerf-source-topic"
	HeaderSourcePartition = "eerf-source-partition"
	HeaderSourceOffset    = "eerf-source-offset"
	HeaderFirstRow        = "eerf-first-row"
	HeaderRowCount        = "eerf-row-count"
	HeaderSourceRows      = "eerf-source-rows"
	// HeaderEventTime is the timestamp of the message of events; absent where that had none.
	HeaderEventTime = "eerf-event-time"
)

// FeatureBatch are the coordinates of one message of the features topic: it covers the rows FirstRow up
// to, not including, FirstRow+RowCount of the SourceRows rows of one message of events. Rows of that
// range that were rejected are absent from the body; they still count in RowCount.
type FeatureBatch struct {
	FeatureSetID    string
	SourceTopic     string
	SourcePartition int32
	SourceOffset    int64
	FirstRow        int32
	RowCount        int32
	SourceRows      int32
}

// Last reports whether the message finishes its source message.
func (b FeatureBatch) Last() bool { return b.FirstRow+b.RowCount == b.SourceRows }

// Headers returns the message headers that carry b.
func (b FeatureBatch) Headers() []Header {
	return []Header{
		textHeader(HeaderFeatureSet, b.FeatureSetID),
		textHeader(HeaderSourceTopic, b.SourceTopic),
		numberHeader(HeaderSourcePartition, int64(b.SourcePartition)),
		numberHeader(HeaderSourceOffset, b.SourceOffset),
		numberHeader(HeaderFirstRow, int64(b.FirstRow)),
		numberHeader(HeaderRowCount, int64(b.RowCount)),
		numberHeader(HeaderSourceRows, int64(b.SourceRows)),
	}
}

// ParseFeatureHeaders reads what [FeatureBatch.Headers] made. Headers of other keys are skipped; of a key
// that is there twice the last one counts. The error wraps [ErrHeaders].
func ParseFeatureHeaders(headers []Header) (FeatureBatch, error) {
	r := readHeaders(headers)
	b := FeatureBatch{
		FeatureSetID:    r.text(HeaderFeatureSet),
		SourceTopic:     r.text(HeaderSourceTopic),
		SourcePartition: int32(r.number(HeaderSourcePartition, 32)),
		SourceOffset:    r.number(HeaderSourceOffset, 64),
		FirstRow:        int32(r.number(HeaderFirstRow, 32)),
		RowCount:        int32(r.number(HeaderRowCount, 32)),
		SourceRows:      int32(r.number(HeaderSourceRows, 32)),
	}
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

// CheckRows reports row numbers, as [DecodeFeatures] returned them, outside the range that the headers
// name.
func (b FeatureBatch) CheckRows(rows []int32) error {
	if len(rows) == 0 {
		return nil
	}
	if first, last := rows[0], rows[len(rows)-1]; first < b.FirstRow || last >= b.FirstRow+b.RowCount {
		return fmt.Errorf("%w: rows %d to %d, but the headers say %d to %d",
			ErrMalformed, first, last, b.FirstRow, b.FirstRow+b.RowCount-1)
	}
	return nil
}
