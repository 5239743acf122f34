package state

import (
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

func TestScoreboardOfSeveralOrigins(t *testing.T) {
	spec := testSpec()
	c := []*wire.Checkpoint{testCheckpoint(spec, 100), testCheckpoint(spec, 200), testCheckpoint(spec, 300)}
	otherSpec := *c[2]
	otherSpec.SpecHash = "0123456789abcdef"
	abacus := testCheckpoint(spec, 300)
	abacus.Arithmetic = "abacus"
	for _, test := range []struct {
		name    string
		on      []*wire.Checkpoint // nil is a tombstone
		ordinal int64              // of the current checkpoint; 0 = none
	}{
		{"nothing", nil, 0},
		{"the furthest", []*wire.Checkpoint{c[0], c[2], c[1]}, 300},
		{"tombstone", []*wire.Checkpoint{c[0], abacus, nil}, 0},
		{"after a tombstone", []*wire.Checkpoint{c[2], nil, c[1]}, 200},
		{"another kernel after it", []*wire.Checkpoint{c[0], abacus}, 100},
		{"another kernel before", []*wire.Checkpoint{abacus, c[0]}, 100},
		{"another spec after it", []*wire.Checkpoint{c[1], &otherSpec}, 200},
		{"another spec before", []*wire.Checkpoint{&otherSpec, &otherSpec, c[1]}, 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			board := NewScoreboard(testConfig)
			decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
			for _, checkpoint := range test.on {
				changed := board.Changed()
				rec := pipeline.Record{Key: wire.CheckpointKey(spec.Exploration), Partition: 1}
				if checkpoint != nil {
					rec = checkpointRecord(checkpoint)
				}
				if err := board.Apply(decoder, rec); err != nil {
					t.Fatal(err)
				}
				<-changed
			}
			usable := board.Of(spec)
			switch {
			case test.ordinal == 0 && len(usable) != 0,
				test.ordinal > 0 && (len(usable) != 1 || usable[0].NextOrdinal != test.ordinal):
				t.Errorf("usable: %v, want one at ordinal %d", usable, test.ordinal)
			}
		})
	}
}

// The board rejects checkpoints of another partition, key or spec.
func TestScoreboard(t *testing.T) {
	spec := testSpec()
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	board, last := NewScoreboard(testConfig), checkpointRecord(testCheckpoint(spec, 300))
	for name, r := range map[string]pipeline.Record{
		"another partition": {Partition: 0, Key: last.Key, Value: last.Value},
		"another key":       {Partition: 1, Key: []byte("test.9.x"), Value: last.Value},
		"undecodable":       {Partition: 1, Key: last.Key, Value: []byte("x")},
	} {
		if err := board.Apply(decoder, r); err == nil || len(board.Of(spec)) != 0 {
			t.Errorf("%s: error %v, %d checkpoints", name, err, len(board.Of(spec)))
		}
	}
	if err := board.Apply(decoder,
		pipeline.Record{Partition: 1, Key: []byte("other.1.x"), Value: []byte("x")}); err != nil {
		t.Errorf("another pipeline's checkpoint was decoded: %v", err)
	}
	other := *spec
	other.SampleRate = 0.9 // same id, but another hash
	if err := board.Apply(decoder, last); err != nil || len(board.Of(spec)) != 1 || len(board.Of(&other)) != 0 {
		t.Errorf("error %v, %d checkpoints of the spec, %d of another", err, len(board.Of(spec)), len(board.Of(&other)))
	}
	if err := board.Apply(decoder,
		pipeline.Record{Partition: 1, Key: last.Key}); err != nil || len(board.Of(spec)) != 0 || len(board.newest) != 0 {
		t.Errorf("%d checkpoints remain after the tombstone", len(board.Of(spec)))
	}
}

