package wire

import (
	"strings"
	"time"
)

// Header keys of the dead-letters topic, in the style of Kafka Connect's `__connect.errors.*`.
const (
	errorsPrefix = "__eerf.errors."

	HeaderErrorTopic     = errorsPrefix + "topic"
	HeaderErrorPartition = errorsPrefix + "partition"
	HeaderErrorOffset    = errorsPrefix + "offset"
	HeaderErrorRows      = errorsPrefix + "rows"
	HeaderErrorStage     = errorsPrefix + "stage"
	HeaderErrorReason    = errorsPrefix + "reason"
	HeaderErrorMessage   = errorsPrefix + "exception.message"
	HeaderErrorTime      = errorsPrefix + "time"
)

// maxDetailBytes bounds the error text in a dead letter's headers.
const maxDetailBytes = 1024

// DeadLetter holds why an input was refused and where it came from. The value of the message is the
// refused message's own bytes or, if Rows is not 0, the result of [EncodeRejectedRows].
type DeadLetter struct {
	Stage     string // that refused it, such as "subsample" or "featurize"
	Reason    string // one stable word, such as "truncated" or "nan_feature"
	Detail    string // the error, for people; cut at 1024 bytes
	Topic     string
	Partition int32
	Offset    int64
	Time      time.Time // when it was refused
	Rows      int32     // rejected rows of the message, which are the value; 0 = the whole message was refused
}

// Headers returns the message headers for d.
func (d DeadLetter) Headers() []Header {
	return []Header{
		textHeader(HeaderErrorTopic, d.Topic),
		numberHeader(HeaderErrorPartition, int64(d.Partition)),
		numberHeader(HeaderErrorOffset, d.Offset),
		numberHeader(HeaderErrorRows, int64(d.Rows)),
		textHeader(HeaderErrorStage, d.Stage),
		textHeader(HeaderErrorReason, d.Reason),
		textHeader(HeaderErrorMessage, cutText(d.Detail, maxDetailBytes)),
		textHeader(HeaderErrorTime, canonicalTime(d.Time).Format(time.RFC3339Nano)),
	}
}

// ParseDeadLetterHeaders reads the result of [DeadLetter.Headers]. Headers with other keys, such as
// the refused message's own, are skipped; of duplicate keys the last one counts. The error wraps
// [ErrHeaders].
func ParseDeadLetterHeaders(headers []Header) (DeadLetter, error) {
	r := readHeaders(headers)
	d := DeadLetter{
		Stage:     r.text(HeaderErrorStage),
		Reason:    r.text(HeaderErrorReason),
		Detail:    r.text(HeaderErrorMessage),
		Topic:     r.text(HeaderErrorTopic),
		Partition: int32(r.number(HeaderErrorPartition)),
		Offset:    r.number(HeaderErrorOffset),
		Rows:      int32(r.number(HeaderErrorRows)),
	}
	when, err := time.Parse(time.RFC3339Nano, r.text(HeaderErrorTime))
	if err != nil {
		r.fail("%s: %v", HeaderErrorTime, err)
	}
	d.Time = canonicalTime(when)
	if r.err != nil {
		return DeadLetter{}, r.err
	}
	return d, nil
}

// IsOwnHeader reports whether a header was added by a dead letter, not by the producer of the
// event.
func IsOwnHeader(key string) bool { return strings.HasPrefix(key, errorsPrefix) }

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
