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

// damaged marks a message of samples that the schedule wrote.
const damaged = "damaged"

// damagedRows is how many rows such a message may have.
const damagedRows = 50

// checkSamples compares the samples topic with the events, row by row: ordinal, x and label. Each scored row has to be
// there, unless the schedule has deleted some.
func (r *run) checkSamples(ctx context.Context) error {
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	for partition := range partitions {
		seen := map[string]map[int64]bool{}
		err := r.read(ctx, r.loaded.Stages.Topics.Samples, partition, func(rec pipeline.Record) error {
			own := events.Headers(rec.Headers)
			e := r.exploredBy(rec.Key)
			if e == nil || slices.ContainsFunc(own, func(h wire.Header) bool { return h.Key == damaged }) {
				return nil
			}
			rows, err := wire.DecodeSamples(decoder, rec.Value, own)
			if err != nil || !wire.SamplesOf(own, e.Lineage.SpecHash, int32(partition)) {
				r.fault("samples/%d offset %d: spec %v, %v", partition, rec.Offset, own, err)
				return nil
			}
			if seen[e.id] == nil {
				seen[e.id] = map[int64]bool{}
			}
			for i, ordinal := range rows.Ordinal {
				seen[e.id][ordinal] = true
				if want, ok := e.rows[partition].scored[ordinal]; !ok || !want.equals(rows, i) {
					r.fault("samples/%d offset %d, ordinal %d: not the row of events (sampled: %v)", partition, rec.Offset, ordinal, ok)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if r.plan.recreates("samples") || r.plan.truncates("samples") || r.plan.has(ActLose) {
			continue // those of a published set may be gone
		}
		for _, e := range r.sets {
			want := len(e.rows[partition].scored)
			if !e.spec.Criterion.NeedsRows() {
				want = 0
			}
			if have := len(seen[e.id]); have != want && r.plan.Spoil != SpoilLose {
				r.fault("samples/%d: %d rows of exploration %d, %d were scored", partition, have, e.Lineage.Sequence, want)
			}
			r.result.Samples += int64(len(seen[e.id]))
		}
	}
	return nil
}

// exploredBy returns the set of the exploration whose samples and checkpoints have a key.
func (r *run) exploredBy(key []byte) *explored {
	for _, e := range r.sets {
		if bytes.Equal(key, wire.CheckpointKey(e.Lineage.Exploration)) {
			return e
		}
	}
	return nil
}

// equals reports whether row i of samples is this row, bit for bit.
func (s scoredRow) equals(rows *wire.Samples, i int) bool {
	if !slices.Equal(s.x, rows.X[i*rows.Dim:(i+1)*rows.Dim]) {
		return false
	}
	if rows.Targets.Class != nil {
		return s.y == nil && s.class == rows.Targets.Class[i]
	}
	k := rows.Targets.Outputs
	return slices.Equal(s.y, rows.Targets.Values[i*k:(i+1)*k])
}

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
			Headers: events.WithHeaders(nil, append(own, wire.Header{Key: damaged})),
		}
		if _, err := r.client.Produce(ctx, r.loaded.Stages.Topics.Samples, int(part.Partition), []pipeline.Record{record}); err != nil {
			return err
		}
	}
	return nil
}
