package events

import (
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// WithHeaders returns the headers of a source, followed by our own.
func WithHeaders(source []pipeline.Header, own []wire.Header) []pipeline.Header {
	headers := append(make([]pipeline.Header, 0, len(source)+len(own)), source...)
	for _, h := range own {
		headers = append(headers, pipeline.Header{Key: h.Key, Value: h.Value})
	}
	return headers
}

// Headers converts the headers of a record for package wire.
func Headers(headers []pipeline.Header) []wire.Header {
	out := make([]wire.Header, len(headers))
	for i, h := range headers {
		out[i] = wire.Header{Key: h.Key, Value: h.Value}
	}
	return out
}
