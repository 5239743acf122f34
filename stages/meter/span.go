package meter

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/eerf-stream/eerf/pipeline"
)

// Headers of the W3C Trace Context, which carry a trace with a record.
const (
	headerTraceParent = "traceparent"
	headerTraceState  = "tracestate"
)

// traceContext reads and writes these headers.
var traceContext propagation.TraceContext

// recordHeaders lets the headers of a record carry a trace.
type recordHeaders []pipeline.Header

// Get returns the value of the last header with the key, because writers append their headers to
// the ones they pass on.
func (h *recordHeaders) Get(key string) string {
	for i := len(*h) - 1; i >= 0; i-- {
		if (*h)[i].Key == key {
			return string((*h)[i].Value)
		}
	}
	return ""
}

func (h *recordHeaders) Set(key, value string) {
	*h = append(*h, pipeline.Header{Key: key, Value: []byte(value)})
}

func (h *recordHeaders) Keys() []string {
	keys := make([]string, len(*h))
	for i := range *h {
		keys[i] = (*h)[i].Key
	}
	return keys
}

// StartSpan starts the span of a message in a stage, in the trace that the message names or in a
// new one. Without a tracer it returns a span that does nothing.
func StartSpan(tracer trace.Tracer, group string, stage Stage, rec pipeline.Record) trace.Span {
	if tracer == nil {
		return noSpan
	}
	headers := recordHeaders(rec.Headers)
	ctx := traceContext.Extract(context.Background(), &headers)
	_, span := tracer.Start(
		ctx,
		string(stage)+" "+rec.Topic,
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			attribute.String("messaging.system", "kafka"),
			attribute.String("messaging.operation.type", "process"),
			attribute.String("messaging.consumer.group.name", group),
			attribute.String("messaging.destination.name", rec.Topic),
			attribute.Int("messaging.destination.partition.id", rec.Partition),
			attribute.Int64("messaging.kafka.offset", rec.Offset),
			attribute.Int("messaging.message.body.size", len(rec.Value)),
		),
	)
	return span
}

var noSpan = trace.SpanFromContext(context.Background())

// FailSpan records in a span the stable reason code of an unusable message.
func FailSpan(span trace.Span, reason string, err error) {
	span.RecordError(err)
	span.SetStatus(codes.Error, reason)
}

// WithSpan returns the headers with the trace headers replaced by the span's, so that records
// derived from a message continue its trace. Without a trace the headers stay unchanged.
func WithSpan(headers []pipeline.Header, span trace.Span) []pipeline.Header {
	if !span.SpanContext().IsValid() {
		return headers
	}
	own := make(recordHeaders, 0, len(headers)+2)
	for _, h := range headers {
		if h.Key != headerTraceParent && h.Key != headerTraceState {
			own = append(own, h)
		}
	}
	traceContext.Inject(trace.ContextWithSpan(context.Background(), span), &own)
	return own
}
