package stages_test

import (
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// everyRow makes explorations score every row in the log at the time of the plan; no rows are held
// out for judging models.
func everyRow(s *stages.Settings) {
	s.Exploration.SampleRate = 1
	s.Train.HeldOutFraction = 0
}

func TestFlowRowsThatAreRejected(t *testing.T) {
	t.Parallel()
	bound := 50.0
	f := newFlow(t, 1, func(s *stages.Settings) {
		everyRow(s)
		s.Events.LabelMax, s.Events.NaN = &bound, encoder.NaNReject
	})
	reasons := map[int64]string{
		1003: "nan_feature", 1004: "inf_feature", 1008: "nan_label", 1011: "inf_label", 1012: "label_out_of_bounds",
	}
	edit := func(n int64, r *row) {
		switch n {
		case 1003:
			r.x[0] = math.NaN()
		case 1004:
			r.x[2] = math.Inf(-1)
		case 1008:
			r.y = math.NaN()
		case 1011:
			r.y = math.Inf(1)
		case 1012:
			r.y = 51.0
		case 1001:
			r.x[0] = missing
		case 1005:
			r.color = "mauve"
		case 1006:
			r.color = nil
		case 1009, 1010:
			r.y = nil
		case 1013:
			r.y, r.x[0] = nil, math.NaN()
		}
	}
	f.sendRows(0, 0, 400)
	odd := rows(1000, 1020, edit)
	defer odd.Release()
	f.send(0, odd, 20)
	f.sendRows(0, 400, 500)
	w := f.start(allButTrain, nil)
	set := f.set(1)
	f.featurizedUpTo(0, 26)
	w.stop()

	c := set.Set.Lineage.Counts
	if c.Rows != 520 || c.Rejected != 5 || c.Unlabelled != 3 || c.Scored != 512 || !c.Reconciles() {
		t.Errorf("lineage %+v", c)
	}
	if c.Imputed != 2 || c.UnseenCategory != 1 {
		t.Errorf("%d imputed, %d unseen categories", c.Imputed, c.UnseenCategory)
	}
	totals := w.Env.Meter.Totals()
	if totals.Scoring != c {
		t.Errorf("counters %+v, lineage %+v", totals.Scoring, c)
	}
	if c := totals.Featurize; c.Rows != 520 || c.Rejected != 6 || c.Featurized != 514 || c.Imputed != 2 ||
		c.UnseenCategory != 1 {
		t.Errorf("featurized %+v", c)
	}
	for stage, want := range map[meter.Stage]int{meter.StageSubsample: 5, meter.StageFeaturize: 6} {
		deadLetters := f.deadLetters(0, stage)
		if len(deadLetters) != 1 || deadLetters[0].Rows == 0 || deadLetters[0].Offset != 20 ||
			deadLetters[0].Reason != "nan_feature" {
			t.Fatalf("%s: %d dead letters, %+v", stage, len(deadLetters), deadLetters)
		}
		got := rejectedRows(t, deadLetters[0])
		if len(got) != want {
			t.Errorf("%s rejected %v", stage, got)
		}
		for row, reason := range got {
			if wanted := reasons[1000+int64(row)]; wanted != reason && row != 13 {
				t.Errorf("%s: row %d is rejected for %s, want %q", stage, row, reason, wanted)
			}
		}
	}
	var out []int32
	for _, part := range f.features(0) {
		if part.SourceOffset == 20 {
			out = append(out, part.Rows...)
		}
	}
	if want := []int32{0, 1, 2, 5, 6, 7, 9, 10, 14, 15, 16, 17, 18, 19}; !slices.Equal(out, want) {
		t.Errorf("rows %v are featurized, want %v", out, want)
	}
}

// rejectedRows reads a dead letter of rows and returns the reasons by row number in the message. It
// checks that the rows match the event's.
func rejectedRows(t *testing.T, l deadLetter) map[int32]string {
	t.Helper()
	batches, err := arrowio.NewDecoder(arrowio.DefaultLimits()).Decode(l.record.Value)
	if err != nil || len(batches) != 1 {
		t.Fatalf("%d batches, %v", len(batches), err)
	}
	defer batches[0].Release()
	column := func(name string) arrow.Array {
		at := batches[0].Schema().FieldIndices(name)
		if len(at) != 1 {
			t.Fatalf("column %s of %v", name, batches[0].Schema())
		}
		return batches[0].Column(at[0])
	}
	rows := column("eerf_row").(*array.Int32)
	reasons := column("eerf_reason").(*array.String)
	ids := column("id").(*array.Int64)
	found := map[int32]string{}
	for i := range int(batches[0].NumRows()) {
		found[rows.Value(i)] = reasons.Value(i)
		if ids.Value(i) != 1000+int64(rows.Value(i)) {
			t.Errorf("row %d holds event %d", rows.Value(i), ids.Value(i))
		}
	}
	return found
}

// The memory for a batch determines which rows are readable. The spec states it, so that a
// differently configured process scores the same rows.
func TestFlowTheBudgetOfBatchesIsTheSpecs(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, everyRow)
	f.sendRows(0, 0, 400)
	single := rows(400, 1000, nil)
	var batch []pipeline.Record
	for i := range int64(600) {
		batch = append(batch, message(t, single, i, i+1))
	}
	f.produce(f.settings.Topics.Events, 0, batch...)
	f.start([]meter.Stage{meter.StageCalibrate, meter.StageSelection}, nil)
	f.state("a plan", func(s state.Snapshot) bool { return s.Running() != nil })
	f.batchBudget = 64 << 10
	f.start([]meter.Stage{meter.StageSubsample}, nil)
	lineage := f.set(1).Set.Lineage
	if c := lineage.Counts; c.Rows != 1000 || c.Undecodable != 0 {
		t.Errorf("%d rows, %d refused", c.Rows, c.Undecodable)
	}
	if budget := f.follower.Snapshot().Spec.BatchBudget; budget != int64(kafka.DefaultConfig().BatchBudgetBytes) {
		t.Errorf("the spec has %d bytes", budget)
	}
}

func TestFlowABatchThatExpandsBeyondTheBudget(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, everyRow)
	f.batchBudget = 256 << 10
	f.sendRows(0, 0, 400)
	other, err := kgo.NewClient(kgo.SeedBrokers(f.server.Addrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchMaxBytes(16<<20), kgo.ProducerBatchCompression(kgo.ZstdCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.ProduceSync(f.ctx, &kgo.Record{
		Topic: f.settings.Topics.Events,
		Value: make([]byte, 8<<20),
	}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	f.sendRows(0, 400, 500)
	w := f.start(allButTrain, nil)
	set := f.set(1)
	f.featurizedUpTo(0, 26)
	w.stop()
	if c := set.Set.Lineage.Counts; c.Rows != 500 || c.Scored != 500 || c.Undecodable != 1 || !c.Reconciles() {
		t.Errorf("lineage %+v", c)
	}
	if c := w.Env.Meter.Totals().Featurize; c.Rows != 500 || c.Undecodable != 1 {
		t.Errorf("featurized %+v", c)
	}
	for _, stage := range []meter.Stage{meter.StageSubsample, meter.StageFeaturize} {
		deadLetters := f.deadLetters(0, stage)
		if len(deadLetters) != 1 || deadLetters[0].Reason != "unreadable_batch" || deadLetters[0].Offset != 20 ||
			deadLetters[0].Topic != f.settings.Topics.Events ||
			deadLetters[0].record.Value != nil {
			t.Errorf("%s: %+v", stage, deadLetters)
		}
	}
}
