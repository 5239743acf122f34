package telemetry

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/internal/printable"
)

// scope names the source of the spans.
const scope = "github.com/eerf-stream/eerf/stages"

// TraceOptions configure the destination of traces.
type TraceOptions struct {
	// Endpoint is the URL at which an OpenTelemetry collector accepts OTLP over HTTP, such as
	// http://localhost:4318/v1/traces.
	Endpoint string
	// SampleRatio is the kept share of the traces started here. A trace carried by an event was
	// sampled at its origin.
	SampleRatio float64

	Service  string // name of the program
	Pipeline string
	Version  string
}

// StartTracing returns a provider of tracers that sends spans to a collector. It does not wait for
// the collector: spans that cannot be sent are logged and lost. Shutting down the provider sends
// the remaining spans.
func StartTracing(ctx context.Context, o TraceOptions, logger *zap.Logger) (*trace.TracerProvider, error) {
	silence(otel.SetLogger)
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(o.Endpoint))
	if err != nil {
		return nil, fmt.Errorf("traces to %s: %w", printable.URLs(o.Endpoint), err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { // the library has one handler per process
		logger.Warn("traces not sent", zap.Error(err))
	}))
	return newTracing(trace.NewBatchSpanProcessor(exporter), o), nil
}

// silence turns off the library's own log, which shows variables that the library cannot read, and
// headers hold secrets. A zero logger logs nothing.
func silence[Logger any](set func(Logger)) {
	var none Logger
	set(none)
}

// Tracer starts the spans of the stages.
func Tracer(provider *trace.TracerProvider) oteltrace.Tracer { return provider.Tracer(scope) }

// newTracing returns a provider whose spans go through a processor.
func newTracing(processor trace.SpanProcessor, o TraceOptions) *trace.TracerProvider {
	return trace.NewTracerProvider(
		trace.WithSpanProcessor(processor),
		trace.WithSampler(trace.ParentBased(trace.TraceIDRatioBased(o.SampleRatio))),
		trace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", o.Service),
			attribute.String("service.namespace", o.Pipeline),
			attribute.String("service.version", o.Version),
		)),
	)
}
