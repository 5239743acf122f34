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
	Rows       int64 // of the input, in messages that decode
	Duplicates int64 // rows repeated in features, which readers drop
	Mixed      int64 // messages whose rows, without duplicates, come from several sets
	Letters    int64 // dead letters
	Models     int64 // recomputed ones
	Sets       int64 // feature sets, each recomputed
}

// check compares the topics with the input and with undisturbed computations.
func check(ctx context.Context, r *run) error {
	for _, part := range []func(context.Context) error{r.loadSets, r.checkSets, r.checkFeatures, r.checkLetters, r.checkModels} {
		if err := part(ctx); err != nil && len(r.result.Faults) > 0 {
			r.fault("not checked any further: %v", err)
			return nil
		} else if err != nil {
			return err
		}
	}
	if r.result.Duplicates > 0 && !r.mayRepeat() {
		r.fault("features: %d rows twice, though the brokers refuse owners taken for dead, and repeats", r.result.Duplicates)
	}
	if r.result.Mixed > 0 && r.result.Duplicates == 0 {
		r.fault("features: %d messages come from two sets, though nobody else wrote them", r.result.Mixed)
	}
	return nil
}

// mayRepeat reports whether features may contain rows twice. The embedded broker, when killed, forgets which requests it has written,
// so one whose acknowledgement was lost is written again.
func (r *run) mayRepeat() bool {
	_, embedded := r.broker.(*embeddedBroker)
	return embedded && r.plan.brokerDies()
}

// checkSets compares every feature set, with its lineage and counts, with the undisturbed computation, and checks the sequence
// numbers. Overlapping owners may use a number twice.
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
	there := slices.DeleteFunc(slices.Clone(r.sets), func(e *explored) bool { return e.gone })
	if n := len(there); n > 0 && newest.Sequence != there[n-1].Lineage.Sequence {
		r.fault("feature-sets: that of exploration %d is in use, the newest is of %d", newest.Sequence, there[n-1].Lineage.Sequence)
	}
	return err
}

// checkLineage compares what was planned and counted with the undisturbed computation, and checks the totals.
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

