package state

import (
	"context"
	"regexp"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/scoring"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is the time of all records in these tests.
var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

// testConfig is the configuration of the pipeline "test".
var testConfig = Config{
	Pipeline: "test", Explorations: "explorations", FeatureSets: "feature-sets", Models: "models", Scores: "scores",
	MaxMessageBytes: 8 << 20, KeepFeatureSets: 10, KeepModels: 10, Retention: 7 * 24 * time.Hour,
}

// must returns the value of a call that should not fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// anything accepts every snapshot.
func anything(Snapshot) bool { return true }

func testEncoder() *encoder.Encoder {
	return &encoder.Encoder{
		Columns: []encoder.Column{
			{Name: "a", Kind: encoder.Numeric, Width: 1, Mean: []float64{1}, Scale: []float64{2}},
			{Name: "b", Kind: encoder.Numeric, Width: 1, Mean: []float64{0}, Scale: []float64{1}},
		},
		Standardize: encoder.StandardizeNumeric, Dim: 2,
		Label: &encoder.Label{
			Columns: []string{"y"},
			Kind:    encoder.Category,
			Task:    scoring.MultiClass,
			Classes: []string{"east", "north", "west"},
		},
	}
}

func testCandidates(seed uint64) scoring.Candidates {
	return scoring.Candidates{
		Map:          scoring.MapCosine,
		Distribution: scoring.Gaussian,
		Sigma:        2,
		Seed:         seed,
		Dim:          2,
		Count:        8,
	}
}

// testSpec is an exploration with sequence number 1 that reads two partitions.
func testSpec() *wire.Spec {
	return &wire.Spec{
		Exploration: "test.1.abc",
		Status:      wire.StatusRunning,
		ConfigHash:  "c0ffee",
		PlannedAt:   noon,
		Plan: wire.Plan{
			Pipeline:        "test",
			Sequence:        1,
			Encoder:         testEncoder(),
			Candidates:      testCandidates(1),
			Features:        2,
			Criterion:       scoring.Correlation,
			From:            wire.FromRecent,
			SampleRate:      0.5,
			SampleRows:      100,
			CalibrationRows: 10,
			Arithmetic:      "fma1",
			Limits:          arrowio.DefaultLimits(),
			EventsTopic:     "events",
			Partitions: []wire.Partition{
				{Partition: 0, EndOffset: 40, LabelledRows: 400, Quota: 50},
				{Partition: 1, EndOffset: 40, LabelledRows: 400, Quota: 50},
			},
		},
	}
}

// testSet is a feature set with a sequence number.
func testSet(sequence int64) *wire.FeatureSet {
	f := &wire.FeatureSet{
		Encoder: testEncoder(), Task: scoring.MultiClass, Candidates: testCandidates(uint64(sequence)),
		Set: scoring.FeatureSet{
			Features: &scoring.Features{
				Map:   scoring.MapCosine,
				Dim:   2,
				Omega: []float32{1, 2, 3, float32(sequence)},
				Phase: []float32{1, 2},
			},
			Index: []int32{3, 5}, Scale: 0.70710677, Score: []float64{0.5, 0.25}, S: make([]float64, 6),
		},
		Coding: scoring.Coding{Gain: []float64{1, 1, 1}, Offset: []float64{-1. / 3, -1. / 3, -1. / 3}},
		Lineage: wire.Lineage{
			Pipeline:    "test",
			Exploration: "test.1.abc",
			Sequence:    sequence,
			SpecHash:    "abc",
			ConfigHash:  "c0ffee",
			EventsTopic: "events",
			Arithmetic:  "fma1",
			SelectedAt:  noon,
			Rows:        40,
			SampleRate:  0.5,
			Criterion:   scoring.Correlation,
			Candidates:  8,
			Best:        0.5,
			Cutoff:      0.25,
			Counts:      wire.Counts{Messages: 4, Rows: 80, Scored: 40, NotSampled: 40},
			Partitions:  []wire.LineagePartition{{NextOffset: 4, ClosingOrdinal: 80, CloseReason: wire.CloseQuota}},
		},
	}
	return f
}

// testCheckpoint is a checkpoint of partition 1 after a number of rows.
func testCheckpoint(spec *wire.Spec, rows int64) *wire.Checkpoint {
	sums := scoring.NewSums(spec.Candidates.Count, spec.Encoder.Outputs())
	sums.Rows = rows
	for k := range sums.Y {
		sums.YMin[k], sums.YMax[k] = -1, 1
	}
	return &wire.Checkpoint{
		Exploration: spec.Exploration,
		Sequence:    spec.Sequence,
		SpecHash:    spec.Hash(),
		Partition:   1,
		NextOffset:  rows / 10,
		NextOrdinal: rows,
		Counts:      wire.Counts{Messages: rows / 10, Rows: rows, Scored: rows},
		Sums:        sums,
		Arithmetic:  spec.Arithmetic,
		WrittenAt:   noon,
	}
}

// keyed is a record of one of the followed topics.
func keyed(key, value []byte) pipeline.Record {
	return pipeline.Record{Key: key, Value: value, Time: noon}
}

// specRecord publishes a spec with another sequence, status and handled offset.
func specRecord(spec *wire.Spec, sequence int64, status wire.Status, handled int64) pipeline.Record {
	s := *spec
	s.Sequence, s.Status, s.HandledOffset = sequence, status, handled
	return keyed(wire.SpecKey(s.Pipeline), must(wire.EncodeSpec(&s)))
}

// ofAnotherVersion changes the version in a message's document.
func ofAnotherVersion(value []byte) []byte {
	return regexp.MustCompile(`"format_version":\d`).ReplaceAll(value, []byte(`"format_version":9`))
}

func requestRecord(pipelineName, id string) pipeline.Record {
	return keyed(wire.RequestKey(pipelineName, id),
		must(wire.EncodeRequest(&wire.Request{Action: wire.ActionStart, ID: id})))
}

func currentRecord(pipelineName, id string, sequence int64) pipeline.Record {
	return keyed(wire.CurrentKey(pipelineName), must(wire.EncodeCurrent(&wire.Current{ID: id, Sequence: sequence})))
}

func setRecord(set *wire.FeatureSet) pipeline.Record {
	return keyed(wire.SetKey("test", set.ID()), must(wire.EncodeFeatureSet(set)))
}

func checkpointRecord(c *wire.Checkpoint) pipeline.Record {
	return pipeline.Record{
		Key:       wire.CheckpointKey(c.Exploration),
		Value:     must(wire.EncodeCheckpoint(c)),
		Time:      noon,
		Partition: int(c.Partition),
	}
}

// newTopics is a broker with the control topics.
func newTopics() *pipelinetest.Broker {
	b := pipelinetest.NewBroker()
	for _, name := range []string{testConfig.Explorations, testConfig.FeatureSets, testConfig.Models} {
		b.AddTopic(name, 1)
	}
	b.AddTopic(testConfig.Scores, 2)
	return b
}

// following runs a follower of topics until the end of the test.
func following(t *testing.T, log Broker, topics ...Topic) *Follower {
	t.Helper()
	f := New(log, zap.NewNop(), testConfig)
	run(t, f, topics...)
	return f
}

func run(t *testing.T, f *Follower, topics ...Topic) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx, topics...) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
