package wire

import "time"

// Header keys of the dead-letters topic.
const (
	HeaderStage     = "eerf-stage"
	HeaderReason    = "eerf-reason"
	HeaderDetail    = "eerf-detail"
	HeaderTopic     = "eerf-topic"
	HeaderPartition = "eerf-partition"
	HeaderOffset    = "eerf-offset"
	HeaderTime      = "eerf-time"
	HeaderRows      = "eerf-rows"
)

// maxDetailBytes bounds the error text in a dead letter's headers.
const maxDetailBytes = 1024

// DeadLetter says why an input was refused and where it came from. The value of the message is the
// refused message's own bytes, or, when Rows is set, what [EncodeRejectedRows] made.
type DeadLetter struct {
	Stage     string // that refused it, such as "subsample" or "featurize"
	Reason    string // one stable word, such as "truncated" or "nan_feature"
	Detail    string // the error, for people; cut at 1024 bytes
	Topic     string
	Partition int32
	Offset    int64
	Time      time.Time // when it was refused
	Rows      bool      // the value holds rejected rows of the message, not the whole message
}

// Headers returns the message headers that carry d.
func (d DeadLetter) Headers() []Header {
	rows := "false"
	if d.Rows {
		rows = "true"
	}
	return []Header{
		textHeader(HeaderStage, d.Stage),
		textHeader(HeaderReason, d.Reason),
		textHeader(HeaderDetail, cutText(d.Detail, maxDetailBytes)),
		textHeader(HeaderTopic, d.Topic),
		numberHeader(HeaderPartition, int64(d.Partition)),
		numberHeader(HeaderOffset, d.Offset),
		textHeader(HeaderTime, canonicalTime(d.Time).Format(time.RFC3339Nano)),
		textHeader(HeaderRows, rows),
	}
}

// ParseDeadLetterHeaders reads what [DeadLetter.Headers] made. Headers of other keys, such as the
// refused message's own, are skipped; of a key that is there twice the last one counts. The error wraps
// [ErrHeaders].
func ParseDeadLetterHeaders(headers []Header) (DeadLetter, error) {
	r := readHeaders(headers)
	d := DeadLetter{
		Stage:     r.text(HeaderStage),
		Reason:    r.text(HeaderReason),
		Detail:    r.text(HeaderDetail),
		Topic:     r.text(HeaderTopic),
		Partition: int32(r.number(HeaderPartition, 32)),
		Offset:    r.number(HeaderOffset, 64),
		Rows:      r.text(HeaderRows) == "true",
	}
	if rows := r.text(HeaderRows); rows != "true" && rows != "false" {
		r.fail("%s: %.40q is neither true nor false", HeaderRows, rows)
	}
	when, err := time.Parse(time.RFC3339Nano, r.text(HeaderTime))
	if err != nil {
		r.fail("%s: %v", HeaderTime, err)
	}
	d.Time = canonicalTime(when)
	if r.err != nil {
		return DeadLetter{}, r.err
	}
	return d, nil
}

// cutText shortens s to at most n bytes of valid UTF-8.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}
