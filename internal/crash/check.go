package crash

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/training"
)

// Stats are figures of a schedule.
type Stats struct {
	Rows       int64 // in the input that decodes
	Duplicates int64 // rows that features has more than once, which its readers drop
	Mixed      int64 // messages whose rows, without the duplicates, come from more than one set
	Letters    int64 // dead letters
	Models     int64 // that were computed again
	Slow       bool  // only a slow machine explains the duplicates
}

// check holds what stands on the topics against the input and the undisturbed run.
func (r *run) check(ctx context.Context) error {
	for _, part := range []func(context.Context) error{r.checkSets, r.checkFeatures, r.checkLetters, r.checkModels} {
		if err := part(ctx); err != nil && len(r.result.Faults) > 0 {
			r.fault("not checked any further: %v", err)
			return nil
		} else if err != nil {
			return err
		}
	}
	if r.result.Duplicates > 0 && !r.plan.overlaps() {
		// A machine that keeps processes waiting makes a member miss its deadlines in the group.
		if r.result.Slow = r.result.Stall >= r.Session/15; !r.result.Slow {
			r.fault("features: %d rows twice, though nobody was paused and the broker was there", r.result.Duplicates)
		}
	}
	if r.result.Mixed > 0 && r.result.Duplicates == 0 {
		r.fault("features: %d messages come from two sets, though nobody else wrote them", r.result.Mixed)
	}
	return nil
}

// checkSets holds every feature set, with its lineage and its counts, against the undisturbed run.
func (r *run) checkSets(ctx context.Context) error {
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	want := map[string]*wire.FeatureSet{}
	for _, set := range r.ref.sets {
		want[set.ID()] = set
	}
	seen := map[string]bool{}
	err := r.read(ctx, r.loaded.Stages.Topics.FeatureSets, 0, func(rec pipeline.Record) error {
		_, id, current, ok := wire.ParseSetKey(rec.Key)
		switch {
		case !ok || rec.Value == nil:
			r.fault("feature-sets: key %q, %d bytes", rec.Key, len(rec.Value))
		case current:
			pointer, err := wire.DecodeCurrent(decoder, rec.Value)
			if err != nil {
				return err
			}
			if n := pointer.Sequence; n < 1 || int(n) > len(r.ref.sets) || r.ref.sets[n-1].ID() != pointer.ID {
				r.fault("feature-sets: exploration %d gave %s, undisturbed %d of them", n, pointer.ID, len(r.ref.sets))
			}
		case want[id] == nil:
			r.fault("feature-sets: %s is not one of the undisturbed run", id)
		default:
			set, err := wire.DecodeFeatureSet(decoder, rec.Value)
			if err != nil {
				return err
			}
			seen[id] = true
			r.checkLineage(set.Lineage, want[id].Lineage)
		}
		return nil
	})
	if len(seen) != len(want) {
		r.fault("feature-sets: %d sets, undisturbed %d", len(seen), len(want))
	}
	return err
}

// checkLineage compares what was counted with the undisturbed run, and that it adds up.
func (r *run) checkLineage(have, want wire.Lineage) {
	if !have.Counts.Reconciles() || have.Counts.Scored != have.Rows {
		r.fault("exploration %d: counts do not add up: %+v", have.Sequence, have.Counts)
	}
	if have.Sequence != want.Sequence || have.Counts != want.Counts || !slices.Equal(have.Partitions, want.Partitions) {
		r.fault("exploration %d: counts %+v of %+v, undisturbed %+v of %+v",
			have.Sequence, have.Counts, have.Partitions, want.Counts, want.Partitions)
	}
}

// checkFeatures checks that every row that can be used is in features once, by the documented rule for duplicates, byte
// for byte as the set that the message names makes it.
func (r *run) checkFeatures(ctx context.Context) error {
	makers := map[string]*maker{}
	for _, set := range r.ref.sets {
		makers[set.ID()] = r.newMaker(set)
	}
	for partition := range partitions {
		messages, err := r.features(ctx, partition)
		if err != nil {
			return err
		}
		input := r.ref.input.All(partition)
		var read deduplicator
		seen := map[[2]int64]int{}
		sets := map[int64]map[string]bool{}
		for _, m := range messages {
			where := fmt.Sprintf("features/%d offset %d, of event %d rows %d+%d",
				partition, m.record.Offset, m.SourceOffset, m.FirstRow, m.RowCount)
			if int(m.SourcePartition) != partition || m.SourceOffset >= int64(len(input)) || makers[m.FeatureSetID] == nil {
				r.fault("%s: from partition %d, set %s", where, m.SourcePartition, m.FeatureSetID)
				continue
			}
			rows, fault := makers[m.FeatureSetID].compare(partition, input[m.SourceOffset], m)
			if fault != "" {
				r.fault("%s: %s", where, fault)
			}
			fresh := read.fresh(m, rows)
			r.result.Duplicates += int64(len(rows) - len(fresh))
			for _, row := range fresh {
				seen[[2]int64{m.SourceOffset, int64(row)}]++
			}
			if len(fresh) > 0 {
				if sets[m.SourceOffset] == nil {
					sets[m.SourceOffset] = map[string]bool{}
				}
				sets[m.SourceOffset][m.FeatureSetID] = true
			}
		}
		r.checkOnce(partition, seen)
		for _, of := range sets {
			if len(of) > 1 {
				r.result.Mixed++
			}
		}
	}
	return nil
}

