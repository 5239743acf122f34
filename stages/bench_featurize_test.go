package stages

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// BenchmarkFeaturizeStage measures from topic to feature topic beside a pass-through, which reads the same messages and
// writes, for each, prepared messages of the same sizes through the same runner. Rounds of the two alternate; ratio is the
// median of pass-through time over featurizing time.
func BenchmarkFeaturizeStage(b *testing.B) {
	for _, shape := range benchShapes {
		b.Run(shape, func(b *testing.B) {
			k := newBrokerBench(b, shape, 96)
			set := k.publishSet()
			k.follow()
			core := NewFeaturizer(set, k.settings.Limits.decoder(), k.settings.Featurize.MaxOutputBytes)
			prepared := k.featurized(core)
			k.roundFeaturize(len(prepared)) // warms up
			k.roundPass(prepared)
			var took, passed []time.Duration
			var bytes int64
			for b.Loop() {
				t, n := k.roundFeaturize(len(prepared))
				took, bytes = append(took, t), n
				passed = append(passed, k.roundPass(prepared))
			}
			k.report(took, passed, bytes, "pass")
		})
	}
}

// BenchmarkFeaturizer measures the core alone: from the bytes of a message to those of its outputs.
func BenchmarkFeaturizer(b *testing.B) {
	for _, shape := range benchShapes {
		b.Run(shape, func(b *testing.B) {
			s, rows := benchSettings(shape), benchEvents(b, shape, benchRows)
			core := NewFeaturizer(explore(b, s, []arrow.Record{rows}).Set, s.Limits.decoder(), s.Featurize.MaxOutputBytes)
			source := pipeline.Record{Key: []byte("key"), Value: append([]byte("odd"), message(b, rows)...)[3:]}
			b.ReportAllocs()
			for b.Loop() {
				err := core.Process(source, 0, noon, func(part Featurized) error {
					if part.Output != nil {
						core.Recycle(part.Output.Value)
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// featurized is what a core makes of one of the messages.
func (k *brokerBench) featurized(core *Featurizer) (outputs []pipeline.Record) {
	source := pipeline.Record{Key: []byte("key"), Value: message(k, k.rows)}
	err := core.Process(source, 0, time.Now(), func(part Featurized) error {
		if part.Output != nil {
			outputs = append(outputs, *part.Output)
		}
		return nil
	})
	if err != nil {
		k.Fatal(err)
	}
	return outputs
}

func (k *brokerBench) roundFeaturize(parts int) (took time.Duration, bytes int64) {
	output, drop := k.freshTopic(map[string]string{})
	defer drop()
	settings := k.settings
	settings.Topics.Features = output
	s := k.stopwatch(output, k.messages*int64(parts))
	took = k.run(s, NewFeaturizeRunner(k.runtime(s, settings)).Run)
	return took, s.bytes
}

func (k *brokerBench) roundPass(prepared []pipeline.Record) time.Duration {
	output, drop := k.freshTopic(map[string]string{})
	defer drop()
	s := k.stopwatch(output, k.messages*int64(len(prepared)))
	return k.run(s, func(ctx context.Context) error {
		return pipeline.RunPartition(ctx, s, zap.NewNop(), s.events, 0, time.Second, &passThrough{log: s, topic: output, prepared: prepared})
	})
}

// passThrough is a processor that writes the prepared records for each that it reads, in requests of one: as the
// featurizer does with parts as large as a message may be.
type passThrough struct {
	log      pipeline.Log
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

// BenchmarkSubsampleStage measures from topic to the closing checkpoint, beside reading the same messages alone.
func BenchmarkSubsampleStage(b *testing.B) {
	for _, shape := range benchShapes {
		for _, candidates := range []int{2000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", shape, candidates), func(b *testing.B) {
				k := newBrokerBench(b, shape, 16)
				k.publishSpec(candidates)
				k.follow()
				var took, read []time.Duration
				for b.Loop() {
					took = append(took, k.roundSubsample())
					read = append(read, k.roundRead())
				}
				k.report(took, read, 0, "read")
			})
		}
	}
}

// publishSpec starts an exploration that scores every row that there is.
func (k *brokerBench) publishSpec(candidates int) {
	k.settings.Exploration.Candidates = candidates
	spec := plan(k, k.settings, k.rows, wire.Partition{EndOffset: k.messages})
	value, err := wire.EncodeSpec(spec)
	if err != nil {
		k.Fatal(err)
	}
	k.produce(k.settings.Topics.Explorations, pipeline.Record{Key: wire.SpecKey(k.settings.Pipeline.Name), Value: value})
}

func (k *brokerBench) roundSubsample() time.Duration {
	output, drop := k.freshTopic(map[string]string{"cleanup.policy": "compact"})
	defer drop()
	settings := k.settings
	settings.Topics.Scores = output
	settings.Subsample.CheckpointRows, settings.Subsample.CheckpointInterval = 1<<40, time.Hour
	s := k.stopwatch(output, 1)
	return k.run(s, NewSubsampleRunner(k.runtime(s, settings)).Run)
}

func (k *brokerBench) roundRead() time.Duration {
	begun := time.Now()
	for next := int64(0); next < k.messages; {
		fetched, err := k.client.Fetch(k.Context(), k.settings.Topics.Events, 0, next)
		if err != nil {
			k.Fatal(err)
		}
		next = fetched.NextOffset
	}
	return time.Since(begun)
}
