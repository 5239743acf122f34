package calibrate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

func TestHashCoversMethodAndColumns(t *testing.T) {
	base := testSettings(stagestest.Binary)
	base.Exploration.SampleRate = 0.5
	for _, c := range []struct {
		name   string
		change func(*Settings)
		same   bool
	}{
		{"nothing", func(*Settings) {}, true},
		{"candidates spelled out", func(s *Settings) { s.Exploration.Candidates = s.Exploration.CandidateCount() }, true},
		{"rounds of a criterion that has none", func(s *Settings) { s.Exploration.Rounds++ }, true},
		{"steps of a criterion that has none", func(s *Settings) { s.Exploration.RefineSteps++ }, true},
		{"every", func(s *Settings) { s.Exploration.Every = time.Hour }, true},
		{"every offsets", func(s *Settings) { s.Exploration.EveryOffsets = 1000 }, true},
		{"from", func(s *Settings) { s.Exploration.From = wire.FromEarliest }, true},
		{"window", func(s *Settings) { s.Exploration.Window, s.Exploration.WindowBytes = 5, 6 }, true},
		{"min rows", func(s *Settings) { s.Exploration.MinRows++ }, true},
		{"rows of a class", func(s *Settings) { s.Events.ClassMinRows = 5 }, true},
		{"kernel", func(s *Settings) { s.Exploration.Kernel = KernelPlain }, true},
		{"memory", func(s *Settings) {
			s.Exploration.CandidateMemory, s.Exploration.SampleMemory, s.Exploration.LearningTime = 1, 2, 3
		}, true},
		{"size of messages", func(s *Settings) { s.MaxMessageBytes++ }, true},
		{"events topic", func(s *Settings) { s.EventsTopic = "other" }, false},
		{"map", func(s *Settings) { s.Exploration.Map = scoring.MapArcCosine1 }, false},
		{"distribution", func(s *Settings) { s.Exploration.Distribution = scoring.Cauchy }, false},
		{"sigma", func(s *Settings) { s.Exploration.Sigma = 3 }, false},
		{"seed", func(s *Settings) { s.Exploration.Seed++ }, false},
		{"candidates", func(s *Settings) { s.Exploration.Candidates++ }, false},
		{"features", func(s *Settings) { s.Exploration.Features++ }, false},
		{"criterion adaptive", func(s *Settings) { s.Exploration.Criterion = scoring.Adaptive }, false},
		{"criterion", func(s *Settings) { s.Exploration.Criterion = scoring.Energy }, false},
		{"sample rate", func(s *Settings) { s.Exploration.SampleRate /= 2 }, false},
		{"sample rate auto", func(s *Settings) { s.Exploration.SampleRate = RateAuto }, false},
		{"sample rows", func(s *Settings) { s.Exploration.SampleRows++ }, false},
		{"calibration rows", func(s *Settings) { s.Exploration.CalibrationRows++ }, false},
		{"group", func(s *Settings) { s.Events.Group = "a" }, false},
		{"feature columns", func(s *Settings) { s.Events.Features = []string{"a"} }, false},
		{"included columns", func(s *Settings) { s.Events.Include = []string{"a"} }, false},
		{"passthrough", func(s *Settings) { s.Events.Passthrough = nil }, false},
		{"label", func(s *Settings) { s.Events.Label = []string{"b"} }, false},
		{"classes", func(s *Settings) { s.Events.Classes = []string{"no", "yes", "maybe"} }, false},
		{"clip", func(s *Settings) { s.Events.Clip = 0 }, false},
		{"label bound", func(s *Settings) { s.Events.LabelMax = new(float64) }, false},
	} {
		s := base
		c.change(&s)
		if same := s.hash() == base.hash(); same != c.same {
			t.Errorf("%s: same hash %v, want %v", c.name, same, c.same)
		}
	}
	hash := func() string { return base.hash() } // hash of the changed settings
	everyField(t, &base.Exploration.Conditions, func(string) bool { return true }, hash)
	everyField(t, &base.Events.Handling, func(string) bool { return true }, hash)
	everyField(t, &base.Exploration.Method, func(field string) bool { // fields that only other criteria use
		return field == "Rounds" || field == "RefineSteps" || field == "Members"
	}, hash)
	everyField(t, &base.Events.Columns, func(string) bool { return false }, hash)
	low, alsoLow := 1.5, 1.5
	a, b := base, base
	a.Events.LabelMin, b.Events.LabelMin = &low, &alsoLow
	if a.hash() != b.hash() {
		t.Error("equal bounds at two addresses give two hashes")
	}
}