func (r *run) checkOnce(partition int, seen map[[2]int64]int) {
	missing, first := 0, ""
	for offset, m := range r.ref.input.All(partition) {
		r.result.Rows += int64(m.Rows)
		for row := range m.Rows {
			want := 1
			if slices.Contains(m.Bad, row) {
				want = 0
			}
			if have := seen[[2]int64{int64(offset), int64(row)}]; have != want {
				if missing++; first == "" {
					first = fmt.Sprintf("event %d row %d is there %d times, want %d", offset, row, have, want)
				}
			}
		}
	}
	if missing > 0 {
		r.fault("features/%d: %d rows not there once; the first: %s", partition, missing, first)
	}
}

// deduplicator is the rule of docs/wire-formats.md for readers of one partition of features.
type deduplicator struct {
	offset int64
	row    int32
}

// fresh returns the rows of a message that were not there before.
func (d *deduplicator) fresh(m feature, rows []int32) []int32 {
	before := func(offset int64, row int32) bool {
		return offset < d.offset || offset == d.offset && row < d.row
	}
	var fresh []int32
	for _, row := range rows {
		if !before(m.SourceOffset, row) {
			fresh = append(fresh, row)
		}
	}
	offset, row := m.SourceOffset, m.FirstRow+m.RowCount
	if m.Last() {
		offset, row = offset+1, 0
	}
	if !before(offset, row) {
		d.offset, d.row = offset, row
	}
	return fresh
}

// maker makes the features of a set from the input.
type maker struct {
	*stages.Featurizer
	made map[string]stages.Featurized // by partition, value and first row
}

func (r *run) newMaker(set *wire.FeatureSet) *maker {
	core := stages.NewFeaturizer(set, arrowio.DefaultLimits(), r.loaded.Stages.Featurize.MaxOutputBytes)
	return &maker{core, map[string]stages.Featurized{}}
}

// compare returns the rows of a message, and says what is wrong with it.
func (m *maker) compare(partition int, source Message, have feature) (rows []int32, fault string) {
	key := func(first int32) string { return fmt.Sprint(partition, have.SourceOffset, first) }
	if _, ok := m.made[key(0)]; !ok {
		rec := pipeline.Record{Topic: have.SourceTopic, Partition: partition, Offset: have.SourceOffset, Value: source.Value}
		err := m.Process(rec, 0, have.record.Time, func(part stages.Featurized) error {
			if part.Output != nil {
				m.made[key(part.Rows.FirstRow)] = part
			}
			return nil
		})
		if err != nil {
			return nil, err.Error()
		}
	}
	want, ok := m.made[key(have.FirstRow)]
	if !ok || want.Rows != have.FeatureBatch || !bytes.Equal(want.Output.Value, have.record.Value) {
		return nil, fmt.Sprintf("not what set %s makes of these rows", have.FeatureSetID)
	}
	batches, err := arrowio.NewDecoder(arrowio.DefaultLimits()).Decode(have.record.Value)
	if err != nil {
		return nil, err.Error()
	}
	defer batches[0].Release()
	numbers, _ := batches[0].Column(batches[0].Schema().FieldIndices("row")[0]).(*array.Int32)
	return slices.Clone(numbers.Int32Values()), ""
}

// rowNumbers are the numbers of the rows in a dead letter.
func rowNumbers(batch arrow.Record) []int32 {
	at := batch.Schema().FieldIndices(wire.ColumnRejectedRow)
	if len(at) == 0 {
		return nil
	}
	numbers, _ := batch.Column(at[0]).(*array.Int32)
	return slices.Clone(numbers.Int32Values())
}

