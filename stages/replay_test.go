package stages

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

func TestReplayFeedsEachInputOnce(t *testing.T) {
	k := newReplayKit(t)
	whole := message(t, k.rows)
	k.refuse(StageSubsample, 3, whole)
	k.refuse(StageFeaturize, 3, whole)
	k.reject(StageSubsample, 4, 1, 3)
	k.reject(StageFeaturize, 4, 1, 3, 5, 6)
	once := []string{"3 []", "4 [1 3]", "4 [5 6]"}

	dry := k.replay(ReplayOptions{DryRun: true})
	if dry.Events != 3 || dry.Rows != 4 || len(k.inputs()) != 0 || len(k.Records(k.settings.Topics.DeadLetters, 1)) != 4 {
		t.Errorf("dry run: %+v", dry)
	}
	report := k.replay(ReplayOptions{})
	if want := []ReplayOutcome{ReplaySent, ReplayAlready, ReplaySent, ReplaySent}; !slices.Equal(outcomes(report), want) || report.Events != 3 || report.Rows != 4 {
		t.Errorf("%+v", report)
	}
	if got := k.inputs(); !slices.Equal(got, once) {
		t.Errorf("%v", got)
	}
	if got := k.Records(k.settings.Topics.Events, 1)[0].Value; !slices.Equal(got, whole) {
		t.Error("the message is not byte for byte the refused one")
	}
	if report = k.replay(ReplayOptions{}); report.Events != 0 || len(k.inputs()) != 3 {
		t.Errorf("replayed twice: %+v", report)
	}
	report = k.replay(ReplayOptions{Force: true})
	if got := k.inputs(); report.Events != 3 || !slices.Equal(got, append(once, once...)) {
		t.Errorf("by force: %v", got)
	}
	list, err := ListLetters(t.Context(), k.runtime(), LetterFilter{}, 0, nil)
	if err != nil || list.Total != 4 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, l := range list.Newest {
		if got := list.Ledger.State(l.DeadLetter); got != ReplayDone {
			t.Errorf("letter %v: %q", l.Place, got)
		}
	}
}

