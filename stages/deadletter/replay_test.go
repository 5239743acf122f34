package deadletter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/registry"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

func TestReplayFeedsEachInputOnce(t *testing.T) {
	k := newReplayKit(t)
	whole := stagestest.Message(t, k.rows)
	k.refuse(meter.StageSubsample, 3, whole)
	k.refuse(meter.StageFeaturize, 3, whole)
	k.reject(meter.StageSubsample, 4, 1, 3)
	k.reject(meter.StageFeaturize, 4, 1, 3, 5, 6)
	once := []string{"3 []", "4 [1 3]", "4 [5 6]"}

	dry := k.replay(ReplayOptions{DryRun: true})
	if dry.Events != 3 || dry.Rows != 4 || len(k.inputs()) != 0 || len(k.Records(k.topics.DeadLetters, 1)) != 4 {
		t.Errorf("dry run: %+v", dry)
	}
	report := k.replay(ReplayOptions{})
	if want := []ReplayOutcome{ReplaySent, ReplayAlready, ReplaySent, ReplaySent}; !slices.Equal(outcomes(report), want) || report.Events != 3 || report.Rows != 4 {
		t.Errorf("%+v", report)
	}
	if got := k.inputs(); !slices.Equal(got, once) {
		t.Errorf("%v", got)
	}
	if got := k.Records(k.topics.Events, 1)[0].Value; !slices.Equal(got, whole) {
		t.Error("the message is not byte for byte the refused one")
	}
	if report = k.replay(ReplayOptions{}); report.Events != 0 || len(k.inputs()) != 3 {
		t.Errorf("replayed twice: %+v", report)
	}
	report = k.replay(ReplayOptions{Force: true})
	if got := k.inputs(); report.Events != 3 || !slices.Equal(got, append(once, once...)) {
		t.Errorf("by force: %v", got)
	}
	list := k.list(Filter{}, 0)
	if list.Total != 4 {
		t.Fatalf("%+v", list)
	}
	for _, l := range list.Newest {
		if got := list.Ledger.State(l.DeadLetter); got != ReplayDone {
			t.Errorf("dead letter %v: %q", l.Place, got)
		}
	}
}

// Wherever a replay dies, and whatever answer it misses, the next one with the same options completes it.
func TestReplayThatIsInterruptedIsFinished(t *testing.T) {
	for dieAt := 1; dieAt <= 3; dieAt++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("request %d, after %v", dieAt, after), func(t *testing.T) {
				k := newReplayKit(t)
				k.refuse(meter.StageSubsample, 3, stagestest.Message(t, k.rows))
				k.reject(meter.StageFeaturize, 4, 1, 3)
				k.dieAt, k.dieAfter = dieAt, after
				if _, err := k.replayer().Replay(t.Context(), ReplayOptions{}); !errors.Is(err, errDied) {
					t.Fatal(err)
				}
				list := k.list(Filter{}, 0)
				begun := dieAt > 1 || after
				if got := list.Ledger.State(list.Newest[0].DeadLetter); begun == (got == ReplayNever) {
					t.Errorf("state %q", got)
				}
				k.replay(ReplayOptions{})
				if got, want := k.inputs(), []string{"3 []", "4 [1 3]"}; !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
				}
			})
		}
	}
}

func TestReplayWhoseRequestsAreNotAnswered(t *testing.T) {
	for request := 1; request <= 3; request++ {
		k := newReplayKit(t)
		k.refuse(meter.StageSubsample, 3, stagestest.Message(t, k.rows))
		k.reject(meter.StageFeaturize, 4, 1, 3)
		k.unheard = request
		if report := k.replay(ReplayOptions{}); report.Events != 2 {
			t.Errorf("request %d: %+v", request, report)
		}
		if got, want := k.inputs(), []string{"3 []", "4 [1 3]"}; !slices.Equal(got, want) {
			t.Errorf("request %d: %v, want %v", request, got, want)
		}
		if report := k.replay(ReplayOptions{}); report.Events != 0 {
			t.Errorf("request %d: again %+v", request, report)
		}
	}
}

