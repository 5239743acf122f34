package wire

import (
	"fmt"
	"strconv"
)

// Header is one header of a Kafka message. The type has no name, so that it is identical with the
// header type of package pipeline, which this package does not import.
type Header = struct {
	Key   string
	Value []byte
}

// headerReader reads the values of one message's headers and keeps the first fault.
type headerReader struct {
	headers []Header
	err     error
}

// readHeaders reads headers by key, without an index: a message may have any number of them.
func readHeaders(headers []Header) *headerReader { return &headerReader{headers: headers} }

// find returns the value of a header. Of duplicate keys the last one counts: writers append their
// headers to the headers of the message that they pass on, which may itself be an output or a dead
// letter.
func (r *headerReader) find(key string) (string, bool) {
	for i := len(r.headers) - 1; i >= 0; i-- {
		if r.headers[i].Key == key {
			return string(r.headers[i].Value), true
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

// number returns the value of a header that must hold a decimal number of zero or more.
func (r *headerReader) number(key string, bits int) int64 {
	v := r.text(key)
	if r.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(v, 10, bits)
	if err != nil || n < 0 {
		r.fail("%s: %.40q is not a number of 0 or more in %d bits", key, v, bits)
		return 0
	}
	return n
}

// textHeader makes a header of text.
func textHeader(key, value string) Header { return Header{Key: key, Value: []byte(value)} }

// numberHeader makes a header of decimal digits.
func numberHeader(key string, n int64) Header {
	return Header{Key: key, Value: strconv.AppendInt(nil, n, 10)}
}
