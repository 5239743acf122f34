package featurize

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/bench"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// BenchmarkStage measures from topic to feature topic, compared with a pass-through that reads the same messages and
// writes, for each, prepared messages of the same sizes through the same runner. The two alternate; ratio is the median of
// pass-through time over featurizing time.
func BenchmarkStage(b *testing.B) {
	for _, shape := range stagestest.WideShapes {
		b.Run(shape, func(b *testing.B) {
			k := bench.New(b, shape, 96)
			prepared := prepare(b, New(k.PublishSet(), testLimits, Default().MaxOutputBytes), k)
			k.Follow()
			records := k.Messages * int64(len(prepared))
			roundFeaturize(k, k.Topics.Events, records) // warms up
			roundPass(k, prepared)
			var took, passed []time.Duration
			var bytes int64
			for b.Loop() {
				t, n := roundFeaturize(k, k.Topics.Events, records)
				took, bytes = append(took, t), n
				passed = append(passed, roundPass(k, prepared))
			}
			k.Report(took, passed, bytes, "pass")
		})
	}
}

// BenchmarkFeaturizer measures the core alone: from the bytes of a message to those of its outputs.
func BenchmarkFeaturizer(b *testing.B) {
	for _, shape := range stagestest.WideShapes {
		b.Run(shape, func(b *testing.B) {
			rows := stagestest.WideEvents(b, shape, bench.Rows)
			e, c := explored.Wide(shape, bench.Features)
			core := New(explored.FeatureSet(b, e, c, rows), testLimits, Default().MaxOutputBytes)
			source := pipeline.Record{Key: []byte("key"), Value: append([]byte("odd"), stagestest.Message(b, rows)...)[3:]}
			b.ReportAllocs()
			for b.Loop() {
				mapAndRecycle(b, core, source)
			}
			b.ReportMetric(bench.Rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// mapAndRecycle maps a message and recycles its outputs.
func mapAndRecycle(b *testing.B, core *Featurizer, source pipeline.Record) {
	err := core.Process(source, 0, stagestest.Noon, func(part Part) error {
		if part.Output != nil {
			core.Recycle(part.Output.Value)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// prepare returns what a core makes of one of the messages.
func prepare(b *testing.B, core *Featurizer, k *bench.Kit) []pipeline.Record {
	return process(b, core, pipeline.Record{Key: []byte("key"), Value: stagestest.Message(b, k.Rows)}, 0).Outputs
}

func roundFeaturize(k *bench.Kit, topic string, records int64) (took time.Duration, bytes int64) {
	output, drop := k.FreshTopic(map[string]string{})
	defer drop()
	s := k.Stopwatch(output, records)
	s.Events = topic
	r := &Runner{
		Broker: s, State: k.Follower, Meter: meter.New(), Logger: zap.NewNop(), Clock: time.Now, Group: "featurize",
		Topics: k.Topics, Config: Default(), Source: events.Source{Limits: events.DefaultLimits().Decoder()}, DrainTimeout: time.Second,
	}
	r.Topics.Events, r.Topics.Features = topic, output
	took = k.Run(s, r.Run)
	return took, s.Bytes()
}

func roundPass(k *bench.Kit, prepared []pipeline.Record) time.Duration {
	output, drop := k.FreshTopic(map[string]string{})
	defer drop()
	s := k.Stopwatch(output, k.Messages*int64(len(prepared)))
	return k.Run(s, func(ctx context.Context) error {
		return pipeline.RunPartition(ctx, s, zap.NewNop(), s.Events, 0, time.Second, &passThrough{log: s, topic: output, prepared: prepared})
	})
}

// passThrough is a processor that writes the prepared records for each record that it reads, one per request, as the
// featurizer does with the largest parts.
type passThrough struct {
	log      pipeline.Producer
	topic    string
	prepared []pipeline.Record
	next     int64
}

func (p *passThrough) NextOffset() int64 { return p.next }

func (p *passThrough) Process(ctx context.Context, f pipeline.Fetched) error {
	for range f.Records {
		for i := range p.prepared {
			if _, err := p.log.Produce(ctx, p.topic, 0, p.prepared[i:i+1]); err != nil {
				return err
			}
		}
	}
	p.next = f.NextOffset
	return nil
}

func (p *passThrough) Gap(_ context.Context, g pipeline.Gap) error { return g.Err }
func (p *passThrough) Close(context.Context) error                 { return nil }
