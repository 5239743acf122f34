package crash

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
)

// Stats are figures of a schedule.
type Stats struct {
	Rows       int64 // in features, without repeats
	Foreign    int64 // rows that a foreign consumer counts in features
	Duplicates int64 // rows repeated in features, which readers drop
	Mixed      int64 // messages whose rows, without duplicates, come from several sets
	Blocks     int64 // of live errors, recomputed
	Models     int64 // recomputed
	Sets       int64 // feature sets, all recomputed
}

// check compares the topics with the input and with undisturbed computations.
func (r *run) check(ctx context.Context) error {
	for _, part := range []func(context.Context) error{
		r.loadSets,
		r.checkSets,
		r.checkFeatures,
		r.checkForeign,
		r.checkLive,
		r.checkLetters,
		r.checkModels,
	} {
		if err := part(ctx); err != nil && len(r.result.Faults) > 0 {
			r.fault("check aborted: %v", err)
			return nil
		} else if err != nil {
			return err
		}
	}
	if r.result.Duplicates > 0 && !r.mayRepeat() {
		r.fault("features: %d rows twice, although brokers refuse fenced owners and repeated requests", r.result.Duplicates)
	}
	// a message with a lost set is finished with another
	if r.result.Mixed > 0 && r.result.Duplicates == 0 && len(r.lost) == 0 {
		r.fault("features: %d messages come from two sets without overlapping owners", r.result.Mixed)
	}
	return nil
}

// mayRepeat reports whether features may contain rows twice. A killed embedded broker forgets the
// sequence numbers of producers, so a request is written twice if its acknowledgement was lost.
func (r *run) mayRepeat() bool {
	_, embedded := r.broker.(*embeddedBroker)
	return embedded && r.plan.brokerDies()
}

// checkSets compares every feature set, with its lineage and counts, with the undisturbed
// computation, and checks the sequence numbers. Overlapping owners may use a number twice.
func (r *run) checkSets(ctx context.Context) error {
	r.result.Sets = int64(len(r.sets))
	ids := map[string]bool{}
	for i, e := range r.sets {
		ids[e.id] = true
		if have := e.FeatureSet.ID(); have != e.id || e.again.ID() != e.id {
			r.fault("feature-sets: %s has id %s, recomputed %s, lineage %+v", e.id, have, e.again.ID(), e.Lineage)
		}
		r.checkLineage(e.Lineage, e.again.Lineage)
		if i > 0 && r.sets[i-1].Lineage.Sequence == e.Lineage.Sequence && !r.plan.overlaps() {
			r.fault("feature-sets: exploration %d has two feature sets", e.Lineage.Sequence)
		}
	}
	r.checkKinds()
	if len(r.sets) < 2 && !r.plan.abandons() { // the exploration after an abandoned one may cover the tail
		r.fault("feature-sets: %d sets, want a second one after the tail", len(r.sets))
	}
	newest := &wire.Current{}
	err := r.read(ctx, r.loaded.Stages.Topics.FeatureSets, 0, func(rec pipeline.Record) error {
		if _, _, current, ok := wire.ParseSetKey(rec.Key); !ok || !current {
			return nil
		}
		pointer, err := wire.DecodeCurrent(rec.Value)
		if err != nil {
			return err
		}
		if !ids[pointer.ID] || pointer.Sequence < newest.Sequence && !r.plan.overlaps() {
			r.fault("feature-sets: pointer to %s of exploration %d follows that of %d", pointer.ID, pointer.Sequence,
				newest.Sequence)
		}
		newest = pointer
		return nil
	})
	listed := slices.DeleteFunc(slices.Clone(r.sets), func(e *explored) bool { return e.gone })
	if n := len(listed); n > 0 && newest.Sequence != listed[n-1].Lineage.Sequence {
		r.fault("feature-sets: current is the set of exploration %d, newest is %d", newest.Sequence,
			listed[n-1].Lineage.Sequence)
	}
	return err
}

// checkKinds checks that a set with several kinds of features is among the tested ones.
func (r *run) checkKinds() {
	mixed := func(e *explored) bool { return e.Set.Features.Mixed() }
	if r.plan.Criterion == "adaptive" && len(r.sets) > 0 && !slices.ContainsFunc(r.sets, mixed) {
		r.fault("feature-sets: none of %d has thresholds, although the label has one", len(r.sets))
	}
}

// checkLineage compares plan and counts with the undisturbed computation, and checks the totals.
func (r *run) checkLineage(have, want wire.Lineage) {
	if !have.Counts.Reconciles() || have.Counts.Scored != have.Rows {
		r.fault("exploration %d: counts do not add up: %+v", have.Sequence, have.Counts)
	}
	if have.SpecHash != want.SpecHash || have.Exploration != want.Exploration {
		r.fault("exploration %d: its plan is %s of %+v, recomputed %s of %+v",
			have.Sequence, have.Exploration, have.Partitions, want.Exploration, want.Partitions)
	}
	if have.Sequence != want.Sequence || have.Counts != want.Counts || !slices.Equal(have.Partitions, want.Partitions) {
		r.fault("exploration %d: counts %+v of %+v, recomputed %+v of %+v",
			have.Sequence, have.Counts, have.Partitions, want.Counts, want.Partitions)
	}
	if !reflect.DeepEqual(have.Learning, want.Learning) {
		r.fault("exploration %d: learning %+v, recomputed %+v", have.Sequence, have.Learning, want.Learning)
	}
}

