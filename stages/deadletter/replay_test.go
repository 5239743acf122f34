package deadletter

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/topics"
)

// replayKit is a broker with dead letters of partition 1.
type replayKit struct {
	*pipelinetest.Broker
	t      *testing.T
	topics topics.Config
	rows   arrow.Record // 20 rows, numbered as in their message
}

func newReplayKit(t *testing.T) *replayKit {
	t.Helper()
	k := &replayKit{
		Broker: pipelinetest.NewBroker(),
		t:      t,
		topics: topics.Default(),
		rows:   stagestest.Events(t, stagestest.Regression, 20, 7, stagestest.Faults{}),
	}
	k.AddConfiguredTopic(k.topics.Events, 2, map[string]string{"max.message.bytes": "100000"})
	k.AddTopic(k.topics.DeadLetters, 2)
	return k
}

// source is the refused message at an offset of events.
func (k *replayKit) source(offset int64, value []byte) pipeline.Record {
	return pipeline.Record{
		Topic: k.topics.Events, Partition: 1, Offset: offset, Key: []byte(fmt.Sprint("key-", offset)), Value: value,
		Headers: []pipeline.Header{{Key: "trace", Value: []byte("x")}},
	}
}

// write appends dead letters and returns the place of the first one.
func (k *replayKit) write(drafts ...Draft) Place {
	k.t.Helper()
	var records []pipeline.Record
	for _, d := range drafts {
		records = append(records, d.Record)
	}
	first, err := k.Produce(k.t.Context(), k.topics.DeadLetters, 1, records)
	if err != nil {
		k.t.Fatal(err)
	}
	return Place{1, first}
}

// refuse writes the dead letter of a message refused whole.
func (k *replayKit) refuse(stage meter.Stage, offset int64, value []byte) Place {
	return k.write(Refused(stage, k.source(offset, value), errors.New("for a test"), stagestest.Noon))
}

// reject writes the dead letter of rows of a message.
func (k *replayKit) reject(stage meter.Stage, offset int64, rows ...int32) Place {
	k.t.Helper()
	rejected := make([]RejectedRow, len(rows))
	for i, row := range rows {
		rejected[i] = RejectedRow{Row: row, Reason: "nan_feature"}
	}
	budget := arrowio.NewBudget(1 << 20)
	deadLetter, err := Rejected(stage, k.source(offset, nil), k.rows, 0, rejected, &budget, stagestest.Noon)
	if err != nil {
		k.t.Fatal(err)
	}
	return k.write(deadLetter)
}