// A board of one exploration keeps its checkpoints after tombstones, without sums if requested.
func TestScoreboardOfOneExploration(t *testing.T) {
	spec := testSpec()
	board := NewScoreboard(testConfig)
	board.Exploration = spec.Exploration
	board.WithoutSums = true
	decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
	other := testCheckpoint(spec, 900)
	other.Exploration += "def"
	key := wire.CheckpointKey(spec.Exploration)
	for _, r := range []pipeline.Record{
		checkpointRecord(testCheckpoint(spec, 100)),
		checkpointRecord(testCheckpoint(spec, 80)),
		checkpointRecord(other),
		{Partition: 1, Key: key},
	} {
		if err := board.Apply(decoder, r); err != nil {
			t.Fatal(err)
		}
	}
	if c := board.Newest(string(key))[1]; c == nil || c.NextOrdinal != 100 || c.Sums != nil || len(board.newest) != 1 {
		t.Errorf("%+v of %d explorations", c, len(board.newest))
	}
}

// A refusal removes its attempt and earlier ones, regardless of their position. Later attempts
// stay.
func TestScoreboardRefusals(t *testing.T) {
	spec := testSpec()
	attempt := func(n int, rows int64) pipeline.Record {
		c := testCheckpoint(spec, rows)
		c.Attempt = n
		return checkpointRecord(c)
	}
	refusal := func(n int, hash string) pipeline.Record {
		value := must(wire.EncodeRefusal(&wire.Refusal{
			Exploration: spec.Exploration,
			SpecHash:    hash,
			Partition:   1,
			Attempt:     n,
			Reason:      "lost",
			Time:        noon,
		}))
		return pipeline.Record{Partition: 1, Key: wire.CheckpointKey(spec.Exploration), Value: value, Time: noon}
	}
	for _, c := range []struct {
		name    string
		records []pipeline.Record
		attempt int // of the checkpoint that is left; -1 = none
	}{
		{"of the attempt", []pipeline.Record{attempt(0, 300), refusal(0, spec.Hash())}, -1},
		{"then the next one", []pipeline.Record{attempt(0, 300), refusal(0, spec.Hash()), attempt(1, 100)}, 1},
		{"an earlier attempt after a later one", []pipeline.Record{attempt(1, 100), attempt(0, 300)}, 1},
		{"of an earlier attempt", []pipeline.Record{attempt(1, 100), refusal(0, spec.Hash())}, 1},
		{"of a later attempt", []pipeline.Record{attempt(1, 100), refusal(2, spec.Hash())}, -1},
		{"of another spec", []pipeline.Record{attempt(0, 100), refusal(0, "0123456789abcdef")}, 0},
	} {
		board := NewScoreboard(testConfig)
		decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
		for _, r := range c.records {
			if err := board.Apply(decoder, r); err != nil {
				t.Fatal(err)
			}
		}
		of := board.Of(spec)
		if c.attempt < 0 && len(of) != 0 || c.attempt >= 0 && (len(of) != 1 || of[0].Attempt != c.attempt) {
			t.Errorf("%s: %d checkpoints %+v, want attempt %d", c.name, len(of), of, c.attempt)
		}
	}
	board, r := NewScoreboard(testConfig), refusal(0, spec.Hash())
	r.Partition = 0
	if err := board.Apply(arrowio.NewDecoder(arrowio.DefaultLimits()), r); err == nil {
		t.Error("accepted the refusal of another partition")
	}
}

// Checkpoints of other versions are skipped without an error.
func TestScoreboardOfOtherVersions(t *testing.T) {
	spec := testSpec()
	board, decoder := NewScoreboard(testConfig), arrowio.NewDecoder(arrowio.DefaultLimits())
	r := checkpointRecord(testCheckpoint(spec, 100))
	r.Value = ofAnotherVersion(r.Value)
	if err := board.Apply(decoder, r); err != nil || len(board.newest) != 0 {
		t.Errorf("%v, %d explorations", err, len(board.newest))
	}
}
