package calibrate

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/topics"
)

// unevenLog returns partitions with messages of 10 rows: offsets 0 to 40, 60 to 80, and an empty
// one at 50.
func unevenLog(t *testing.T) *pipelinetest.Broker {
	t.Helper()
	values := rowsAsMessages(t, stagestest.Regression, 800, 10, 100)
	b := logOf(t, values[:40], values, nil)
	b.Expire("events", 1, 60)
	b.Expire("events", 2, 50)
	return b
}

func TestRanges(t *testing.T) {
	read := &wire.Spec{
		Plan: wire.Plan{
			Partitions: []wire.Partition{
				{Partition: 0, StartOffset: 7, EndOffset: 30},
				{Partition: 1, StartOffset: 5, EndOffset: 9},
			},
		},
	}
	beyond := &wire.Spec{
		Plan: wire.Plan{
			Partitions: []wire.Partition{
				{Partition: 0, EndOffset: 99},
				{Partition: 1, EndOffset: 99},
				{Partition: 2, EndOffset: 99},
			},
		},
	}
	for _, c := range []struct {
		name       string
		from       wire.From
		window     int64 // rows
		last       *wire.Spec
		unfinished bool
		want       string
	}{
		{"everything", wire.FromEarliest, 1, read, false, "0-40 60-80 50-50 "},
		{"recent, more than there is", wire.FromRecent, 1_000_000, read, false, "0-40 60-80 50-50 "},
		{"recent, as much as there is", wire.FromRecent, 600, nil, false, "0-40 60-80 50-50 "},
		{"recent, half of each", wire.FromRecent, 300, nil, false, "20-40 70-80 50-50 "},
		{"recent, whole messages", wire.FromRecent, 301, nil, false, "19-40 69-80 50-50 "},
		{"recent, a row", wire.FromRecent, 1, nil, false, "39-40 79-80 50-50 "},
		{"next to the last one, which retention has passed in one", wire.FromNext, 1, read, false, "30-40 60-80 50-50 "},
		{"next to one without a set", wire.FromNext, 1, read, true, "7-40 60-80 50-50 "},
		{"next to nothing", wire.FromNext, 1, nil, false, "0-40 60-80 50-50 "},
		{"next to the ends", wire.FromNext, 1, beyond, false, "40-40 80-80 50-50 "},
	} {
		s := testSettings(stagestest.Regression)
		s.Exploration.Window = c.window
		got, err := (&log{envWith(unevenLog(t), zap.NewNop())}).ranges(
			t.Context(),
			s,
			c.from,
			Request{Last: c.last, Unfinished: c.unfinished},
		)
		if err != nil || ranges(got) != c.want || got[2].Partition != 2 {
			t.Errorf("%s: %s%v, want %s", c.name, ranges(got), err, c.want)
		}
	}
}

// The window is limited in bytes, and one partition has larger messages than the other.
func TestRangesWithinBytes(t *testing.T) {
	small, large := rowsAsMessages(
		t,
		stagestest.Regression,
		100,
		1,
		101,
	), rowsAsMessages(
		t,
		stagestest.Regression,
		100*200,
		200,
		102,
	)
	b := logOf(t, small, large)
	size := func(values [][]byte) (bytes int64) {
		for _, value := range values {
			r := pipeline.Record{Value: value}
			bytes += int64(r.Size())
		}
		return bytes
	}
	s := testSettings(stagestest.Regression)
	s.Exploration.WindowBytes = (size(small) + size(large)) / 4
	got, err := (&log{envWith(b, zap.NewNop())}).ranges(t.Context(), s, wire.FromRecent, Request{})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range got {
		if n := part.EndOffset - part.StartOffset; n < 24 || n > 26 {
			t.Errorf("partition %d: %d of 100 messages, want a quarter", part.Partition, n)
		}
	}
	s.Exploration.WindowBytes = 1
	if got, err := (&log{envWith(b, zap.NewNop())}).ranges(t.Context(), s, wire.FromRecent, Request{}); err != nil ||
		ranges(got) != "99-100 99-100 " {
		t.Errorf("a byte: %s, %v", ranges(got), err)
	}
}