func TestReplayOutcomes(t *testing.T) {
	k := newReplayKit(t)
	enc := learn(t, stagestest.Events(t, stagestest.Regression, 400, 41, stagestest.Faults{}))
	other := Refused(meter.StageTrain, pipeline.Record{Topic: "features", Partition: 1, Offset: 1, Value: []byte("x")}, ErrOutputTooLarge, stagestest.Noon)
	bare := bareDeadLetter(Refused(meter.StageFeaturize, k.source(8, []byte("x")), ErrOutputTooLarge, stagestest.Noon))
	k.refuse(meter.StageSubsample, 3, []byte("no arrow"))
	k.write(other, bare)
	k.refuse(meter.StageFeaturize, 5, stagestest.Message(t, events.WithoutColumns(k.rows, "a")))
	bad := stagestest.Events(t, stagestest.Regression, 20, 7, stagestest.Faults{BadFeature: 0.5})
	rejected := k.rejectBad(enc, bad, 9)
	huge := k.refuse(meter.StageSubsample, 10, append(stagestest.Message(t, k.rows), make([]byte, 100_000)...))

	report := k.replay(ReplayOptions{Encoder: enc})
	want := []ReplayOutcome{ReplayRefusedAgain, ReplayNotEvents, ReplayNoValue, ReplayRefusedAgain, ReplayRefusedAgain, ReplayTooLarge}
	if !slices.Equal(outcomes(report), want) || report.Events != 0 || report.Letters[4].Dropped != int64(rejected) {
		t.Errorf("%v", report)
	}
	report = k.replay(ReplayOptions{Encoder: enc, Unchecked: true})
	want = []ReplayOutcome{ReplaySent, ReplayNotEvents, ReplayNoValue, ReplaySent, ReplaySent, ReplayTooLarge}
	if !slices.Equal(outcomes(report), want) || report.Events != 3 || report.Rows != int64(rejected) {
		t.Errorf("unchecked: %v, %d events", outcomes(report), report.Events)
	}
	// A letter that was too large does not count as replayed.
	report = k.replay(ReplayOptions{Unchecked: true, Filter: Filter{Places: []Place{huge}}})
	if want := []ReplayOutcome{ReplayTooLarge}; !slices.Equal(outcomes(report), want) {
		t.Errorf("again: %v", outcomes(report))
	}
}