// list lists the dead letters that the filter selects.
func (k *replayKit) list(filter Filter, limit int) Listing {
	k.t.Helper()
	list, err := List(k.t.Context(), k, zap.NewNop(), k.topics.DeadLetters, filter, limit, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	return list
}

func (k *replayKit) replay(options ReplayOptions) ReplayReport {
	k.t.Helper()
	r := Replayer{
		Env: env.Env{
			Broker: k,
			Topics: k.topics,
			Clock:  func() time.Time { return stagestest.Noon },
			Logger: zap.NewNop(),
		},
		Limits: events.DefaultLimits().Decoder(),
	}
	report, err := r.Replay(k.t.Context(), options)
	if err != nil {
		k.t.Fatal(err)
	}
	return report
}

// want checks the numbers of outcomes, and of events and rows sent.
func (k *replayKit) want(report ReplayReport, outcomes map[ReplayOutcome]int64, events, rows int64) {
	k.t.Helper()
	if !maps.Equal(report.Outcomes, outcomes) || report.Events != events || report.Rows != rows {
		k.t.Errorf("%+v, want %v, %d events, %d rows", report, outcomes, events, rows)
	}
}

// ids lists the rows of the events of partition 1, message by message, and checks keys and headers.
func (k *replayKit) ids() (list [][]string) {
	k.t.Helper()
	for _, rec := range k.Records(k.topics.Events, 1) {
		_, marked := rec.Header(wire.HeaderReplayedRows)
		others := slices.DeleteFunc(slices.Clone(rec.Headers), func(h pipeline.Header) bool {
			return h.Key == wire.HeaderReplayedRows
		})
		if len(rec.Key) == 0 || stagestest.Header(k.t, rec, "trace") != "x" || len(others) != 1 ||
			!rec.Time.Equal(stagestest.Noon) {
			k.t.Errorf("event %+v", rec)
		}
		batches := stagestest.Decode(k.t, rec.Value)
		if !batches[0].Schema().Equal(k.rows.Schema()) {
			k.t.Errorf("columns %v", batches[0].Schema())
		}
		var ids []string
		if rows := batches[0].NumRows(); marked != (rows < k.rows.NumRows()) {
			k.t.Errorf("%d of %d rows, marked as replayed rows: %v", rows, k.rows.NumRows(), marked)
		}
		for i := range int(batches[0].NumRows()) {
			ids = append(ids, batches[0].Column(5).(*array.String).Value(i))
		}
		list = append(list, ids)
		events.Release(batches)
	}
	return list
}

// Several stages refuse the same message or rows. A replay sends each once, and the next replay
// resends all.
func TestReplaySendsEachRowOnce(t *testing.T) {
	k := newReplayKit(t)
	whole := stagestest.Message(t, k.rows)
	k.refuse(meter.StageSubsample, 3, whole)
	k.refuse(meter.StageFeaturize, 3, whole)
	k.reject(meter.StageSubsample, 4, 1, 3)
	k.reject(meter.StageFeaturize, 4, 1, 3, 5, 6)
	k.reject(meter.StageFeaturize, 3, 2)
	sent := map[ReplayOutcome]int64{ReplaySent: 3, ReplayDuplicate: 2}

	k.want(k.replay(ReplayOptions{DryRun: true}), sent, 3, 4)
	if len(k.Records(k.topics.Events, 1)) != 0 {
		t.Error("the dry run wrote events")
	}
	k.want(k.replay(ReplayOptions{}), sent, 3, 4)
	ids := k.ids()
	if len(ids) != 3 || len(ids[0]) != 20 || !slices.Equal(ids[1], []string{"row-1", "row-3"}) ||
		!slices.Equal(ids[2], []string{"row-5", "row-6"}) {
		t.Errorf("%v", ids)
	}
	if got := k.Records(k.topics.Events, 1)[0].Value; !slices.Equal(got, whole) {
		t.Error("the message is not byte for byte the refused one")
	}
	k.want(k.replay(ReplayOptions{}), sent, 3, 4)
	k.want(k.replay(ReplayOptions{Limit: 1}), map[ReplayOutcome]int64{ReplaySent: 1}, 1, 0)
	if got := len(k.ids()); got != 7 {
		t.Errorf("%d events", got)
	}
}

func TestDeadLettersThatCannotBeReplayed(t *testing.T) {
	k := newReplayKit(t)
	k.write(Refused(meter.StageTrain, pipeline.Record{Topic: "features", Partition: 1, Offset: 1, Value: []byte("x")},
		ErrOutputTooLarge, stagestest.Noon))
	tooLarge := Refused(meter.StageFeaturize, k.source(8, []byte("x")), ErrOutputTooLarge, stagestest.Noon)
	k.write(Draft{Record: bare(tooLarge.Record)})
	k.refuse(meter.StageSubsample, 10, make([]byte, 200_000))
	k.refuse(meter.StageSubsample, 11, stagestest.Message(t, k.rows)) // in one request with the one that is too large
	report := k.replay(ReplayOptions{})
	k.want(report, map[ReplayOutcome]int64{ReplayNotEvents: 1, ReplayNoValue: 1, ReplayTooLarge: 1, ReplaySent: 1}, 1, 0)
	if len(report.Unsent) != 3 || report.Unsent[2].Letter.Offset != 10 || report.Letters != 4 {
		t.Errorf("%+v", report)
	}
	k.ids()
}

func TestReplayOfRepairedValues(t *testing.T) {
	k := newReplayKit(t)
	place := k.reject(meter.StageFeaturize, 4, 1, 3, 5)
	whole := k.refuse(meter.StageSubsample, 6, []byte("no arrow"))
	replay := func(rows, message []byte) ReplayReport {
		values := map[Place][]byte{place: rows, whole: message}
		return k.replay(ReplayOptions{
			Repaired: func(p Place) ([]byte, bool, error) { return values[p], values[p] != nil, nil },
		})
	}
	for name, value := range map[string][]byte{"no row numbers": stagestest.Message(t, k.rows), "no arrow": []byte("x")} {
		report := replay(value, nil)
		if report.Outcomes[ReplayUnreadable] != 1 || report.Events != 0 || report.Unsent[0].Detail == "" {
			t.Errorf("%s: %+v", name, report)
		}
	}
	taken, err := events.TakeRows(k.rows, []int32{1, 5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Release()
	repaired, err := wire.EncodeRejectedRows(taken, []int32{1, 5}, []string{"", ""})
	if err != nil {
		t.Fatal(err)
	}
	k.want(replay(repaired, stagestest.Message(t, k.rows)), map[ReplayOutcome]int64{ReplaySent: 2}, 2, 2)
	if ids := k.ids(); len(ids) != 2 || !slices.Equal(ids[0], []string{"row-1", "row-5"}) || len(ids[1]) != 20 {
		t.Errorf("%v", ids)
	}
}

func TestListLettersFiltersAndCounts(t *testing.T) {
	k := newReplayKit(t)
	for i := range int64(30) {
		k.write(Refused(meter.StageSubsample, k.source(i, []byte("x")), ErrOutputTooLarge,
			stagestest.Noon.Add(time.Duration(i)*time.Minute)))
	}
	k.reject(meter.StageFeaturize, 40, 1, 3)
	other := []pipeline.Record{{Value: []byte("not a dead letter")}}
	if _, err := k.Produce(t.Context(), k.topics.DeadLetters, 0, other); err != nil {
		t.Fatal(err)
	}
	list := k.list(Filter{}, 5)
	if list.Total != 31 || len(list.Newest) != 5 || list.Newest[0].Offset != 29 || list.Newest[4].Offset != 25 {
		t.Fatalf("%+v", list)
	}
	want := []Count{
		{string(meter.StageFeaturize), "nan_feature", 1, 2, stagestest.Noon, stagestest.Noon},
		{string(meter.StageSubsample), ReasonOutputTooLarge, 30, 0, stagestest.Noon, stagestest.Noon.Add(29 * time.Minute)},
	}
	if !slices.Equal(list.Counts, want) {
		t.Errorf("%+v", list.Counts)
	}
	for name, c := range map[string]struct {
		filter Filter
		total  int64
	}{
		"stage":  {Filter{Stages: []string{string(meter.StageFeaturize), "none"}}, 1},
		"reason": {Filter{Reasons: []string{ReasonOutputTooLarge}}, 30},
		"since":  {Filter{Since: stagestest.Noon.Add(20 * time.Minute)}, 10},
		"place":  {Filter{Places: []Place{{1, 3}, {0, 3}, {1, 99}}}, 1},
		"all":    {Filter{Stages: []string{string(meter.StageFeaturize)}, Reasons: []string{ReasonOutputTooLarge}}, 0},
	} {
		if list := k.list(c.filter, 0); list.Total != c.total {
			t.Errorf("%s: %d dead letters", name, list.Total)
		}
	}
}
