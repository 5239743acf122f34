package stages_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/hostile"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/subsample"
)

// hostileLimits are small, so that a breach is visible; codecTables is the additional allocation
// permitted for decoding.
var hostileLimits = arrowio.Limits{MaxMessageBytes: 1 << 20, BudgetBytes: 1 << 20, MaxRows: 1000, MaxColumns: 100}

const codecTables = 1 << 20

// TestMutants feeds damaged events to the stages that read events. A message is refused with a
// reason, or all of its rows are accounted for: scored, not sampled, unlabelled or rejected;
// featurized or rejected. Every output and dead letter must be readable.
func TestMutants(t *testing.T) {
	shapes := eventShapes(t)
	victims := []*victim{newVictim(t, stagestest.Regression), newVictim(t, stagestest.Classes)}
	of := 0 // the victim whose events produced the mutant
	hostile.Run(t, hostile.Suite{
		Make: func(r *rand.Rand, into []byte) []byte {
			of = r.IntN(len(victims))
			messages := shapes[victims[of].task]
			return messages[r.IntN(len(messages))].Mutate(r, into, messages)
		},
		Try: func(m *hostile.Meter, mutant []byte) (string, error) {
			m.Within(hostileLimits.BudgetBytes+2*int64(len(mutant))+codecTables, func() {
				batches, _ := victims[of].reader.Read(mutant)
				events.Release(batches)
			})
			return victims[of].try(mutant)
		},
	}, 8_000)
}

// eventShapes are messages of events by task, in all shapes: with and without nulls, in one batch
// and in several, compressed, with dictionaries, and with passthrough columns of other types.
func eventShapes(t testing.TB) map[string][]*hostile.Message {
	shapes := map[string][]*hostile.Message{}
	for _, task := range []string{stagestest.Regression, stagestest.Classes} {
		add := func(name string, options []ipc.Option, batches ...arrow.Record) {
			shapes[task] = append(shapes[task], hostile.ArrowMessage(name, stream(t, options, batches...)))
		}
		clean, bad := stagestest.Events(
			t,
			task,
			9,
			1,
			stagestest.Faults{},
		), stagestest.Events(
			t,
			task,
			20,
			2,
			stagestest.SomeFaults,
		)
		add("clean", nil, clean)
		add("bad rows", nil, bad)
		add("lz4", []ipc.Option{ipc.WithLZ4()}, bad)
		add("zstd", []ipc.Option{ipc.WithZstd()}, bad)
		add("several batches", nil, stagestest.Cut(t, bad, stagestest.Every(7))...)
		coded := withDictionary(t, bad, "color")
		add("dictionary", nil, coded)
		add(
			"growing dictionary",
			[]ipc.Option{ipc.WithDictionaryDeltas(true)},
			stagestest.Cut(t, coded, stagestest.Every(9))...)
		for _, name := range []string{"flat", "temporal", "nested", "dictionary_kinds"} {
			wide := withColumnsOf(t, task, name)
			add(name, nil, wide)
			add(name+" zstd", []ipc.Option{ipc.WithZstd()}, wide, wide)
		}
	}
	return shapes
}

