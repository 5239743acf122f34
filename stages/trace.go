package stages

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// Headers of the W3C Trace Context, in which a trace travels with a record.
const (
	headerTraceParent = "traceparent"
	headerTraceState  = "tracestate"
)

// traceContext reads and writes those headers.
var traceContext propagation.TraceContext

// recordHeaders are the headers of a record as what carries a trace.
type recordHeaders []pipeline.Header

// Get returns the value of the last header with the key: writers put theirs behind those that they pass on.
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

// startSpan starts the span of a message in the hands of a stage, in the trace that the message names, or in one of its
// own. Without a tracer it returns a span that does nothing.
func (r *Runtime) startSpan(stage string, rec pipeline.Record) trace.Span {
	if r.Tracer == nil {
		return noSpan
	}
	headers := recordHeaders(rec.Headers)
	ctx := traceContext.Extract(context.Background(), &headers)
	_, span := r.Tracer.Start(ctx, stage+" "+rec.Topic, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
		attribute.String("messaging.system", "kafka"),
		attribute.String("messaging.operation.type", "process"),
		attribute.String("messaging.consumer.group.name", r.group(stage)),
		attribute.String("messaging.destination.name", rec.Topic),
		attribute.Int("messaging.destination.partition.id", rec.Partition),
		attribute.Int64("messaging.kafka.offset", rec.Offset),
		attribute.Int("messaging.message.body.size", len(rec.Value)),
	))
	return span
}

var noSpan = trace.SpanFromContext(context.Background())

// failSpan notes in a span why its message could not be used.
func failSpan(span trace.Span, err error) {
	span.RecordError(err)
	span.SetStatus(codes.Error, refusalReason(err))
}

// describePart notes in a span what became of some rows of its message, or why it was refused.
func describePart(span trace.Span, featureSet string, part Featurized) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("eerf.feature_set", featureSet))
	if part.Counts.Undecodable == 0 {
		return
	}
	if letter, err := wire.ParseDeadLetterHeaders(wireHeaders(part.Letter.Headers)); err == nil {
		span.SetStatus(codes.Error, letter.Reason)
	}
}

// withSpan returns the headers with those of the span's trace in place of any others; what is made from a message carries
// on its trace. Without a trace they stay as they are.
func withSpan(headers []pipeline.Header, span trace.Span) []pipeline.Header {
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