// checkLetters checks that all that is not in features is in the dead letters, and nothing else.
func (r *run) checkLetters(ctx context.Context) error {
	subsampled := map[int64][2]int64{} // by exploration: rows and whole messages that subsample refused
	for partition := range partitions {
		letters, err := r.letters(ctx, partition)
		if err != nil {
			return err
		}
		r.result.Letters += int64(len(letters))
		have := map[string]map[[2]int64]bool{stages.StageFeaturize: {}, stages.StageSubsample: {}}
		for _, l := range letters {
			if have[l.Stage] == nil {
				r.fault("dead-letters/%d offset %d: of stage %s: %s", partition, l.record.Offset, l.Stage, l.Detail)
				continue
			}
			r.checkLetter(partition, l)
			for _, row := range append(l.rows, wholeIf(l.Rows == 0)...) {
				have[l.Stage][[2]int64{l.Offset, int64(row)}] = true
			}
		}
		r.checkFeaturizeLetters(partition, have[stages.StageFeaturize])
		r.countSubsampleLetters(partition, have[stages.StageSubsample], subsampled)
	}
	for _, set := range r.ref.sets {
		counts := set.Lineage.Counts
		if got := subsampled[set.Lineage.Sequence]; got != [2]int64{counts.Rejected, counts.Undecodable} {
			r.fault("exploration %d: %v rows and messages in the dead letters, %d and %d counted",
				set.Lineage.Sequence, got, counts.Rejected, counts.Undecodable)
		}
	}
	return nil
}

// whole stands for the row number of a message that was refused whole.
const whole = -1

func wholeIf(refused bool) []int32 {
	if refused {
		return []int32{whole}
	}
	return nil
}

// checkLetter checks that a message refused whole is there with its own bytes.
func (r *run) checkLetter(partition int, l letter) {
	input := r.ref.input.All(partition)
	switch {
	case int(l.Partition) != partition || l.Offset >= int64(len(input)):
		r.fault("dead-letters/%d offset %d: of event %d of partition %d", partition, l.record.Offset, l.Offset, l.Partition)
	case l.Rows == 0 && (!input[l.Offset].Refused() || !bytes.Equal(l.record.Value, input[l.Offset].Value)):
		r.fault("dead-letters/%d offset %d: event %d, %s, has other bytes or is no poison", partition, l.record.Offset, l.Offset, l.Reason)
	}
}

func (r *run) checkFeaturizeLetters(partition int, have map[[2]int64]bool) {
	want := map[[2]int64]bool{}
	for offset, m := range r.ref.input.All(partition) {
		for _, row := range append(slices.Clone(m.Bad), wholeIf(m.Refused())...) {
			if m.Refused() == (row == whole) {
				want[[2]int64{int64(offset), int64(row)}] = true
			}
		}
	}
	if !maps.Equal(have, want) {
		r.fault("dead-letters/%d: %d rows and messages of featurize, want %d", partition, len(have), len(want))
	}
}

// countSubsampleLetters adds what subsample refused to the exploration that read it.
func (r *run) countSubsampleLetters(partition int, have map[[2]int64]bool, counts map[int64][2]int64) {
	for at := range have {
		for _, set := range r.ref.sets {
			part := set.Lineage.Partitions[partition]
			if at[0] < part.StartOffset || at[0] >= part.NextOffset {
				continue
			}
			c := counts[set.Lineage.Sequence]
			if at[1] == whole {
				c[1]++
			} else {
				c[0]++
			}
			counts[set.Lineage.Sequence] = c
		}
	}
}

// modelsAgain is how many of the models are computed again.
const modelsAgain = 4

// checkModels computes models again from features, by what their lineage says.
func (r *run) checkModels(ctx context.Context) error {
	models, current, err := r.models(ctx)
	if err != nil {
		return err
	}
	ids := slices.Sorted(maps.Keys(models))
	if current != nil {
		ids = append([]string{current.ID}, ids...)
		if model := models[current.ID]; model != nil && (model.Judgement == nil || !model.Promoted()) {
			r.fault("models: %s is current, though it was judged %+v", current.ID, model.Judgement)
		}
	}
	for _, id := range ids[:min(len(ids), modelsAgain)] {
		model := models[id]
		if model == nil {
			r.fault("models: %s is current and not there", id)
			continue
		}
		trainer, err := r.trainer(ctx, model.FeatureSetID, model.Ranges)
		if err != nil {
			return err
		}
		again, err := trainer.Solve(ctx, r.Name, model.TrainedAt)
		if err != nil {
			return fmt.Errorf("compute model %s again: %w", id, err)
		}
		if wire.ModelID(again) != id || !slices.Equal(again.Ranges, model.Ranges) {
			r.fault("models: %s of %+v, computed again %s of %+v", id, model.Ranges, wire.ModelID(again), again.Ranges)
		}
		if !sameWeights(again.Judged, model.Judged) {
			r.fault("models: %s is judged by other weights than those computed again", id)
		}
		r.result.Models++
	}
	return nil
}

// sameWeights compares what two models are judged by, bit for bit.
func sameWeights(a, b *training.Model) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.Theta, b.Theta) && slices.Equal(a.Intercept, b.Intercept)
}