// stream encodes batches with the options of a writer.
func stream(t testing.TB, options []ipc.Option, batches ...arrow.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(batches[0].Schema()))...)
	for _, batch := range batches {
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// withDictionary dictionary-encodes a text column of the rows.
func withDictionary(t testing.TB, rows arrow.Record, name string) arrow.Record {
	t.Helper()
	dtype := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	at := rows.Schema().FieldIndices(name)[0]
	b := array.NewDictionaryBuilder(memory.DefaultAllocator, dtype).(*array.BinaryDictionaryBuilder)
	defer b.Release()
	for i, text := 0, rows.Column(at).(*array.String); i < text.Len(); i++ {
		if text.IsNull(i) {
			b.AppendNull()
		} else if err := b.AppendString(text.Value(i)); err != nil {
			t.Fatal(err)
		}
	}
	coded := b.NewArray()
	defer coded.Release()
	fields := append([]arrow.Field{}, rows.Schema().Fields()...)
	columns := append([]arrow.Array{}, rows.Columns()...)
	fields[at].Type, columns[at] = dtype, coded
	rec := array.NewRecord(arrow.NewSchema(fields, nil), columns, rows.NumRows())
	t.Cleanup(rec.Release)
	return rec
}

// passed are columns that the stages carry unread, from streams of another implementation.
var passed = []string{
	"id",
	"nothing",
	"flag",
	"half",
	"string",
	"large_string",
	"binary",
	"fixed",
	"date32[day]",
	"time64[us]",
	"duration s",
	"timestamp[s, tz=+02:00]",
	"small",
	"big",
	"list",
	"large",
	"struct",
	"map",
	"vector",
	"words",
	"deep",
	"uint8",
	"int64",
}

// withColumnsOf adds the columns of such a stream to bad events of a task.
func withColumnsOf(t testing.TB, task, name string) arrow.Record {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "arrowio", "testdata", "pyarrow", name+".arrows"))
	if err != nil {
		t.Fatal(err)
	}
	others := stagestest.Decode(t, raw)[0]
	rows := stagestest.Events(t, task, int(others.NumRows()), 3, stagestest.SomeFaults)
	rec := array.NewRecord(arrow.NewSchema(append(rows.Schema().Fields(), others.Schema().Fields()...), nil),
		append(rows.Columns(), others.Columns()...), rows.NumRows())
	t.Cleanup(rec.Release)
	return rec
}

// victim is the set of attacked stages.
type victim struct {
	task       string
	reader     *events.Reader
	subsampler *subsample.Subsampler
	featurizer *featurize.Featurizer
	checker    *arrowio.Decoder // reads the output
	features   int
	source     pipeline.Record
}