// everyField changes one field of a struct at a time and checks whether the hash stays the same.
func everyField(t *testing.T, of any, same func(field string) bool, hash func() string) {
	t.Helper()
	before := hash()
	fields := reflect.ValueOf(of).Elem()
	for i := range fields.NumField() {
		field := fields.Field(i)
		kept := reflect.New(field.Type()).Elem()
		kept.Set(field)
		switch name := fields.Type().Field(i).Name; field.Kind() {
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		case reflect.Slice:
			field.Set(reflect.Append(field, reflect.ValueOf(name)))
		case reflect.String:
			field.SetString(field.String() + name)
		case reflect.Float64:
			field.SetFloat(field.Float() + 0.25)
		case reflect.Uint64, reflect.Uint8:
			field.SetUint(field.Uint() + 1)
		default:
			field.SetInt(field.Int() + 1)
		}
		if name := fields.Type().Field(i).Name; (hash() == before) != same(name) {
			t.Errorf("another %s: same hash %v, want %v", name, !same(name), same(name))
		}
		field.Set(kept)
	}
}

func TestSpecAndItsID(t *testing.T) {
	s := testSettings(stagestest.Regression)
	b := logOf(t, rowsAsMessages(t, stagestest.Regression, 300, 10, 70))
	spec := planned(t, b, s, Request{}).Spec
	if !strings.HasPrefix(spec.Exploration, "test.1.") || spec.ConfigHash != s.hash() ||
		spec.Arithmetic != scoring.Arithmetic() ||
		spec.Candidates.Count != 40 || spec.Candidates.Dim != spec.Encoder.Dim ||
		spec.Limits != s.Limits.Decoder() ||
		spec.Candidates.Varied {
		t.Errorf("spec %+v", spec)
	}
	if spec.SampleRate != 1 || spec.SampleRows != s.Exploration.SampleRows || spec.LabelledRows() != 300 ||
		spec.Partitions[0].Quota != 439 {
		t.Errorf("rate %v for %d rows, %+v", spec.SampleRate, spec.SampleRows, spec.Partitions)
	}
	if again := planned(t, b, s, Request{}).Spec; again.Exploration != spec.Exploration || again.Hash() != spec.Hash() {
		t.Error("the same plan has two ids")
	}
	if other := planned(t, b, s, Request{Sequence: 2}).Spec; other.Exploration == spec.Exploration {
		t.Error("two plans have one id")
	}
	s.Exploration.SampleRows = 75
	if quarter := planned(t, b, s, Request{}).Spec; quarter.SampleRate != 0.25 || quarter.Partitions[0].Quota != 75+18+64 {
		t.Errorf("rate %v, %+v", quarter.SampleRate, quarter.Partitions)
	}
	s.Exploration.SampleRate = 0.5
	if half := planned(t, b, s, Request{}).Spec; half.SampleRate != 0.5 || half.SampleRows != 0 {
		t.Errorf("configured rate: %v for %d rows", half.SampleRate, half.SampleRows)
	}
	s.Exploration.Criterion = scoring.Adaptive
	if varied := planned(t, b, s, Request{}).Spec; !varied.Candidates.Varied || varied.Hash() == spec.Hash() {
		t.Errorf("candidates for learning: %+v", varied.Candidates)
	}
}

// A plan depends only on the rows of its ranges, not on how they are split into messages or on
// which scan ends first.
func TestPlanIsAFunctionOfTheRanges(t *testing.T) {
	for _, task := range []string{stagestest.Regression, stagestest.Classes} {
		s := testSettings(task)
		s.Exploration.Sigma, s.Exploration.SampleRows, s.Exploration.From = 0, 300, wire.FromEarliest
		s.Exploration.CalibrationRows, s.Events.Classes = 50, nil
		const partitions = 11 // more than Scanners
		var all [partitions]arrow.Record
		for i := range all {
			all[i] = stagestest.Events(t, task, 20+8*i, uint64(90+i), stagestest.SomeFaults)
		}
		var want *wire.Spec
		for name, size := range cuttings {
			rng := rand.New(rand.NewPCG(3, 4))
			values := make([][][]byte, partitions)
			for i, rows := range all {
				values[i] = messages(t, stagestest.Cut(t, rows, size(rng)))
			}
			got := *planned(t, logOf(t, values...), s, Request{}).Spec
			// The offsets depend on the messages; the learned values do not.
			got.Exploration = ""
			got.Notes = nil
			got.Partitions = slices.Clone(got.Partitions)
			for i := range got.Partitions {
				if got.Partitions[i].EndOffset != int64(len(values[i])) {
					t.Fatalf("%s: partition %d ends at %d of %d", name, i, got.Partitions[i].EndOffset, len(values[i]))
				}
				got.Partitions[i].EndOffset = 0
			}
			if want == nil {
				want = &got
			}
			if !reflect.DeepEqual(&got, want) {
				t.Errorf("%s, messages of %s: %+v, want %+v", task, name, got, *want)
			}
		}
		if task == stagestest.Classes &&
			!slices.Equal(want.Encoder.Label.Classes, []string{"east", "north", "south", "stranger", "west"}) {
			t.Errorf("classes %v", want.Encoder.Label.Classes)
		}
	}
}

