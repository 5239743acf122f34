package crash

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/subsample"
	"github.com/eerf-stream/eerf/stages/topics"
	"github.com/eerf-stream/eerf/training"
)

// explored is a published feature set and the result of an undisturbed computation over its ranges.
type explored struct {
	*wire.FeatureSet
	id string

	gone  bool // no longer on its topic, which was recreated or truncated
	log   *eventLog
	spec  *wire.Spec
	again *wire.FeatureSet

	refused [partitions]map[[2]int64]bool // by offset and row; whole for whole messages
}

// explore repeats an exploration from its lineage, in the first of the possible logs that gives the
// same set.
func (r *run) explore(ctx context.Context, set *wire.FeatureSet) (e *explored, err error) {
	logs, err := r.lineageLogs(set.Lineage)
	if err != nil {
		return nil, err
	}
	for _, log := range logs {
		if e, err = r.exploreIn(ctx, log, set); err != nil || e.again.ID() == e.id {
			return e, err
		}
	}
	return e, nil
}

// exploreIn repeats an exploration from its lineage on one log, in one goroutine, in memory.
func (r *run) exploreIn(ctx context.Context, log *eventLog, set *wire.FeatureSet) (*explored, error) {
	e := &explored{FeatureSet: set, id: set.ID(), log: log}
	var err error
	if e.spec, err = r.planAgain(ctx, log, set.Lineage); err != nil {
		return nil, err
	}
	bank := scoring.NewBank(e.spec.Candidates)
	checkpoints := map[int32]*wire.Checkpoint{}
	var samples []*wire.Samples
	for _, part := range e.spec.Partitions {
		core, err := subsample.New(e.spec, bank, part, nil)
		if err != nil {
			return nil, err
		}
		err = log.eachMessage(e.spec, part, func(offset int64, rows rowsOf) error {
			switch {
			case rows.tombstone:
				core.Skip(offset + 1)
				return nil
			case rows.err != nil:
				core.Refuse(offset + 1)
				return nil
			}
			return core.Add(offset, rows.batches, nil)
		})
		if err != nil {
			return nil, err
		}
		if !part.Empty() {
			checkpoints[part.Partition] = core.Checkpoint(time.Time{})
			samples = append(samples, core.Samples())
		}
		if e.refused[part.Partition], err = log.refused(e.spec, part); err != nil {
			return nil, err
		}
	}
	sums, lineage := selection.Merge(e.spec, checkpoints)
	var sample *scoring.Sample
	if e.spec.Criterion.NeedsRows() {
		sample = selection.NewSample(e.spec, samples...)
	}
	e.again, err = selection.Select(e.spec, sums, lineage, sample, time.Time{}, selection.Options{Workers: 1})
	return e, err
}

// planAgain plans on a broker with the contents of the log at the time of the plan.
func (r *run) planAgain(ctx context.Context, log *eventLog, lineage wire.Lineage) (*wire.Spec, error) {
	broker, names := pipelinetest.NewBroker(), r.loaded.Stages.Topics
	if _, err := topics.Create(ctx, broker, names); err != nil {
		return nil, err
	}
	broker.SetIdentity(names.Events, pipeline.LogID(lineage.EventsLog))
	last := &wire.Spec{Plan: wire.Plan{EventsLog: lineage.EventsLog}}
	for _, part := range lineage.Partitions {
		if part.Partition < 0 || part.Partition >= partitions || part.EndOffset > allMessages {
			return nil, fmt.Errorf("exploration %d reads %+v", lineage.Sequence, part)
		}
		for _, m := range log.input[part.Partition][:part.EndOffset] {
			if _, err := broker.Produce(ctx, names.Events, int(part.Partition),
				[]pipeline.Record{{Value: m.Value}}); err != nil {
				return nil, err
			}
		}
		broker.Expire(names.Events, int(part.Partition), part.StartOffset) // events may have been truncated
		last.Partitions = append(last.Partitions, wire.Partition{Partition: part.Partition, EndOffset: part.StartOffset})
	}
	events := env.Env{Broker: broker, Logger: zap.NewNop(), Topics: names}
	request := calibrate.Request{From: lineage.From, Last: last, Sequence: lineage.Sequence}
	planned, err := calibrate.Plan(ctx, events, r.loaded.Stages.Plan(), request)
	if err != nil {
		return nil, fmt.Errorf("repeat the plan of exploration %d: %w", lineage.Sequence, err)
	}
	return planned.Spec, nil
}

// rowsOf is a message of events as an exploration reads it; err is the reason for refusing the
// whole message.
type rowsOf struct {
	batches   []arrow.Record
	err       error
	tombstone bool // without a value and without rows
}

// eachMessage visits the messages of a range.
func (l *eventLog) eachMessage(
	spec *wire.Spec,
	part wire.Partition,
	visit func(offset int64, rows rowsOf) error,
) error {
	reader := events.NewReader(spec.Limits, spec.Encoder)
	for offset := part.StartOffset; offset < part.EndOffset; offset++ {
		value := l.input[part.Partition][offset].Value
		if value == nil {
			if err := visit(offset, rowsOf{tombstone: true}); err != nil {
				return fmt.Errorf("event %d of partition %d: %w", offset, part.Partition, err)
			}
			continue
		}
		batches, fault := reader.Read(value)
		err := visit(offset, rowsOf{batches: batches, err: fault})
		events.Release(batches)
		if err != nil {
			return fmt.Errorf("event %d of partition %d: %w", offset, part.Partition, err)
		}
	}
	return nil
}

// refused returns the unusable messages of a range and its unusable labelled rows in the sample. It
// applies the definition, without sums and quotas.
func (l *eventLog) refused(spec *wire.Spec, part wire.Partition) (map[[2]int64]bool, error) {
	found := map[[2]int64]bool{}
	var rows encoder.Rows
	hasher, rule := rowid.NewHasher(spec.Identity), spec.Identity
	first := int64(0)
	place := func(row int32) uint64 { return rowid.PlaceOf(part.Partition, first+int64(row), 0) }
	err := l.eachMessage(spec, part, func(offset int64, m rowsOf) error {
		if m.err != nil {
			found[[2]int64{offset, whole}] = true
			return nil
		}
		ofMessage := int32(0)
		for _, batch := range m.batches {
			if err := spec.Encoder.Encode(&rows, batch, nil); err != nil {
				return err
			}
			identities := hasher.Identities(batch, nil, place)
			for _, bad := range rows.Rejected {
				if !rule.ByPlace() && training.HeldOut(rule.HeldOutSeed, identities[bad.Row], rule.HeldOutFraction) {
					continue
				}
				hash := scoring.Hash(spec.SampleSeed, part.Partition, first+int64(bad.Row))
				if bad.Labelled && scoring.Sampled(hash, spec.SampleRate) {
					found[[2]int64{offset, int64(ofMessage + bad.Row)}] = true
				}
			}
			first, ofMessage = first+batch.NumRows(), ofMessage+int32(batch.NumRows())
		}
		return nil
	})
	return found, err
}
