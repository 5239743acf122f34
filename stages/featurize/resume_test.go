package featurize

import (
	"errors"
	"slices"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// outputOf is a record of features that names the event it came from.
func outputOf(k *kit, offset int64) pipeline.Record {
	coordinates := wire.FeatureBatch{
		FeatureSetID:    k.set.ID(),
		SourceTopic:     k.runner.Env.Topics.Events,
		SourcePartition: 2,
		SourceOffset:    offset,
		RowCount:        1,
		SourceRows:      1,
	}
	r := pipeline.Record{Value: []byte("x")}
	for _, h := range coordinates.Headers() {
		r.Headers = append(r.Headers, pipeline.Header{Key: h.Key, Value: h.Value})
	}
	return r
}

// A record of features that names an event after the end of the log, or none, does not move the
// position: it would skip a backlog.
func TestFeaturizeIgnoresOutputsPastTheEndOfEvents(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	rows := stagestest.Events(t, stagestest.Regression, 10, 41, stagestest.Faults{})
	k.send(event(t, 0, rows), event(t, 1, rows))
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	if err := k.part.await(); err != nil {
		t.Fatal(err)
	}
	k.send(event(t, 2, rows)) // the backlog
	strange := []pipeline.Record{outputOf(k, 3), outputOf(k, 1<<60), outputOf(k, 1<<63-1), {Value: []byte("hello")}}
	if _, err := k.Produce(t.Context(), k.runner.Env.Topics.Features, 2, strange); err != nil {
		t.Fatal(err)
	}
	k.committed = -1
	if k.restart(); k.part.next != 2 {
		t.Errorf("featurizing continues at offset %d", k.part.next)
	}
}

// stepAndWait featurizes one fetch and waits for the acknowledgement.
func (k *kit) stepAndWait() {
	k.t.Helper()
	if err := errors.Join(k.step(), k.part.await()); err != nil {
		k.t.Fatal(err)
	}
}

// A log that was truncated between two runs holds other events at offsets that outputs name.
// Featurizing continues after the last output whose event remains, under a new name of the log.
func TestFeaturizeContinuesAfterTruncation(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	rows := stagestest.Events(t, stagestest.Regression, 10, 41, stagestest.Faults{})
	for offset := range int64(5) {
		k.send(event(t, offset, rows))
		k.stepAndWait()
	}
	was := k.part.source
	k.LoseEnd(k.runner.Env.Topics.Events, 2, 3)
	other := stagestest.Events(t, stagestest.Regression, 11, 42, stagestest.Faults{})
	for offset := int64(3); offset < 6; offset++ {
		k.send(event(t, offset, other))
	}
	for run := range 2 { // the second one sees outputs of the new name first
		k.committed = 5 // of the lost events
		k.restart()
		if next := []int64{3, 6}[run]; k.part.next != next || k.part.source != (sourceLog{was.id, was.losses + 1}) {
			t.Errorf("run %d goes on at offset %d of log %v, want %d after %v", run, k.part.next, k.part.source, next, was)
		}
		for k.part.next < 6 {
			k.stepAndWait()
		}
	}
	if n := len(k.Records(k.runner.Env.Topics.Features, 2)); n != 5+3 {
		t.Errorf("%d outputs", n)
	}
	if changes := k.runner.Env.Meter.Activity().LogChanges; len(changes) != 1 {
		t.Errorf("counted %v", changes)
	}
}

// A committed offset past the end of the output wins. If an operator set it, the skipped rows are
// logged and counted once. An earlier offset is ignored.
func TestCommittedOffsetPastTheOutputWins(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	rows := stagestest.Events(t, stagestest.Regression, 10, 41, stagestest.Faults{})
	k.send(event(t, 0, rows), event(t, 1, rows))
	k.stepAndWait()
	k.send(event(t, 2, rows), event(t, 3, rows), event(t, 4, rows))
	for committed, want := range map[int64]int64{-1: 2, 0: 2, 2: 2, 4: 4, 5: 5, 6: 2} {
		for _, reset := range []bool{false, true} {
			core, logs := observer.New(zap.WarnLevel)
			k.runner.Env.Meter = meter.New()
			k.log, k.committed, k.reset = zap.New(core), committed, reset
			if k.restart(); k.part.next != want {
				t.Errorf("committed %d: goes on at offset %d, want %d", committed, k.part.next, want)
			}
			leaves := int64(0)
			if reset {
				leaves = want - 2
			}
			skipped := logs.FilterField(zap.Int64("skipped_offsets", leaves))
			said := skipped.FilterField(zap.Int64("skipped_rows", 10*leaves)).Len()
			if missing := k.runner.Env.Meter.Totals().Featurize.MissingOffsets; missing != leaves ||
				(leaves > 0) != (said == 1) {
				t.Errorf("committed %d, reset %t: counted %d, want %d; logged %v", committed, reset, missing, leaves, logs.All())
			}
			if want == 2 && committed <= 2 && logs.Len() > 0 {
				t.Errorf("committed %d: logged %v", committed, logs.All())
			}
		}
	}
	k.committed, k.reset = 4, true
	k.restart()
	if err := k.part.Close(t.Context()); err != nil || k.committed != 4 || k.reset {
		t.Fatalf("offset %d is committed, %v", k.committed, err)
	}
	k.runner.Env.Meter = meter.New()
	if k.restart(); k.part.next != 4 || k.runner.Env.Meter.Totals().Featurize.MissingOffsets != 0 {
		t.Errorf("the second time, featurizing goes on at %d, and %d are counted", k.part.next,
			k.runner.Env.Meter.Totals().Featurize.MissingOffsets)
	}
}

// An operator may also reset a group without any output.
func TestResetBeforeTheFirstOutputIsCounted(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	rows := stagestest.Events(t, stagestest.Regression, 10, 41, stagestest.Faults{})
	k.send(event(t, 0, rows), event(t, 1, rows), event(t, 2, rows))
	k.committed, k.reset = 2, true
	if k.restart(); k.part.next != 2 || k.runner.Env.Meter.Totals().Featurize.MissingOffsets != 2 {
		t.Errorf("featurizing goes on at %d, and %d are counted", k.part.next,
			k.runner.Env.Meter.Totals().Featurize.MissingOffsets)
	}
}

// Outputs that do not name their log and batch are no position. Otherwise a copied or forged output
// of the newest event would skip the backlog.
func TestOutputsWithoutLogAndBatchAreIgnored(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	rows := stagestest.Events(t, stagestest.Regression, 10, 41, stagestest.Faults{})
	k.send(event(t, 0, rows))
	k.stepAndWait()
	k.send(event(t, 1, rows), event(t, 2, rows), event(t, 3, rows)) // the backlog
	log := k.part.source
	coordinates := wire.FeatureBatch{
		FeatureSetID:    k.set.ID(),
		SourceTopic:     k.runner.Env.Topics.Events,
		SourcePartition: 2,
		SourceOffset:    3,
		RowCount:        10,
		SourceRows:      10,
	}
	for what, edit := range map[string]func(*wire.FeatureBatch){
		"without a log and a batch": func(*wire.FeatureBatch) {},
		"without a batch":           func(b *wire.FeatureBatch) { b.SourceLog = log.String() },
	} {
		forged := coordinates
		edit(&forged)
		out := pipeline.Record{Value: []byte("x"), Headers: slices.Concat(nil, forged.Headers())}
		if _, err := k.Broker.Produce(t.Context(), k.runner.Env.Topics.Features, 2, []pipeline.Record{out}); err != nil {
			t.Fatal(err)
		}
		core, logs := observer.New(zap.WarnLevel)
		k.log, k.committed = zap.New(core), -1
		if k.restart(); k.part.next != 1 || k.part.source != log {
			t.Errorf("%s: featurizing continues at offset %d of %v", what, k.part.next, k.part.source)
		}
		if logs.FilterMessageSnippet("another program wrote them").Len() != 1 {
			t.Errorf("%s: logged %v", what, logs.All())
		}
	}
}

// If retention has emptied the output, featurizing continues at the committed offset.
func TestEmptiedOutputResumesAtCommittedOffset(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	rows := stagestest.Events(t, stagestest.Regression, 10, 41, stagestest.Faults{})
	k.send(event(t, 0, rows), event(t, 1, rows))
	k.stepAndWait()
	k.committed = 1
	k.Expire(k.runner.Env.Topics.Features, 2, 2)
	if k.restart(); k.part.next != 1 {
		t.Errorf("featurizing continues at offset %d", k.part.next)
	}
}

// Events that arrive after the first start are featurized, even if the first process is killed
// immediately.
func TestFeaturizeFromLatestCommitsItsStart(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	k.runner.Config.Start = StartLatest
	rows := stagestest.Events(t, stagestest.Regression, 10, 41, stagestest.Faults{})
	k.send(event(t, 0, rows), event(t, 1, rows))
	if k.restart(); k.part.next != 2 || k.committed != 2 {
		t.Errorf("featurizing begins at offset %d, committed is %d", k.part.next, k.committed)
	}
}