// Classes that occur only after the calibration rows are in the spec, because a log may be sorted
// by class.
func TestPlanHasTheClassesOfTheWindow(t *testing.T) {
	s := testSettings(stagestest.Classes)
	s.Exploration.CalibrationRows, s.Events.Classes = 20, nil
	rows := stagestest.Events(t, stagestest.Classes, 600, 91, stagestest.Faults{})
	label := rows.Column(6)
	byClass := map[string][]arrow.Record{}
	for i := range rows.NumRows() {
		row := rows.NewSlice(i, i+1)
		defer row.Release()
		byClass[label.ValueStr(int(i))] = append(byClass[label.ValueStr(int(i))], row)
	}
	var sorted []arrow.Record
	for _, class := range []string{"west", "south", "north", "east"} {
		sorted = append(sorted, byClass[class]...)
	}
	want := []string{"east", "north", "south", "west"}
	if spec := planned(t, logOf(t, messages(t, sorted)), s, Request{}).Spec; !slices.Equal(
		spec.Encoder.Label.Classes,
		want,
	) ||
		spec.CalibrationRows != 20 {
		t.Errorf("log: classes %v from %d rows", spec.Encoder.Label.Classes, spec.CalibrationRows)
	}
	if file, err := fileOf(s, sorted); err != nil || !slices.Equal(file.Spec.Encoder.Label.Classes, want) {
		t.Errorf("file: %v, %v", file, err)
	}
	// One partition per class is also sorted.
	var partitions [][][]byte
	for _, class := range want {
		partitions = append(partitions, messages(t, byClass[class]))
	}
	if spec := planned(t, logOf(t, partitions...), s, Request{}).Spec; !slices.Equal(spec.Encoder.Label.Classes, want) {
		t.Errorf("partitions: classes %v", spec.Encoder.Label.Classes)
	}
	s.Events.Classes = []string{"north", "west"}
	if spec := planned(t, logOf(t, partitions...), s, Request{}).Spec; !slices.Equal(
		spec.Encoder.Label.Classes,
		s.Events.Classes,
	) {
		t.Errorf("configured: classes %v", spec.Encoder.Label.Classes)
	}
}

// Labelled rows are counted one by one: null labels, messages without the label column and
// undecodable messages add none.
func TestPlanCountsLabelledRows(t *testing.T) {
	s := testSettings(stagestest.Regression)
	faults := stagestest.Faults{NoLabel: 0.3}
	partitions, want := make([][][]byte, 3), make([]int64, 3)
	for i := range partitions {
		rows := stagestest.Events(t, stagestest.Regression, 200+i, uint64(95+i), faults)
		want[i] = rows.NumRows() - int64(rows.Column(6).NullN())
		partitions[i] = messages(t, stagestest.Cut(t, rows, stagestest.Every(37)))
	}
	unlabelled := wire.SelectColumns(
		stagestest.Events(t, stagestest.Regression, 100, 99, stagestest.Faults{}),
		[]string{"a", "b", "color", "ok", "v", "id"},
	)
	defer unlabelled.Release()
	partitions[1] = append(partitions[1], stagestest.Message(t, unlabelled), []byte("garbage"))
	found := planned(t, logOf(t, partitions...), s, Request{})
	total := int64(0)
	for i, part := range found.Spec.Partitions {
		if total += want[i]; part.LabelledRows != want[i] || want[i] < 100 || part.Quota != want[i]+want[i]/4+64 {
			t.Errorf("partition %d: %+v, want %d labelled rows", i, part, want[i])
		}
	}
	if found.Spec.LabelledRows() != total || found.Counts.Rows != 200+201+202+100 || found.Counts.Undecodable != 1 ||
		found.Read.UndecodableBytes == 0 {
		t.Errorf("%d labelled rows, counts %+v, read %+v", found.Spec.LabelledRows(), found.Counts, found.Read)
	}
}

