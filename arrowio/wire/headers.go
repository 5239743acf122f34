package wire

import (
	"fmt"
	"math"
	"strconv"

	"github.com/eerf-stream/eerf/internal/outside"
)

// Header is one header of a Kafka message. The type has no name, so that it is identical with the
// header type of package pipeline, which this package does not import.
type Header = struct {
	Key   string
	Value []byte
}

// headerShapes has the bound of every header that is read.
var headerShapes = map[string]*outside.Shape{
	HeaderFeatureSet:      outside.TextOf(maxNameBytes),
	HeaderModel:           outside.TextOf(maxNameBytes),
	HeaderSourceTopic:     outside.TextOf(maxTopicBytes),
	HeaderSourcePartition: outside.WholeOf(math.MaxInt32 - 1),
	HeaderSourceOffset:    outside.WholeOf(outside.LastCount),
	HeaderFirstRow:        outside.WholeOf(math.MaxInt32 - 1),
	HeaderRowCount:        outside.WholeOf(math.MaxInt32 - 1),
	HeaderSourceRows:      outside.WholeOf(math.MaxInt32 - 1),
	HeaderSourceLog:       outside.TextOf(maxLogName),
	HeaderSourceBatch:     outside.TextOf(32), // two numbers
	HeaderEventTime:       outside.WholeOf(lastEventMillis),
	HeaderLive:            outside.TextOf(maxLiveHeader), // its members are those of a block's models

	headerSampleSpec:  outside.TextOf(maxNameBytes),
	headerSamplePart:  outside.WholeOf(math.MaxInt32 - 1),
	headerSampleFirst: outside.WholeOf(outside.LastCount),

	HeaderErrorTopic:     outside.TextOf(maxTopicBytes),
	HeaderErrorPartition: outside.WholeOf(math.MaxInt32 - 1),
	HeaderErrorOffset:    outside.WholeOf(outside.LastCount),
	HeaderErrorRows:      outside.WholeOf(math.MaxInt32 - 1),
	HeaderErrorStage:     outside.TextOf(outside.MaxWord),
	HeaderErrorReason:    outside.TextOf(outside.MaxWord),
	HeaderErrorMessage:   outside.TextOf(maxDetailBytes),
	HeaderErrorTime:      outside.TextOf(outside.MaxWord),
}

// maxTopicBytes bounds the name of a topic; Kafka's own bound is 249.
const maxTopicBytes = 255

// headerReader reads the values of one message's headers and keeps the first fault.
type headerReader struct {
	headers []Header
	err     error
}

// readHeaders reads headers by key, without an index: a message may have any number of them.
func readHeaders(headers []Header) *headerReader { return &headerReader{headers: headers} }

// find returns the value of a header, which must be within its bound. Of duplicate keys the last
// one counts: writers append their headers to the headers of the message that they pass on, which
// may itself be an output or a dead letter.
func (r *headerReader) find(key string) (string, bool) {
	for i := len(r.headers) - 1; i >= 0; i-- {
		if r.headers[i].Key == key {
			v := string(r.headers[i].Value)
			if err := headerShapes[key].CheckText(v); err != nil {
				r.fail("%s: %v", key, err)
			}
			return v, true
		}
	}
	return "", false
}

// fail keeps the first fault.
func (r *headerReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrHeaders, fmt.Sprintf(format, args...))
	}
}

// text returns the value of a required header.
func (r *headerReader) text(key string) string {
	v, ok := r.find(key)
	if !ok {
		r.fail("%s is missing", key)
	}
	return v
}

// number returns the value of a required header that holds a decimal number.
func (r *headerReader) number(key string) int64 {
	v := r.text(key)
	if r.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		r.fail("%s: %.40q is not a number", key, v)
	}
	return n
}

// textHeader makes a header of text.
func textHeader(key, value string) Header { return Header{Key: key, Value: []byte(value)} }

// numberHeader makes a header of decimal digits.
func numberHeader(key string, n int64) Header {
	return Header{Key: key, Value: strconv.AppendInt(nil, n, 10)}
}
