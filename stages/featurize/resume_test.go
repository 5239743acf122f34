package featurize

import (
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// claim is a record of features that names the event it came from.
func claim(k *kit, offset int64) pipeline.Record {
	coordinates := wire.FeatureBatch{FeatureSetID: k.set.ID(), SourceTopic: k.runner.Topics.Events, SourcePartition: 2, SourceOffset: offset, RowCount: 1, SourceRows: 1}
	r := pipeline.Record{Value: []byte("x")}
	for _, h := range coordinates.Headers() {
		r.Headers = append(r.Headers, pipeline.Header{Key: h.Key, Value: h.Value})
	}
	return r
}

// A record of features that names an event beyond the end of the log does not move the position, or a backlog would be
// skipped.
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
	for _, offset := range []int64{3, 1 << 60, 1<<63 - 1} {
		if _, err := k.Produce(t.Context(), k.runner.Topics.Features, 2, []pipeline.Record{claim(k, offset)}); err != nil {
			t.Fatal(err)
		}
	}
	k.committed = -1
	if k.restart(); k.part.next != 2 {
		t.Errorf("featurizing goes on at offset %d", k.part.next)
	}
}

// What arrives after the first start is featurized, even by the next process if the first was killed at once.
func TestFeaturizeFromTheLatestCommitsWhereItBegan(t *testing.T) {
	k := newKit(t, 1<<20, 0, 0)
	k.runner.Config.Start = StartLatest
	rows := stagestest.Events(t, stagestest.Regression, 10, 41, stagestest.Faults{})
	k.send(event(t, 0, rows), event(t, 1, rows))
	if k.restart(); k.part.next != 2 || k.committed != 2 {
		t.Errorf("featurizing begins at offset %d, committed is %d", k.part.next, k.committed)
	}
}