// checkFeatures checks that every usable row is in features once, after the documented rule for
// duplicates, with exactly the bytes of the set that the message names.
func (r *run) checkFeatures(ctx context.Context) error {
	makers := map[string]*maker{}
	for _, set := range r.sets {
		var err error
		if makers[set.id], err = r.newMaker(set.FeatureSet); err != nil {
			return err
		}
	}
	for partition := range partitions {
		messages, err := r.features(ctx, partition)
		if err != nil {
			return err
		}
		read := map[string]*deduplicator{} // by log name
		seen := map[seenRow]int{}
		sets := map[seenRow]map[string]bool{} // of each message, by its first row
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
			r.result.Rows += int64(len(fresh))
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
	log    int // of its message, an index into logs
	offset int64
	row    int32
}

// recognise finds the event of a features message in one of the logs that it may name, and returns
// that log and the rows.
func (r *run) recognise(
	makers map[string]*maker,
	partition int,
	m feature,
) (log int, rows []int32, fault string) {
	maker := makers[m.FeatureSetID]
	if int(m.SourcePartition) != partition || m.SourceOffset >= allMessages || maker == nil {
		return 0, nil, fmt.Sprintf("from partition %d, set %s", m.SourcePartition, m.FeatureSetID)
	}
	fault = "events never had this log"
	for _, at := range r.named(m.SourceLog) {
		log = r.origin(at, partition, m.SourceOffset)
		if rows, fault = maker.compare(log, partition, r.logs[log].input[partition][m.SourceOffset], m); fault == "" {
			return log, rows, ""
		}
	}
	return log, nil, fault
}

// checkOnce checks that each row of the present log was seen once, and each row of an earlier log
// at most once. If features was recreated, it may begin later; see firstFeaturized.
func (r *run) checkOnce(partition int, seen map[seenRow]int) {
	wrong, first := 0, ""
	report := func(text string, args ...any) {
		wrong++
		if first == "" {
			first = fmt.Sprintf(text, args...)
		}
	}
	from := r.firstFeaturized(partition, seen)
	for offset, m := range r.events().input[partition] {
		log := r.origin(len(r.logs)-1, partition, int64(offset))
		for row := range m.Rows {
			want, at := 1, seenRow{log, int64(offset), row}
			if slices.Contains(m.Bad, row) || at.before(from) {
				want = 0
			}
			if have := seen[at]; have != want {
				report("event %d row %d occurs %d times, want %d", offset, row, have, want)
			}
			delete(seen, at)
		}
	}
	for at, have := range seen {
		if have > 1 {
			report("event %d row %d of log %d occurs %d times", at.offset, at.row, at.log, have)
		}
	}
	if wrong > 0 {
		r.fault("features/%d: %d rows do not occur exactly once; the first: %s", partition, wrong, first)
	}
}

// firstFeaturized is the first row that features must contain.
func (r *run) firstFeaturized(partition int, seen map[seenRow]int) seenRow {
	resumed := int64(r.resumed[partition])
	if !r.plan.recreates("features") || resumed == 0 {
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
	featurizer *featurize.Featurizer
	made       map[string]featurize.Part // by log, partition, offset and first row
}

func (r *run) newMaker(set *wire.FeatureSet) (*maker, error) {
	core, err := featurize.New(set, featurize.Settings{
		Source:         events.Source{Limits: arrowio.DefaultLimits()},
		MaxOutputBytes: r.loaded.Stages.Featurize.MaxOutputBytes,
	})
	return &maker{core, map[string]featurize.Part{}}, err
}

// compare returns the rows of a message, or how it differs from the expected one.
func (m *maker) compare(log, partition int, source Message, have feature) (rows []int32, fault string) {
	key := func(first int32) string { return fmt.Sprint(log, partition, have.SourceOffset, first) }
	if _, ok := m.made[key(0)]; !ok {
		rec := pipeline.Record{Topic: have.SourceTopic, Partition: partition, Offset: have.SourceOffset, Value: source.Value}
		err := m.featurizer.Process(rec, 0, have.record.Time, func(part featurize.Part) error {
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
	of.SourceLog, of.SourceBatch = "", wire.BatchMark{} // messages of the input have no log
	if !ok || want.Rows != of || !bytes.Equal(want.Output.Value, have.record.Value) {
		return nil, fmt.Sprintf("differs from the features that set %s makes of these rows", have.FeatureSetID)
	}
	batches, err := arrowio.NewDecoder(arrowio.DefaultLimits()).Decode(have.record.Value)
	if err != nil {
		return nil, err.Error()
	}
	defer batches[0].Release()
	numbers, _ := batches[0].Column(batches[0].Schema().FieldIndices("row")[0]).(*array.Int32)
	return slices.Clone(numbers.Int32Values()), ""
}