// checkFeatures checks that every usable row is in features once, by the documented rule for duplicates, byte for byte as the set
// named by the message makes it.
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
		read := map[string]*deduplicator{} // by the name of the log
		seen := map[seenRow]int{}
		sets := map[seenRow]map[string]bool{} // of a message, by its first row
		for _, m := range messages {
			if read[m.SourceLog] == nil {
				read[m.SourceLog] = &deduplicator{}
			}
			of, rows, fault := r.recognise(makers, partition, m)
			if fault != "" {
				r.fault("features/%d offset %d, of event %d rows %d+%d, log %s: %s",
					partition, m.record.Offset, m.SourceOffset, m.FirstRow, m.RowCount, m.SourceLog, fault)
				continue
			}
			fresh := read[m.SourceLog].fresh(m, rows)
			r.result.Duplicates += int64(len(rows) - len(fresh))
			for _, row := range fresh {
				seen[seenRow{of, m.SourceOffset, row}]++
			}
			if message := (seenRow{of, m.SourceOffset, 0}); len(fresh) > 0 {
				if sets[message] == nil {
					sets[message] = map[string]bool{}
				}
				sets[message][m.FeatureSetID] = true
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

// seenRow is a row of events in features.
type seenRow struct {
	log    int // that its message was sent to, an index into logs
	offset int64
	row    int32
}

// recognise finds the event behind a message of features, in one of the logs that it may name, and returns the log that it was sent to
// and the rows.
func (r *run) recognise(makers map[string]*maker, partition int, m feature) (log int, rows []int32, fault string) {
	maker := makers[m.FeatureSetID]
	if int(m.SourcePartition) != partition || m.SourceOffset >= allMessages || maker == nil {
		return 0, nil, fmt.Sprintf("from partition %d, set %s", m.SourcePartition, m.FeatureSetID)
	}
	fault = "events have never been this log"
	for _, at := range r.named(m.SourceLog) {
		log = r.origin(at, partition, m.SourceOffset)
		if rows, fault = maker.compare(log, partition, r.logs[log].input[partition][m.SourceOffset], m); fault == "" {
			return log, rows, ""
		}
	}
	return log, nil, fault
}

// checkOnce checks that the rows of the present log are there once, and those of earlier logs at most once. If features was recreated,
// it may begin later; see firstFeaturized.
func (r *run) checkOnce(partition int, seen map[seenRow]int) {
	missing, first := 0, ""
	lacks := func(text string, args ...any) {
		if missing++; first == "" {
			first = fmt.Sprintf(text, args...)
		}
	}
	from := r.firstFeaturized(partition, seen)
	for offset, m := range r.events().input[partition] {
		r.result.Rows += int64(m.Rows)
		log := r.origin(len(r.logs)-1, partition, int64(offset))
		for row := range m.Rows {
			want, at := 1, seenRow{log, int64(offset), row}
			if slices.Contains(m.Bad, row) || at.before(from) {
				want = 0
			}
			if int64(offset) < r.first[partition] {
				want = min(want, seen[at]) // it may have been deleted before it was read
			}
			if have := seen[at]; have != want {
				lacks("event %d row %d is there %d times, want %d", offset, row, have, want)
			}
			delete(seen, at)
		}
	}
	for at, have := range seen {
		if have > 1 {
			lacks("event %d row %d of log %d is there %d times", at.offset, at.row, at.log, have)
		}
	}
	if missing > 0 {
		r.fault("features/%d: %d rows not there once; the first: %s", partition, missing, first)
	}
}

// firstFeaturized is the first row that features must contain.
func (r *run) firstFeaturized(partition int, seen map[seenRow]int) seenRow {
	resumed := int64(r.resumed[partition])
	switch {
	case r.plan.truncates("features"):
		resumed = allMessages
	case !r.plan.recreates("features") || resumed == 0:
		return seenRow{}
	}
	from := seenRow{log: r.origin(len(r.logs)-1, partition, resumed), offset: resumed}
	for at := range seen {
		if at.log == r.origin(len(r.logs)-1, partition, at.offset) && at.before(from) {
			from = at
		}
	}
	return from
}

// before orders rows of one log.
func (s seenRow) before(other seenRow) bool {
	return s.offset < other.offset || s.offset == other.offset && s.row < other.row
}

// deduplicator applies the rule of docs/wire-formats.md for readers of one partition of features.
type deduplicator struct {
	offset int64
	row    int32
}

// fresh returns the rows of a message that are new.
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

// maker makes a set's features from the input.
type maker struct {
	*featurize.Featurizer
	made map[string]featurize.Part // by log, partition, offset and first row
}

func (r *run) newMaker(set *wire.FeatureSet) *maker {
	core := featurize.New(set, arrowio.DefaultLimits(), r.loaded.Stages.Featurize.MaxOutputBytes)
	return &maker{core, map[string]featurize.Part{}}
}

// compare returns the rows of a message and what is wrong with it.
func (m *maker) compare(log, partition int, source Message, have feature) (rows []int32, fault string) {
	key := func(first int32) string { return fmt.Sprint(log, partition, have.SourceOffset, first) }
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
	of := have.FeatureBatch
	of.SourceLog, of.SourceBatch = "", wire.BatchMark{} // the input has no log
	if !ok || want.Rows != of || !bytes.Equal(want.Output.Value, have.record.Value) {
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

// rowNumbers returns the numbers of the rows in a dead letter.
func rowNumbers(batch arrow.Record) []int32 {
	at := batch.Schema().FieldIndices(wire.ColumnRejectedRow)
	if len(at) == 0 {
		return nil
	}
	numbers, _ := batch.Column(at[0]).(*array.Int32)
	return slices.Clone(numbers.Int32Values())
}

// checkLetters checks that the dead letters are exactly what is not in features.
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

// whole replaces the row number for a message refused whole.
const whole = -1

func wholeIf(refused bool) []int32 {
	if refused {
		return []int32{whole}
	}
	return nil
}

// checkLetter checks that a message refused whole kept its bytes.
func (r *run) checkLetter(partition int, l letter) {
	is := func(m *Message) bool { return m.Refused() && bytes.Equal(l.record.Value, m.Value) }
	switch {
	case int(l.Partition) != partition || l.Offset >= allMessages:
		r.fault("dead-letters/%d offset %d: of event %d of partition %d", partition, l.record.Offset, l.Offset, l.Partition)
	case l.Rows == 0 && !r.inSomeLog(partition, l.Offset, is):
		r.fault("dead-letters/%d offset %d: event %d, %s, has other bytes or is no poison", partition, l.record.Offset, l.Offset, l.Reason)
	}
}

func (r *run) checkFeaturizeLetters(partition int, have map[[2]int64]bool) {
	missing, want := lacking(r.unusable(partition, r.events()), have), r.unusable(partition, r.logs...)
	maps.DeleteFunc(missing, func(at [2]int64, _ bool) bool { return at[0] < r.first[partition] || r.plan.truncates("dead-letters") })
	if extra := lacking(have, want); len(missing)+len(extra) > 0 {
		r.fault("dead-letters/%d: of %d rows and messages of featurize %v are missing, %v are there for no reason", partition, len(want), missing, extra)
	}
}

// lacking returns what one set has and another lacks.
func lacking(of, in map[[2]int64]bool) map[[2]int64]bool {
	missing := maps.Clone(of)
	maps.DeleteFunc(missing, func(at [2]int64, _ bool) bool { return in[at] })
	return missing
}

// unusable returns the rows and whole messages of a partition that cannot be used, in any of the logs.
func (r *run) unusable(partition int, logs ...*eventLog) map[[2]int64]bool {
	found := map[[2]int64]bool{}
	for _, log := range logs {
		for offset, m := range log.input[partition] {
			for _, row := range append(slices.Clone(m.Bad), wholeIf(m.Refused())...) {
				if m.Refused() == (row == whole) {
					found[[2]int64{int64(offset), int64(row)}] = true
				}
			}
		}
	}
	return found
}

// checkSubsampleLetters checks that what the explorations refused is there, and nothing else. Overlapping owners may begin
// explorations that give no set, and explorations of a lost log are abandoned; there may be letters of these too.
func (r *run) checkSubsampleLetters(partition int, have map[[2]int64]bool) {
	want := map[[2]int64]bool{}
	for _, e := range r.sets {
		if !r.plan.truncates("dead-letters") && (!r.plan.has(ActLose) || e.log == r.events() && !e.gone && !r.keptWhole(e)) { // letters are lost too
			maps.Copy(want, e.rows[partition].refused)
		}
	}
	known := want
	if r.plan.overlaps() || r.plan.abandons() {
		known = r.unusable(partition, r.logs...)
	}
	missing, usable := lacking(want, have), lacking(have, known)
	if len(missing)+len(usable) > 0 {
		r.fault("dead-letters/%d: of subsample %v are missing, %v are there for no reason", partition, missing, usable)
	}
}

// keptWhole reports whether a set may have been explored before the log lost its end, with what is left of it: then its letters may
// be lost, while its checkpoints are not.
func (r *run) keptWhole(e *explored) bool {
	return !slices.ContainsFunc(e.spec.Partitions, func(p wire.Partition) bool { return p.EndOffset > int64(r.events().kept[p.Partition]) })
}

// modelsAgain is how many of the models are recomputed.
const modelsAgain = 4

// checkModels recomputes models from features according to their lineage.
func (r *run) checkModels(ctx context.Context) error {
	models, current, err := r.models(ctx)
	if err != nil {
		return err
	}
	if r.plan.losesFeatures() {
		maps.DeleteFunc(models, func(_ string, m *wire.Model) bool { return m.FeatureSetID != r.last }) // what others were made of is gone
	}
	ids := slices.Sorted(maps.Keys(models))
	if current != nil && (models[current.ID] != nil || !r.plan.losesFeatures()) {
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
		if err := r.checkModel(ctx, id, model); err != nil {
			return err
		}
	}
	return nil
}

// checkModel recomputes a model.
func (r *run) checkModel(ctx context.Context, id string, model *wire.Model) error {
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
	return nil
}

// sameWeights compares two models bit for bit.
func sameWeights(a, b *training.Model) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.Theta, b.Theta) && slices.Equal(a.Intercept, b.Intercept)
}