func TestPlanRefusals(t *testing.T) {
	rows := rowsAsMessages(t, stagestest.Regression, 100, 10, 71)
	s := testSettings(stagestest.Regression)
	plan := func(change func(*Settings), partitions ...[][]byte) error {
		with := s
		change(&with)
		_, err := Plan(
			t.Context(),
			envWith(logOf(t, partitions...), zap.NewNop()),
			with,
			Request{Sequence: 1, Now: stagestest.Noon},
		)
		return err
	}
	var few *TooFewRowsError
	err := plan(func(s *Settings) { s.Exploration.MinRows = 130 }, rows, nil)
	if !errors.As(err, &few) || few.Have != 100 || few.Want != 130 || few.Rows != 100 || few.Unusable != "" ||
		!strings.Contains(err.Error(), "30 are missing") {
		t.Errorf("too few rows: %v", err)
	}
	if err := plan(func(s *Settings) { s.Exploration.MinRows = 130 }, nil); !errors.As(err, &few) || few.Have != 0 {
		t.Errorf("an empty log: %v", err)
	}
	if err := plan(func(s *Settings) { s.Exploration.MinRows = 100 }, rows); err != nil {
		t.Errorf("exactly min_rows: %v", err)
	}
	if err := plan(func(s *Settings) { s.Exploration.MinRows = 0 }, nil); !errors.Is(err, ErrNoCalibrationRows) {
		t.Errorf("no rows at all: %v", err)
	}
	if err := plan(func(s *Settings) { s.Events.Label = nil }, rows); err == nil ||
		!strings.Contains(err.Error(), "events.label") {
		t.Errorf("no label configured: %v", err)
	}
	if err := plan(func(s *Settings) { s.MaxMessageBytes = 1000 }, rows); err == nil ||
		!strings.Contains(err.Error(), "a checkpoint of 40 candidates") ||
		!strings.Contains(err.Error(), "a feature set of 10 features") {
		t.Errorf("messages that do not fit: %v", err)
	}
	// Only criteria that need rows take memory for them.
	small := func(s *Settings) { s.Exploration.SampleMemory = 10_000 }
	if err := plan(small, rows); err != nil {
		t.Error(err)
	}
	needsRows := func(s *Settings) { small(s); s.Exploration.Criterion, s.Exploration.Rounds = scoring.Residual, 2 }
	if err := plan(needsRows, rows); err == nil ||
		!strings.Contains(err.Error(), "over exploration.sample_memory (9.8 KiB)") ||
		!strings.Contains(err.Error(), "up to 100 sampled rows") {
		t.Errorf("a sample that does not fit: %v", err)
	}
	tiny := func(s *Settings) {
		s.MaxMessageBytes, s.Exploration.Criterion, s.Exploration.Rounds = 40, scoring.Residual, 2
	}
	if err := plan(tiny, rows); err == nil || !strings.Contains(err.Error(), "a sampled row of") {
		t.Errorf("a row that does not fit: %v", err)
	}
}

// If a log loses offsets of a range while it is read, the plan covers the remaining offsets.
func TestPlanAgainWhereRangesMoved(t *testing.T) {
	s := testSettings(stagestest.Regression)
	s.Exploration.From = wire.FromEarliest
	b := logOf(t, rowsAsMessages(t, stagestest.Regression, 400, 1, 72))
	expiring := &expiringLog{Broker: b, first: []int64{5, 20, 120}}
	spec := planned(t, expiring, s, Request{}).Spec
	if got := ranges(spec.Partitions); got != "120-400 " || spec.LabelledRows() != 280 {
		t.Errorf("ranges %s, %d rows", got, spec.LabelledRows())
	}
}

// expiringLog drops records whenever its offsets are looked up.
type expiringLog struct {
	pipeline.Broker
	first []int64
}

func (l *expiringLog) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	if len(l.first) > 0 {
		l.Broker.(interface{ Expire(string, int, int64) }).Expire(topic, partition, l.first[0])
		l.first = l.first[1:]
	}
	return l.Broker.Fetch(ctx, topic, partition, offset)
}

// Partitions contribute calibration rows in proportion to their rows, not in equal numbers.
func TestCalibrationRowsAreProportional(t *testing.T) {
	s := testSettings(stagestest.Regression)
	s.Exploration.From = wire.FromEarliest
	s.Exploration.CalibrationRows = 200
	large, small := rowsAsMessages(
		t,
		stagestest.Regression,
		4000,
		100,
		7,
	), rowsAsMessages(
		t,
		stagestest.Regression,
		1000,
		50,
		8,
	)
	spec := planned(t, logOf(t, large, small, large[:2]), s, Request{}).Spec
	var got []int64
	for _, p := range spec.Partitions {
		got = append(got, p.CalibrationRows)
	}
	// The second partition has a quarter of the first one's rows, the third a twentieth. The bounds
	// are four standard errors.
	if got[0] != 200 || math.Abs(float64(got[1])-50) > 28 || math.Abs(float64(got[2])-10) > 13 ||
		spec.CalibrationRows != got[0]+got[1]+got[2] {
		t.Errorf("calibration rows %v of %d", got, spec.CalibrationRows)
	}
}