// Unreadable and undecodable messages do not hold up the window.
func TestRangesOfGarbage(t *testing.T) {
	garbage := slices.Repeat([][]byte{[]byte("garbage")}, 50)
	s := testSettings(stagestest.Regression)
	s.Exploration.Window = 10
	b := logOf(t, garbage, nil)
	if got, err := (&log{envWith(b, zap.NewNop())}).ranges(t.Context(), s, wire.FromRecent, Request{}); err != nil ||
		ranges(got) != "0-50 0-0 " {
		t.Errorf("%s, %v", ranges(got), err)
	}
	b.Oversize("events", 0, 40, 50)
	if got, err := (&log{envWith(b, zap.NewNop())}).ranges(t.Context(), s, wire.FromRecent, Request{}); err != nil ||
		ranges(got) != "0-50 0-0 " {
		t.Errorf("unreadable: %s, %v", ranges(got), err)
	}
}

func TestSameRows(t *testing.T) {
	s := testSettings(stagestest.Regression)
	partitions := []wire.Partition{{Partition: 0, StartOffset: 3, EndOffset: 7}, {Partition: 1, EndOffset: 9}}
	last := wire.Spec{
		Status: wire.StatusRunning, ConfigHash: s.hash(),
		Plan: wire.Plan{Arithmetic: scoring.Arithmetic(), Limits: s.Limits.Decoder(), Partitions: partitions},
	}
	for _, c := range []struct {
		name   string
		change func(*wire.Spec)
		same   bool
	}{
		{"the same", func(*wire.Spec) {}, true},
		{"what was found in them", func(s *wire.Spec) {
			s.Partitions = slices.Clone(partitions)
			s.Partitions[0].Quota, s.Partitions[0].LabelledRows = 5, 6
		}, true},
		{"abandoned", func(s *wire.Spec) { s.Status = wire.StatusAbandoned }, false},
		{"cancelled", func(s *wire.Spec) { s.Status = wire.StatusCancelled }, false},
		{"another configuration", func(s *wire.Spec) { s.ConfigHash = "x" }, false},
		{"another kernel", func(s *wire.Spec) { s.Arithmetic = "abacus" }, false},
		{"other limits", func(s *wire.Spec) { s.Limits.MaxRows++ }, false},
		{
			"another start",
			func(s *wire.Spec) { s.Partitions = []wire.Partition{{StartOffset: 2, EndOffset: 7}, partitions[1]} },
			false,
		},
		{
			"another end",
			func(s *wire.Spec) { s.Partitions = []wire.Partition{{StartOffset: 3, EndOffset: 8}, partitions[1]} },
			false,
		},
		{"a partition more", func(s *wire.Spec) { s.Partitions = partitions[:1] }, false},
	} {
		before := last
		c.change(&before)
		if got := sameRows(partitions, s, &before); got != c.same {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if sameRows(partitions, s, nil) {
		t.Error("equal to no previous exploration")
	}
}

// A range ends before an open transaction and does not wait for it. The next plan reads the rows
// after it.
func TestRangesEndBelowAnOpenTransaction(t *testing.T) {
	broker := stagestest.NewBroker(t)
	client := broker.Dial(nil)
	names := topics.Default()
	names.Partitions = 2
	if _, err := client.CreateTopics(t.Context(), names.Specs(2)); err != nil {
		t.Fatal(err)
	}
	values := rowsAsMessages(t, stagestest.Regression, 400, 20, 103)
	send(t, client, 0, values[:10]...)
	send(t, client, 1, values[10:15]...)
	other, err := kgo.NewClient(
		kgo.SeedBrokers(broker.Addrs()...),
		kgo.TransactionalID("other"),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := other.ProduceSync(t.Context(), &kgo.Record{
		Topic:     names.Events,
		Partition: 1,
		Value:     values[15],
	}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	send(t, client, 1, values[16:]...)
	s := testSettings(stagestest.Regression)
	spec := planned(t, client, s, Request{}).Spec
	if got := ranges(spec.Partitions); got != "0-10 0-5 " || spec.LabelledRows() != 300 {
		t.Errorf("ranges %s, %d rows", got, spec.LabelledRows())
	}
	if err := other.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	stagestest.Until(t, "the transaction's marker is written", func() bool {
		_, end, err := client.Offsets(t.Context(), names.Events, 1)
		return err == nil && end == 11
	})
	if spec := planned(t, client, s, Request{From: wire.FromNext, Last: spec}).Spec; ranges(
		spec.Partitions,
	) != "10-10 5-11 " ||
		spec.LabelledRows() != 100 {
		t.Errorf("next: ranges %s, %d rows", ranges(spec.Partitions), spec.LabelledRows())
	}
}
