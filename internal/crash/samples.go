package crash

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
)

// damagedRows is how many rows such a message may have.
const damagedRows = 50

// spoil damages the samples according to the plan, once, while a process is stopped at one of their points.
func (r *run) spoil(ctx context.Context, hit string) {
	point, _, _ := strings.Cut(hit, "@")
	at := failpoint.Point(point)
	r.mu.Lock()
	now := !r.spoilt && r.plan.Spoil != SpoilNothing && (at == failpoint.SamplesBefore || at == failpoint.SamplesAfter)
	r.spoilt = r.spoilt || now
	r.mu.Unlock()
	if !now {
		return
	}
	r.gate.RLock()
	defer r.gate.RUnlock()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	do := r.loseSamples
	if r.plan.Spoil == SpoilDamage {
		do = r.damageSamples
	}
	r.note("samples: %s (%v)", r.plan.Spoil, do(ctx))
}

// loseSamples empties the topic.
func (r *run) loseSamples(ctx context.Context) error {
	topic := r.loaded.Stages.Topics.Samples
	var ends [partitions]int64
	for partition := range partitions {
		_, next, err := r.client.Offsets(ctx, topic, partition)
		if err != nil {
			return err
		}
		ends[partition] = next
	}
	return r.deleteRecords(ctx, topic, ends)
}

// damageSamples writes messages with the keys, headers and ordinals of the first samples of the running exploration, and
// other numbers.
func (r *run) damageSamples(ctx context.Context) error {
	var spec *wire.Spec
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	err := r.read(ctx, r.loaded.Stages.Topics.Explorations, 0, func(rec pipeline.Record) (err error) {
		if bytes.Equal(rec.Key, wire.SpecKey(r.Name)) {
			spec, err = wire.DecodeSpec(decoder, rec.Value)
		}
		return err
	})
	if err != nil || spec == nil {
		return fmt.Errorf("no spec: %w", err)
	}
	for _, part := range spec.Partitions {
		rows, err := r.events().sampledRows(spec, part)
		if err != nil {
			return err
		}
		other := &wire.Samples{SpecHash: spec.Hash(), Partition: part.Partition, Dim: spec.Encoder.Dim}
		other.Targets.Outputs = spec.Encoder.Outputs()
		for _, ordinal := range slices.Sorted(maps.Keys(rows.scored)) {
			other.Ordinal = append(other.Ordinal, ordinal)
			for _, x := range rows.scored[ordinal].x {
				other.X = append(other.X, x+1)
			}
			other.Targets.Values = append(other.Targets.Values, rows.scored[ordinal].y...)
		}
		if other.Rows() == 0 {
			continue
		}
		value, own, err := wire.EncodeSamples(other.Slice(0, min(damagedRows, other.Rows())))
		if err != nil {
			return err
		}
		record := pipeline.Record{
			Key: wire.CheckpointKey(spec.Exploration), Value: value,
			Headers: events.WithHeaders(nil, own),
		}
		if _, err := r.client.Produce(ctx, r.loaded.Stages.Topics.Samples, int(part.Partition), []pipeline.Record{record}); err != nil {
			return err
		}
	}
	return nil
}