func newVictim(t testing.TB, task string) *victim {
	t.Helper()
	e, c := explored.Events(task), explored.Exploration()
	e.Passthrough, c.SampleRate = passed, 0.7
	rows := stagestest.Events(t, task, 300, 4, stagestest.Faults{Null: 0.1})
	spec, set := explored.Spec(t, e, c, rows), explored.FeatureSet(t, e, c, rows)
	subsampler, err := subsample.New(spec, scoring.NewBank(spec.Candidates), wire.Partition{EndOffset: 1 << 40}, nil)
	if err != nil {
		t.Fatal(err)
	}
	featurizer, err := featurize.New(set, featurize.Settings{
		Source:         events.Source{Limits: hostileLimits},
		MaxOutputBytes: 4 << 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &victim{
		task:       task,
		reader:     events.NewReader(hostileLimits, spec.Encoder),
		subsampler: subsampler,
		featurizer: featurizer,
		checker:    arrowio.NewDecoder(arrowio.Limits{}),
		features:   set.Set.Features.Len(),
		source:     pipeline.Record{Topic: "events", Partition: 2, Key: []byte("customer"), Time: stagestest.Noon},
	}
}

// try passes a message through the stages and returns the reason of its dead letter.
func (v *victim) try(value []byte) (reason string, err error) {
	v.source.Value = value
	v.source.Offset = v.subsampler.NextOffset()
	batches, err := v.reader.Read(value)
	if err != nil {
		v.subsampler.Refuse(v.source.Offset + 1)
		return v.refused(err)
	}
	defer events.Release(batches)
	if err := v.subsample(batches); err != nil {
		return "", fmt.Errorf("subsample: %w", err)
	}
	if err := v.featurize(events.CountRows(batches)); err != nil {
		return "", fmt.Errorf("featurize: %w", err)
	}
	return hostile.Accepted, nil
}

// refused returns the reason in the dead letter, which must equal the featurizer's.
func (v *victim) refused(cause error) (reason string, err error) {
	draft := deadletter.Refused(meter.StageSubsample, v.source, cause, stagestest.Noon)
	head, err := wire.ParseDeadLetterHeaders(draft.Headers)
	if err != nil {
		return "", err
	}
	if head.Reason != draft.Cause.Reason || head.Stage != string(draft.Cause.Stage) {
		return "", fmt.Errorf("headers %+v differ from %+v", head, draft.Cause)
	}
	if head.Reason == deadletter.ReasonUnusable {
		return "", cause
	}
	return head.Reason, v.featurizer.Process(v.source, 0, stagestest.Noon, func(part featurize.Part) error {
		if part.DeadLetter == nil || !bytes.Equal(part.DeadLetter.Value, v.source.Value) {
			return fmt.Errorf("the featurizer returns %+v for a refused message", part)
		}
		return nil
	})
}

func (v *victim) subsample(batches []arrow.Record) error {
	before := v.subsampler.Counts()
	err := v.subsampler.Add(
		v.source.Offset,
		batches,
		func(piece arrow.Record, rowBase int32, rows []deadletter.RejectedRow) error {
			budget := arrowio.NewBudget(64 << 20)
			deadLetter, err := deadletter.Rejected(
				meter.StageSubsample,
				v.source,
				piece,
				rowBase,
				rows,
				&budget,
				stagestest.Noon,
			)
			if err != nil {
				return err
			}
			return v.checkDeadLetter(&deadLetter, len(rows))
		},
	)
	if err != nil {
		return err
	}
	c := v.subsampler.Counts()
	if c.Rows != c.Scored+c.NotSampled+c.Unlabelled+c.Rejected || c.Rows-before.Rows != events.CountRows(batches) {
		return fmt.Errorf("%d rows make %+v of %+v", events.CountRows(batches), c, before)
	}
	return v.subsampler.Checkpoint(stagestest.Noon).Sums.Validate()
}

func (v *victim) featurize(rows int64) error {
	var counts meter.FeaturizeCounts
	err := v.featurizer.Process(v.source, 0, stagestest.Noon, func(part featurize.Part) error {
		meter.Add(&counts, part.Counts)
		if part.Output == nil {
			return nil
		}
		if part.DeadLetter != nil {
			if err := v.checkDeadLetter(part.DeadLetter, int(part.Counts.Rejected)); err != nil {
				return err
			}
		}
		return v.checkOutput(part)
	})
	if err == nil && (counts.Rows != rows || counts.Rows != counts.Featurized+counts.Rejected) {
		err = fmt.Errorf("%d rows make %+v", rows, counts)
	}
	return err
}

// checkOutput reads an output message and recycles its memory.
func (v *victim) checkOutput(part featurize.Part) error {
	batches, err := v.checker.Decode(part.Output.Value)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	defer events.Release(batches)
	rows, _, err := wire.DecodeFeatures(batches[0], v.features)
	if err == nil {
		err = part.Rows.CheckRows(rows)
	}
	if err == nil && len(rows) != int(part.Counts.Featurized) {
		err = fmt.Errorf("output of %d rows for %d", len(rows), part.Counts.Featurized)
	}
	v.featurizer.Recycle(part.Output.Value)
	return err
}

// checkDeadLetter reads a dead letter with the given number of rows.
func (v *victim) checkDeadLetter(deadLetter *deadletter.Draft, rows int) error {
	head, err := wire.ParseDeadLetterHeaders(deadLetter.Headers)
	if err != nil {
		return fmt.Errorf("dead letter: %w", err)
	}
	batches, err := v.checker.Decode(deadLetter.Value)
	if err != nil {
		return fmt.Errorf("dead letter: %w", err)
	}
	defer events.Release(batches)
	if head.Reason == "" || head.Reason != deadLetter.Cause.Reason || events.CountRows(batches) != int64(rows) {
		return fmt.Errorf("dead letter of %d rows for %d, reason %q", events.CountRows(batches), rows, head.Reason)
	}
	return nil
}
