package featurize

import (
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceParent = "00-" + traceID + "-00f067aa0ba902b7-01"
	notSampled  = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-00f067aa0ba902b7-00"
)

// A trace continues from an event to its features. An unsampled one leaves no span.
func TestATraceGoesFromEventToFeatures(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	spans := tracetest.NewInMemoryExporter()
	k.runner.Tracer = sdk.NewTracerProvider(sdk.WithSyncer(spans), sdk.WithSampler(sdk.ParentBased(sdk.NeverSample()))).Tracer("test")
	traced := event(t, 0, stagestest.Events(t, stagestest.Regression, 30, 41, stagestest.Faults{}))
	traced.Headers = []pipeline.Header{{Key: "mine", Value: []byte("1")}, {Key: "traceparent", Value: []byte(traceParent)},
		{Key: "tracestate", Value: []byte("vendor=x")}}
	unwanted := traced
	unwanted.Headers = []pipeline.Header{{Key: "traceparent", Value: []byte(notSampled)}}
	k.send(traced, unwanted, pipeline.Record{Value: []byte("no Arrow"), Headers: traced.Headers})
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	names := map[string]tracetest.SpanStub{}
	for _, span := range spans.GetSpans() {
		if id := span.SpanContext.TraceID().String(); id != traceID {
			t.Errorf("span %s of trace %s", span.Name, id)
		}
		name := span.Name
		if span.Status.Code == codes.Error {
			name += " " + span.Status.Description
		}
		names[name] = span
	}
	mapped := names["featurize events"]
	if _, refused := names["featurize events not_arrow"]; len(names) != 2 || !refused || mapped.Parent.SpanID().String() != "00f067aa0ba902b7" {
		t.Errorf("spans %v", names)
	}
	out := k.Records(k.runner.Topics.Features, 2)
	if len(out) != 2 {
		t.Fatalf("%d outputs", len(out))
	}
	if got, want := stagestest.Header(t, out[0], "traceparent"), "00-"+traceID+"-"+mapped.SpanContext.SpanID().String()+"-01"; got != want {
		t.Errorf("traceparent %q, want %q", got, want)
	}
	if stagestest.Header(t, out[0], "tracestate") != "vendor=x" || stagestest.Header(t, out[0], "mine") != "1" {
		t.Errorf("headers %v", out[0].Headers)
	}
	if got := stagestest.Header(t, out[1], "traceparent"); !strings.HasPrefix(got, notSampled[:35]) || !strings.HasSuffix(got, "-00") {
		t.Errorf("traceparent %q of a trace that is not wanted", got)
	}
}

// Without a tracer, trace headers pass through like any others.
func TestWithoutATracerHeadersPassUnchanged(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	traced := event(t, 0, stagestest.Events(t, stagestest.Regression, 30, 41, stagestest.Faults{}))
	traced.Headers = []pipeline.Header{{Key: "traceparent", Value: []byte(traceParent)}}
	k.send(traced)
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	if got := stagestest.Header(t, k.Records(k.runner.Topics.Features, 2)[0], "traceparent"); got != traceParent {
		t.Errorf("traceparent %q", got)
	}
}