// learn returns the encoder for some rows.
func learn(t *testing.T, rows arrow.Record) *encoder.Encoder {
	t.Helper()
	config := events.Default()
	config.Label, config.Passthrough = []string{"y"}, []string{"id"}
	c := encoder.NewCalibrator(config.Options())
	if err := c.Add(rows); err != nil {
		t.Fatal(err)
	}
	enc, _, err := c.Encoder()
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

// rejectBad writes the dead letter of the rows in a message that the encoder rejects, and returns their number.
func (k *replayKit) rejectBad(enc *encoder.Encoder, bad arrow.Record, offset int64) int {
	k.t.Helper()
	var rows encoder.Rows
	if err := enc.Encode(&rows, bad, nil); err != nil {
		k.t.Fatal(err)
	}
	var rejected []RejectedRow
	for _, r := range rows.Rejected {
		rejected = append(rejected, RejectedRow{Row: r.Row, Reason: r.Reason})
	}
	deadLetter, err := Rejected(meter.StageFeaturize, k.source(offset, nil), bad, 0, rejected, stagestest.Noon)
	if err != nil {
		k.t.Fatal(err)
	}
	k.write(deadLetter)
	return len(rejected)
}

func TestReplayOfRepairedValues(t *testing.T) {
	k := newReplayKit(t)
	place := k.reject(meter.StageFeaturize, 4, 1, 3, 5)
	whole := k.refuse(meter.StageSubsample, 6, []byte("no arrow"))
	encode := func(rows ...int32) []byte {
		taken, err := events.TakeRows(k.rows, rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Release()
		value, err := wire.EncodeRejectedRows(taken, rows, make([]string, len(rows)))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	repair := func(values map[Place][]byte) ReplayOptions {
		return ReplayOptions{Repaired: func(p Place) ([]byte, bool, error) {
			value, ok := values[p]
			return value, ok, nil
		}}
	}
	for name, value := range map[string][]byte{
		"a row of its own": encode(1, 2), "no numbers": stagestest.Message(t, k.rows), "no arrow": []byte("x"),
	} {
		report := k.replay(repair(map[Place][]byte{place: value}))
		if want := []ReplayOutcome{ReplayBadRepair}; !slices.Equal(outcomes(report), want) || report.Letters[0].Detail == "" {
			t.Errorf("%s: %+v", name, report)
		}
	}
	fixed := stagestest.Message(t, k.rows)
	report := k.replay(repair(map[Place][]byte{place: encode(1, 5), whole: fixed}))
	if report.Events != 2 || report.Rows != 2 {
		t.Errorf("%+v", report)
	}
	// The skipped row can still be replayed.
	k.replay(ReplayOptions{Filter: Filter{Stages: []string{meter.StageFeaturize}}})
	if got, want := k.inputs(), []string{"4 [1 5]", "6 []", "4 [3]"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := k.Records(k.topics.Events, 1)[1].Value; !slices.Equal(got, fixed) {
		t.Error("the repaired message is another one")
	}
}

// Rows of a large dead letter become several events, so that none has too many headers.
func TestReplayOfManyRows(t *testing.T) {
	k := newReplayKit(t)
	k.AddTopic(k.topics.Events, 2) // without a limit
	const n = 2*wire.MaxReplayRows + 5
	k.rows = stagestest.Events(t, stagestest.Regression, 2*n, 7, stagestest.Faults{})
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(2 * i)
	}
	k.reject(meter.StageFeaturize, 4, rows...)
	if report := k.replay(ReplayOptions{}); report.Events != 3 || report.Rows != n {
		t.Errorf("%d events, %d rows", report.Events, report.Rows)
	}
	k.inputs()
}

// A limit counts only what is replayed, not earlier or impossible letters: repeating the call continues with the next dead
// letters.
func TestReplayOfSoManyLettersAtATime(t *testing.T) {
	k := newReplayKit(t)
	k.refuse(meter.StageSubsample, 0, []byte("no arrow"))
	for offset := range int64(5) {
		k.refuse(meter.StageFeaturize, offset+1, stagestest.Message(t, k.rows))
	}
	k.reject(meter.StageFeaturize, 6, 1, 3)
	for call, want := range []int64{2, 2, 2, 0} {
		if report := k.replay(ReplayOptions{Limit: 2}); report.Events != want {
			t.Errorf("call %d: %+v", call, report)
		}
	}
	if got, want := k.inputs(), []string{"1 []", "2 []", "3 []", "4 []", "5 []", "6 [1 3]"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if report := k.replay(ReplayOptions{Limit: 2, Force: true}); report.Events != 2 || report.Letters[1].Letter.Offset != 1 {
		t.Errorf("by force: %+v", report)
	}
}

// Two stages refused a message that no longer fits the topic of events: none of the dead letters counts as replayed.
func TestReplayOfTwoLettersThatAreTooLarge(t *testing.T) {
	k := newReplayKit(t)
	huge := append(stagestest.Message(t, k.rows), make([]byte, 100_000)...)
	k.refuse(meter.StageSubsample, 3, huge)
	k.refuse(meter.StageFeaturize, 3, huge)
	for range 2 {
		report := k.replay(ReplayOptions{Unchecked: true})
		if want := []ReplayOutcome{ReplayTooLarge, ReplayTooLarge}; !slices.Equal(outcomes(report), want) || report.Events != 0 {
			t.Errorf("%+v", report)
		}
	}
}

// A rebalance during a replay, forced or not, makes it neither skip nor repeat what it was about to send.
func TestReplayGoesOnAfterARebalance(t *testing.T) {
	once := []string{"3 []", "4 [1 3]"}
	for request := 1; request <= 3; request++ { // note, events, note
		for _, after := range []bool{false, true} {
			for _, force := range []bool{false, true} {
				t.Run(fmt.Sprintf("request %d, after %v, force %v", request, after, force), func(t *testing.T) {
					k := newReplayKit(t)
					k.refuse(meter.StageFeaturize, 3, stagestest.Message(t, k.rows))
					k.reject(meter.StageFeaturize, 4, 1, 3)
					want := once
					if force {
						k.replay(ReplayOptions{})
						want = append(once, once...)
					}
					k.revokeAt, k.dieAfter = k.produced+request, after
					r := k.replayer()
					r.DrainTimeout = time.Nanosecond
					if _, err := r.Replay(t.Context(), ReplayOptions{Force: force}); err != nil {
						t.Fatal(err)
					}
					if got := k.inputs(); k.produced < k.revokeAt || !slices.Equal(got, want) {
						t.Errorf("%v, want %v", got, want)
					}
				})
			}
		}
	}
}

// The headers of a refused event come from its producer and are not trusted.
func TestReplayDoesNotBelieveTheHeadersOfEvents(t *testing.T) {
	k := newReplayKit(t)
	lie := wire.ReplayNote{Replay: wire.Replay{Topic: "events", Partition: 1, Offset: 4}, Done: true}
	source := k.source(3, stagestest.Message(t, k.rows))
	source.Headers = events.WithHeaders(source.Headers, lie.Headers())
	k.write(Refused(meter.StageSubsample, source, errors.New("for a test"), stagestest.Noon))
	k.refuse(meter.StageSubsample, 4, stagestest.Message(t, k.rows))
	if report := k.replay(ReplayOptions{}); report.Events != 2 {
		t.Errorf("%+v", report)
	}
	if got, want := k.inputs(), []string{"3 []", "4 []"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestListLettersFiltersAndCounts(t *testing.T) {
	k := newReplayKit(t)
	for i := range int64(30) {
		deadLetter := Refused(meter.StageSubsample, k.source(i, []byte("x")), ErrOutputTooLarge, stagestest.Noon.Add(time.Duration(i)*time.Minute))
		k.write(deadLetter)
	}
	k.reject(meter.StageFeaturize, 40, 1, 3)
	if _, err := k.Broker.Produce(t.Context(), k.topics.DeadLetters, 0, []pipeline.Record{{Value: []byte("of a stranger")}}); err != nil {
		t.Fatal(err)
	}
	list := k.list(Filter{}, 5)
	if list.Total != 31 || len(list.Newest) != 5 || list.Newest[0].Offset != 29 || list.Newest[4].Offset != 25 {
		t.Fatalf("%+v", list)
	}
	want := []Count{
		{meter.StageFeaturize, "nan_feature", 1, 2, stagestest.Noon, stagestest.Noon},
		{meter.StageSubsample, ReasonOutputTooLarge, 30, 0, stagestest.Noon, stagestest.Noon.Add(29 * time.Minute)},
	}
	if !slices.Equal(list.Counts, want) {
		t.Errorf("%+v", list.Counts)
	}
	for name, c := range map[string]struct {
		filter Filter
		total  int64
	}{
		"stage":  {Filter{Stages: []string{meter.StageFeaturize, "none"}}, 1},
		"reason": {Filter{Reasons: []string{ReasonOutputTooLarge}}, 30},
		"since":  {Filter{Since: stagestest.Noon.Add(20 * time.Minute)}, 10},
		"place":  {Filter{Places: []Place{{1, 3}, {0, 3}, {1, 99}}}, 1},
		"all":    {Filter{Stages: []string{meter.StageFeaturize}, Reasons: []string{ReasonOutputTooLarge}}, 0},
	} {
		if list := k.list(c.filter, 0); list.Total != c.total {
			t.Errorf("%s: %d dead letters", name, list.Total)
		}
	}
}

// oneSchema is a registry of one schema.
type oneSchema struct{}

func (oneSchema) Fetch(_ context.Context, id uint32) (registry.Schema, error) {
	if id != 5 {
		return registry.Schema{}, registry.ErrNoSchema
	}
	return registry.Schema{Type: registry.TypeAvro, Text: `{"type": "record", "name": "E", "fields": [{"name": "a", "type": "int"}]}`}, nil
}

// TestReplayAsksTheRegistry for the schemas of messages that its process has not seen.
func TestReplayAsksTheRegistry(t *testing.T) {
	k := newReplayKit(t)
	k.refuse(meter.StageSubsample, 3, []byte{0, 0, 0, 0, 5, 14})
	k.refuse(meter.StageSubsample, 4, []byte{0, 0, 0, 0, 6, 14})
	r := k.replayer()
	r.Source.Registry = events.NewSchemas(oneSchema{}, zap.NewNop())
	report, err := r.Replay(t.Context(), ReplayOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []ReplayOutcome{ReplaySent, ReplayRefusedAgain}; !slices.Equal(outcomes(report), want) {
		t.Errorf("%+v", report)
	}
}
