package stages_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceParent = "00-" + traceID + "-00f067aa0ba902b7-01"
	notSampled  = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-00f067aa0ba902b7-00"
)

// A trace continues from an event through its features to the model. An unsampled one leaves no
// span.
func TestFlowATraceGoesFromEventToModel(t *testing.T) {
	f := newFlow(t, 1, func(s *stages.Settings) { s.Exploration.SampleRows = 200 })
	spans := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(spans), sdk.WithSampler(sdk.ParentBased(sdk.NeverSample())))
	f.send(0, rows(0, 900, nil), 30)
	traced := message(t, rows(900, 930, nil), 0, 30)
	traced.Headers = []pipeline.Header{{Key: "mine", Value: []byte("1")}, {Key: "traceparent", Value: []byte(traceParent)},
		{Key: "tracestate", Value: []byte("vendor=x")}}
	unwanted := message(t, rows(930, 960, nil), 0, 30)
	unwanted.Headers = []pipeline.Header{{Key: "traceparent", Value: []byte(notSampled)}}
	refused := pipeline.Record{Value: []byte("no Arrow"), Headers: traced.Headers}
	at := f.produce(f.settings.Topics.Events, 0, traced, unwanted, refused)

	w := f.start(append(allButTrain, meter.StageTrain), func(w *worker) { w.Env.Tracer = provider.Tracer("test") })
	f.featurizedUpTo(0, at+2)
	f.until("a model with the traced rows", func() bool { return w.Env.Meter.Totals().Train.Rows >= 960 })
	f.until("the dead letter", func() bool { return w.Env.Meter.Totals().Featurize.Undecodable == 1 })
	w.stop()

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
	if len(names) != 5 {
		t.Errorf("spans %v", slices.Collect(maps.Keys(names)))
	}
	mapped, trained := names["featurize "+f.settings.Topics.Events], names["train "+f.settings.Topics.Features]
	if mapped.Parent.SpanID().String() != "00f067aa0ba902b7" || trained.Parent.SpanID() != mapped.SpanContext.SpanID() {
		t.Errorf("featurize is a child of %s, train of %s", mapped.Parent.SpanID(), trained.Parent.SpanID())
	}
	if _, ok := names["featurize "+f.settings.Topics.Events+" unknown_format"]; !ok {
		t.Errorf("no span has the reason for a refused message: %v", slices.Collect(maps.Keys(names)))
	}
	for _, out := range f.features(0) {
		switch out.SourceOffset {
		case at:
			parent := stagestest.Header(t, out.Record, "traceparent")
			if want := "00-" + traceID + "-" + mapped.SpanContext.SpanID().String() + "-01"; parent != want {
				t.Errorf("traceparent %q, want %q", parent, want)
			}
			if stagestest.Header(t, out.Record, "tracestate") != "vendor=x" || stagestest.Header(t, out.Record, "mine") != "1" {
				t.Errorf("headers %v", out.Record.Headers)
			}
		case at + 1:
			parent := stagestest.Header(t, out.Record, "traceparent")
			if !strings.HasPrefix(parent, notSampled[:35]) || !strings.HasSuffix(parent, "-00") {
				t.Errorf("traceparent %q of a trace that is not wanted", parent)
			}
		}
	}
}
