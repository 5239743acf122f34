package crash

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/eerf-stream/eerf/stages/featurize"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/training"
)

// Stats are figures of a schedule.
type Stats struct {
	Rows       int64 // in the input that decodes
	Duplicates int64 // rows that features has more than once, which its readers drop
	Mixed      int64 // messages whose rows, without the duplicates, come from more than one set
	Letters    int64 // dead letters
	Models     int64 // that were computed again
	Sets       int64 // feature sets, each computed again
	Samples    int64 // sampled rows on their topic, each compared with its event
	Slow       bool  // only a slow machine explains the duplicates
}

// check holds what stands on the topics against the input and against undisturbed computations.
func (r *run) check(ctx context.Context) error {
	for _, part := range []func(context.Context) error{r.loadSets, r.checkSets, r.checkSamples, r.checkFeatures, r.checkLetters, r.checkModels} {
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

// checkSets holds every feature set, with its lineage and its counts, against the undisturbed computation, and their sequence
// numbers against each other. Owners that overlap may give a number twice.
func (r *run) checkSets(ctx context.Context) error {
	r.result.Sets = int64(len(r.sets))
	ids := map[string]bool{}
	for i, e := range r.sets {
		ids[e.id] = true
		if have := e.FeatureSet.ID(); have != e.id || e.again.ID() != e.id {
			r.fault("feature-sets: %s is %s, undisturbed %s, of %+v", e.id, have, e.again.ID(), e.Lineage)
		}
		r.checkLineage(e.Lineage, e.again.Lineage)
		if i > 0 && r.sets[i-1].Lineage.Sequence == e.Lineage.Sequence && !r.plan.overlaps() {
			r.fault("feature-sets: two of exploration %d", e.Lineage.Sequence)
		}
	}
	if len(r.sets) < 2 {
		r.fault("feature-sets: %d sets, the tail should have brought a second one", len(r.sets))
	}
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	newest := &wire.Current{}
	err := r.read(ctx, r.loaded.Stages.Topics.FeatureSets, 0, func(rec pipeline.Record) error {
		if _, _, current, ok := wire.ParseSetKey(rec.Key); !ok || !current {
			return nil
		}
		pointer, err := wire.DecodeCurrent(decoder, rec.Value)
		if err != nil {
			return err
		}
		if !ids[pointer.ID] || pointer.Sequence < newest.Sequence && !r.plan.overlaps() {
			r.fault("feature-sets: exploration %d gave %s, after %d", pointer.Sequence, pointer.ID, newest.Sequence)
		}
		newest = pointer
		return nil
	})
	if n := len(r.sets); n > 0 && newest.Sequence != r.sets[n-1].Lineage.Sequence {
		r.fault("feature-sets: that of exploration %d is in use, the newest is of %d", newest.Sequence, r.sets[n-1].Lineage.Sequence)
	}
	return err
}

// checkLineage compares what was planned and counted with the undisturbed computation, and that it adds up.
func (r *run) checkLineage(have, want wire.Lineage) {
	if !have.Counts.Reconciles() || have.Counts.Scored != have.Rows {
		r.fault("exploration %d: counts do not add up: %+v", have.Sequence, have.Counts)
	}
	if have.SpecHash != want.SpecHash || have.Exploration != want.Exploration {
		r.fault("exploration %d: its plan is %s of %+v, undisturbed %s of %+v", have.Sequence, have.Exploration, have.Partitions, want.Exploration, want.Partitions)
	}
	if have.Sequence != want.Sequence || have.Counts != want.Counts || !slices.Equal(have.Partitions, want.Partitions) {
		r.fault("exploration %d: counts %+v of %+v, undisturbed %+v of %+v",
			have.Sequence, have.Counts, have.Partitions, want.Counts, want.Partitions)
	}
	if !reflect.DeepEqual(have.Learning, want.Learning) {
		r.fault("exploration %d: learned by %+v, undisturbed by %+v", have.Sequence, have.Learning, want.Learning)
	}
}

// checkFeatures checks that every row that can be used is in features once, by the documented rule for duplicates, byte
// for byte as the set that the message names makes it.
func (r *run) checkFeatures(ctx context.Context) error {
	makers := map[string]*maker{}
	for _, set := range r.sets {
		makers[set.id] = r.newMaker(set.FeatureSet)
	}
	for partition := range partitions {
		messages, err := r.features(ctx, partition)
		if err != nil {
			return err
		}
		input := r.input[partition]
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
	for offset, m := range r.input[partition] {
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
	*featurize.Featurizer
	made map[string]featurize.Part // by partition, value and first row
}

func (r *run) newMaker(set *wire.FeatureSet) *maker {
	core := featurize.New(set, arrowio.DefaultLimits(), r.loaded.Stages.Featurize.MaxOutputBytes)
	return &maker{core, map[string]featurize.Part{}}
}

// compare returns the rows of a message, and says what is wrong with it.
func (m *maker) compare(partition int, source Message, have feature) (rows []int32, fault string) {
	key := func(first int32) string { return fmt.Sprint(partition, have.SourceOffset, first) }
	if _, ok := m.made[key(0)]; !ok {
		rec := pipeline.Record{Topic: have.SourceTopic, Partition: partition, Offset: have.SourceOffset, Value: source.Value}
		err := m.Process(rec, 0, have.record.Time, func(part featurize.Part) error {
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
	for partition := range partitions {
		letters, err := r.letters(ctx, partition)
		if err != nil {
			return err
		}
		r.result.Letters += int64(len(letters))
		have := map[string]map[[2]int64]bool{meter.StageFeaturize: {}, meter.StageSubsample: {}}
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
		r.checkFeaturizeLetters(partition, have[meter.StageFeaturize])
		r.checkSubsampleLetters(partition, have[meter.StageSubsample])
	}
	for _, e := range r.sets {
		var rows, messages int64
		for _, part := range e.rows {
			for at := range part.refused {
				if at[1] == whole {
					messages++
				} else {
					rows++
				}
			}
		}
		if c := e.Lineage.Counts; rows != c.Rejected || messages != c.Undecodable {
			r.fault("exploration %d: %d rows and %d messages cannot be used, %d and %d counted", e.Lineage.Sequence, rows, messages, c.Rejected, c.Undecodable)
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
	input := r.input[partition]
	switch {
	case int(l.Partition) != partition || l.Offset >= int64(len(input)):
		r.fault("dead-letters/%d offset %d: of event %d of partition %d", partition, l.record.Offset, l.Offset, l.Partition)
	case l.Rows == 0 && (!input[l.Offset].Refused() || !bytes.Equal(l.record.Value, input[l.Offset].Value)):
		r.fault("dead-letters/%d offset %d: event %d, %s, has other bytes or is no poison", partition, l.record.Offset, l.Offset, l.Reason)
	}
}

func (r *run) checkFeaturizeLetters(partition int, have map[[2]int64]bool) {
	if want := r.unusable(partition); !maps.Equal(have, want) {
		r.fault("dead-letters/%d: %d rows and messages of featurize, want %d", partition, len(have), len(want))
	}
}

// unusable are the rows and whole messages of a partition that cannot be used.
func (r *run) unusable(partition int) map[[2]int64]bool {
	found := map[[2]int64]bool{}
	for offset, m := range r.input[partition] {
		for _, row := range append(slices.Clone(m.Bad), wholeIf(m.Refused())...) {
			if m.Refused() == (row == whole) {
				found[[2]int64{int64(offset), int64(row)}] = true
			}
		}
	}
	return found
}

// checkSubsampleLetters checks that what the explorations refused is there, and nothing else. Owners that overlap may begin
// explorations that give no set: of these there may be more.
func (r *run) checkSubsampleLetters(partition int, have map[[2]int64]bool) {
	want := map[[2]int64]bool{}
	for _, e := range r.sets {
		maps.Copy(want, e.rows[partition].refused)
	}
	missing := maps.Clone(want)
	maps.DeleteFunc(missing, func(at [2]int64, _ bool) bool { return have[at] })
	usable := maps.Clone(have)
	known := want
	if r.plan.overlaps() {
		known = r.unusable(partition)
	}
	maps.DeleteFunc(usable, func(at [2]int64, _ bool) bool { return known[at] })
	if len(missing)+len(usable) > 0 {
		r.fault("dead-letters/%d: of subsample %v are missing, %v are there for no reason", partition, missing, usable)
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
		if !reflect.DeepEqual(again.NotHeldOut, model.NotHeldOut) || !reflect.DeepEqual(again.Metrics.Seen, model.Metrics.Seen) {
			r.fault("models: %s held out rows but of %+v (seen: %+v), computed again but of %+v (seen: %+v)",
				id, model.NotHeldOut, model.Metrics.Seen, again.NotHeldOut, again.Metrics.Seen)
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