// Wherever a replay dies, and whatever answer it misses, the next one with the same options finishes it.
func TestReplayThatIsInterruptedIsFinished(t *testing.T) {
	for dieAt := 1; dieAt <= 3; dieAt++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("request %d, after %v", dieAt, after), func(t *testing.T) {
				k := newReplayKit(t)
				k.refuse(StageSubsample, 3, message(t, k.rows))
				k.reject(StageFeaturize, 4, 1, 3)
				k.dieAt, k.dieAfter = dieAt, after
				if _, err := Replay(t.Context(), k.runtime(), ReplayOptions{}); !errors.Is(err, errDied) {
					t.Fatal(err)
				}
				list, err := ListLetters(t.Context(), k.runtime(), LetterFilter{}, 0, nil)
				if err != nil {
					t.Fatal(err)
				}
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
		k.refuse(StageSubsample, 3, message(t, k.rows))
		k.reject(StageFeaturize, 4, 1, 3)
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
	k.set = explore(t, k.settings, []arrow.Record{events(t, taskRegression, 400, 41, faults{})}).Set
	other := refusedMessage(StageTrain, pipeline.Record{Topic: "features", Partition: 1, Offset: 1, Value: []byte("x")}, errOutputTooLarge, noon)
	bare := bareLetter(refusedMessage(StageFeaturize, k.source(8, []byte("x")), errOutputTooLarge, noon))
	k.refuse(StageSubsample, 3, []byte("no arrow"))
	k.write(other, bare)
	k.refuse(StageFeaturize, 5, message(t, withoutColumns(k.rows, "a")))
	bad := events(t, taskRegression, 20, 7, faults{badFeature: 0.5})
	rejected := k.rejectReally(bad, 9)
	huge := k.refuse(StageSubsample, 10, append(message(t, k.rows), make([]byte, 100_000)...))

	report := k.replay(ReplayOptions{Encoder: k.set.Encoder})
	want := []ReplayOutcome{ReplayRefusedAgain, ReplayNotEvents, ReplayNoValue, ReplayRefusedAgain, ReplayRefusedAgain, ReplayTooLarge}
	if !slices.Equal(outcomes(report), want) || report.Events != 0 || report.Letters[4].Dropped != int64(rejected) {
		t.Errorf("%v", report)
	}
	report = k.replay(ReplayOptions{Encoder: k.set.Encoder, Unchecked: true})
	want = []ReplayOutcome{ReplaySent, ReplayNotEvents, ReplayNoValue, ReplaySent, ReplaySent, ReplayTooLarge}
	if !slices.Equal(outcomes(report), want) || report.Events != 3 || report.Rows != int64(rejected) {
		t.Errorf("unchecked: %v, %d events", outcomes(report), report.Events)
	}
	// What was too large is not taken for replayed.
	report = k.replay(ReplayOptions{Unchecked: true, Filter: LetterFilter{Places: []LetterPlace{huge}}})
	if want := []ReplayOutcome{ReplayTooLarge}; !slices.Equal(outcomes(report), want) {
		t.Errorf("again: %v", outcomes(report))
	}
}

// rejectReally writes the letter that featurizing writes of the bad rows of a message, and says how many they are.
func (k *replayKit) rejectReally(bad arrow.Record, offset int64) int {
	k.t.Helper()
	core := NewFeaturizer(k.set, k.settings.Limits.decoder(), 1<<20)
	rejected := 0
	err := core.Process(k.source(offset, message(k.t, bad)), 0, noon, func(part Featurized) error {
		rejected += int(part.Counts.Rejected)
		if part.Letter != nil {
			k.write(*part.Letter)
		}
		return nil
	})
	if err != nil || rejected == 0 {
		k.t.Fatalf("%d rows rejected, %v", rejected, err)
	}
	return rejected
}

func TestReplayOfRepairedValues(t *testing.T) {
	k := newReplayKit(t)
	place := k.reject(StageFeaturize, 4, 1, 3, 5)
	whole := k.refuse(StageSubsample, 6, []byte("no arrow"))
	encode := func(rows ...int32) []byte {
		taken, err := TakeRows(k.rows, rows, nil)
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
	repair := func(values map[LetterPlace][]byte) ReplayOptions {
		return ReplayOptions{Repaired: func(p LetterPlace) ([]byte, bool, error) {
			value, ok := values[p]
			return value, ok, nil
		}}
	}
	for name, value := range map[string][]byte{
		"a row of its own": encode(1, 2), "no numbers": message(t, k.rows), "no arrow": []byte("x"),
	} {
		report := k.replay(repair(map[LetterPlace][]byte{place: value}))
		if want := []ReplayOutcome{ReplayBadRepair}; !slices.Equal(outcomes(report), want) || report.Letters[0].Detail == "" {
			t.Errorf("%s: %+v", name, report)
		}
	}
	fixed := message(t, k.rows)
	report := k.replay(repair(map[LetterPlace][]byte{place: encode(1, 5), whole: fixed}))
	if report.Events != 2 || report.Rows != 2 {
		t.Errorf("%+v", report)
	}
	// The row that was left out can still be replayed.
	k.replay(ReplayOptions{Filter: LetterFilter{Stages: []string{StageFeaturize}}})
	if got, want := k.inputs(), []string{"4 [1 5]", "6 []", "4 [3]"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := k.Records(k.settings.Topics.Events, 1)[1].Value; !slices.Equal(got, fixed) {
		t.Error("the repaired message is another one")
	}
}

// Rows of a large letter become several events, so that none has too many headers.
func TestReplayOfManyRows(t *testing.T) {
	k := newReplayKit(t)
	k.AddTopic(k.settings.Topics.Events, 2) // without a limit
	const n = 2*wire.MaxReplayRows + 5
	k.rows = events(t, taskRegression, 2*n, 7, faults{})
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(2 * i)
	}
	k.reject(StageFeaturize, 4, rows...)
	if report := k.replay(ReplayOptions{}); report.Events != 3 || report.Rows != n {
		t.Errorf("%d events, %d rows", report.Events, report.Rows)
	}
	k.inputs()
}

// A limit counts what is replayed, not what was before or cannot be: the same call again goes on with the next letters.
func TestReplayOfSoManyLettersAtATime(t *testing.T) {
	k := newReplayKit(t)
	k.refuse(StageSubsample, 0, []byte("no arrow"))
	for offset := range int64(5) {
		k.refuse(StageFeaturize, offset+1, message(t, k.rows))
	}
	k.reject(StageFeaturize, 6, 1, 3)
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

// Two stages refused a message that the topic of events does not take any more: none of the letters counts as replayed.
func TestReplayOfTwoLettersThatAreTooLarge(t *testing.T) {
	k := newReplayKit(t)
	huge := append(message(t, k.rows), make([]byte, 100_000)...)
	k.refuse(StageSubsample, 3, huge)
	k.refuse(StageFeaturize, 3, huge)
	for range 2 {
		report := k.replay(ReplayOptions{Unchecked: true})
		if want := []ReplayOutcome{ReplayTooLarge, ReplayTooLarge}; !slices.Equal(outcomes(report), want) || report.Events != 0 {
			t.Errorf("%+v", report)
		}
	}
}

// A rebalance in the middle, also of a replay by force, neither leaves out what was about to be sent nor has it sent twice.
func TestReplayGoesOnAfterARebalance(t *testing.T) {
	once := []string{"3 []", "4 [1 3]"}
	for request := 1; request <= 3; request++ { // note, events, note
		for _, after := range []bool{false, true} {
			for _, force := range []bool{false, true} {
				t.Run(fmt.Sprintf("request %d, after %v, force %v", request, after, force), func(t *testing.T) {
					k := newReplayKit(t)
					k.refuse(StageFeaturize, 3, message(t, k.rows))
					k.reject(StageFeaturize, 4, 1, 3)
					want := once
					if force {
						k.replay(ReplayOptions{})
						want = append(once, once...)
					}
					k.revokeAt, k.dieAfter = k.produced+request, after
					r := k.runtime()
					r.DrainTimeout = time.Nanosecond
					if _, err := Replay(t.Context(), r, ReplayOptions{Force: force}); err != nil {
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

// The headers of a refused event are its producer's: they are not believed.
func TestReplayDoesNotBelieveTheHeadersOfEvents(t *testing.T) {
	k := newReplayKit(t)
	lie := wire.ReplayNote{Replay: wire.Replay{Topic: "events", Partition: 1, Offset: 4}, Done: true}
	source := k.source(3, message(t, k.rows))
	source.Headers = withHeaders(source.Headers, lie.Headers())
	k.write(refusedMessage(StageSubsample, source, errors.New("for a test"), noon))
	k.refuse(StageSubsample, 4, message(t, k.rows))
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
		letter := refusedMessage(StageSubsample, k.source(i, []byte("x")), errOutputTooLarge, noon.Add(time.Duration(i)*time.Minute))
		k.write(letter)
	}
	k.reject(StageFeaturize, 40, 1, 3)
	if _, err := k.Broker.Produce(t.Context(), k.settings.Topics.DeadLetters, 0, []pipeline.Record{{Value: []byte("of a stranger")}}); err != nil {
		t.Fatal(err)
	}
	list, err := ListLetters(t.Context(), k.runtime(), LetterFilter{}, 5, nil)
	if err != nil || list.Total != 31 || len(list.Newest) != 5 || list.Newest[0].Offset != 29 || list.Newest[4].Offset != 25 {
		t.Fatalf("%+v, %v", list, err)
	}
	want := []LetterCount{
		{StageFeaturize, "nan_feature", 1, 2, noon, noon},
		{StageSubsample, reasonOutputTooLarge, 30, 0, noon, noon.Add(29 * time.Minute)},
	}
	if !slices.Equal(list.Counts, want) {
		t.Errorf("%+v", list.Counts)
	}
	for name, c := range map[string]struct {
		filter LetterFilter
		total  int64
	}{
		"stage":  {LetterFilter{Stages: []string{StageFeaturize, "none"}}, 1},
		"reason": {LetterFilter{Reasons: []string{reasonOutputTooLarge}}, 30},
		"since":  {LetterFilter{Since: noon.Add(20 * time.Minute)}, 10},
		"place":  {LetterFilter{Places: []LetterPlace{{1, 3}, {0, 3}, {1, 99}}}, 1},
		"all":    {LetterFilter{Stages: []string{StageFeaturize}, Reasons: []string{reasonOutputTooLarge}}, 0},
	} {
		if list, err := ListLetters(t.Context(), k.runtime(), c.filter, 0, nil); err != nil || list.Total != c.total {
			t.Errorf("%s: %d letters, %v", name, list.Total, err)
		}
	}
}
