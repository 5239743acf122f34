package calibrate_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/subsample"
	"github.com/eerf-stream/eerf/stages/topics"
)

// testdata/earlier_log.jsonl.gz and earlier_events.jsonl.gz are a log that version 1 of the formats wrote (commit 73c195a3,
// numeric kernel fma1, 2026-11-22): one record a line, in the order of topics, partitions and offsets, which begin at 0 and have no
// gaps. Events and scores have two partitions, 770 rows each, 35 in a message. Four pipelines share the topics; each explored M0 = 80
// candidates for M = 8 features by two rounds of the residual criterion, in passes 0 to 3, from a quota of 300 rows a partition:
//
//	flow   in use: set fs-3bb5…, sequence 1, of flow.1.9c8f7e0165ed, with two models. flow.2.a66934cd5f1d (seed 7) runs, in
//	       pass 1; offset 6 of explorations is the request restart-1 to restart it, not answered
//	pass0  no set; pass0.1.c3da6aa8413f runs in pass 0: partition 0 closed, 1 open
//	pass1  no set; pass1.1.232aa8769dbe runs in pass 1; the sums of pass 0 of partition 1 are not tombstoned
//	pass2  no set; pass2.1.74385f98da38 runs in pass 2
//
// Checkpoints of pass 0 stand under the id of the exploration, those of pass p under the id and "/p".
const earlierSet = "fs-3bb5c173cd1fb2f4116011f18807e6e3"

// earlierRecord is a line of the log.
type earlierRecord struct {
	Topic      string
	Partition  int
	Offset     int64
	Time       time.Time
	Key, Value []byte
	Headers    []pipeline.Header
}

// loadEarlier writes the log, or the part that keep selects, to the topics.
func (r *room) loadEarlier(keep func(earlierRecord) bool) {
	r.t.Helper()
	for _, name := range []string{"testdata/earlier_log.jsonl.gz", "testdata/earlier_events.jsonl.gz"} {
		file, err := os.Open(name)
		if err != nil {
			r.t.Fatal(err)
		}
		defer file.Close()
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			r.t.Fatal(err)
		}
		for lines := json.NewDecoder(unzipped); ; {
			var line earlierRecord
			if err := lines.Decode(&line); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				r.t.Fatal(err)
			}
			if !keep(line) {
				continue
			}
			record := pipeline.Record{Key: line.Key, Value: line.Value, Headers: line.Headers, Time: line.Time}
			if at := pipelinetest.Produce(r.t, r.Broker, line.Topic, line.Partition, record); at != line.Offset {
				r.t.Fatalf("%s/%d: offset %d instead of %d", line.Topic, line.Partition, at, line.Offset)
			}
		}
	}
}

// earlierSettings are the settings of one of its pipelines.
func earlierSettings(pipeline string, seed uint64) func(*calibrate.Settings) {
	return func(s *calibrate.Settings) {
		s.Pipeline, s.Exploration.MinRows = pipeline, 1000
		s.Exploration.Criterion, s.Exploration.Rounds = scoring.Residual, 2
		s.Exploration.Features, s.Exploration.Candidates, s.Exploration.Seed = 8, 80, seed
		s.Exploration.CalibrationRows, s.Exploration.SampleRows, s.Exploration.Sigma = 100, 600, 0
	}
}

// newest returns the last record under each key of a pipeline, except tombstones.
func (r *room) newest(topic string, partition int) map[string]pipeline.Record {
	newest := map[string]pipeline.Record{}
	for _, record := range r.Records(topic, partition) {
		if owner, _, _ := strings.Cut(string(record.Key), "."); owner != r.Settings.Pipeline {
			continue
		}
		if delete(newest, string(record.Key)); record.Value != nil {
			newest[string(record.Key)] = record
		}
	}
	return newest
}

// A log of version 1 is taken over: the set in use stays in use, what is running is planned again and its records are tombstoned.
func TestALogOfVersion1IsTakenOver(t *testing.T) {
	for _, c := range []struct {
		pipeline string
		set      string // in use
		sequence int64  // of the newest exploration
		reason   string
	}{
		{"flow", earlierSet, 2, "the running exploration was planned by an earlier version"},
		{"pass0", "", 1, "the pipeline has no feature set"},
		{"pass1", "", 1, "the pipeline has no feature set"},
		{"pass2", "", 1, "the pipeline has no feature set"},
	} {
		t.Run(c.pipeline, func(t *testing.T) {
			r := newRoom(t, 2, earlierSettings(c.pipeline, 7))
			r.loadEarlier(func(earlierRecord) bool { return true })
			now := r.until("the log is read", func(s state.Snapshot) bool { // the topics are followed independently
				return s.Spec != nil && s.Spec.Sequence == c.sequence && (c.set == "" || s.CurrentSet() != nil && len(s.Requests) == 1)
			})
			if !now.Spec.Earlier() || now.Running() != nil || (now.Current == nil) != (c.set == "") {
				t.Fatalf("%+v, set %+v", now.Spec, now.Current)
			}
			if c.set != "" && (now.CurrentSet() == nil || now.CurrentSet().ID != c.set || len(now.Requests) != 1 || now.Requests[0].Fault == nil) {
				t.Fatalf("set %+v, requests %+v", now.CurrentSet(), now.Requests)
			}
			r.start()
			spec := r.spec(c.sequence + 1)
			now = r.State.Snapshot()
			if now.Running() == nil || spec.Earlier() || spec.Reason != c.reason || spec.LabelledRows() != 1540 || len(now.Requests) != 0 {
				t.Errorf("planned %+v, requests %+v", spec, now.Requests)
			}
			if c.set != "" {
				if now.CurrentSet() == nil || now.CurrentSet().ID != c.set {
					t.Errorf("in use %+v", now.Current)
				}
				answered := slices.ContainsFunc(r.Records("explorations", 0), func(record pipeline.Record) bool {
					return string(record.Key) == "flow/request/restart-1" && record.Value == nil
				})
				if !answered {
					t.Error("the request to restart has no tombstone")
				}
			}
			names := topics.Default()
			r.run(func(ctx context.Context) error {
				return (&subsample.Runner{
					Broker: r.Broker, State: r.State, Meter: meter.New(), Logger: zap.NewNop(), Clock: r.Clock, Pipeline: c.pipeline, Group: "subsample",
					Topics: names, Config: subsample.Default(), CandidateMemory: scoring.DefaultMemory, DrainTimeout: time.Second,
				}).Run(ctx)
			})
			stagestest.Until(t, "checkpoints of version 1 are tombstoned", func() bool {
				for partition := range 2 {
					for key := range r.newest(names.Scores, partition) {
						if key != spec.Exploration {
							return false
						}
					}
				}
				return true
			})
			r.run(func(ctx context.Context) error {
				return (&selection.Runner{
					Broker: r.Broker, State: r.State, Meter: meter.New(), Logger: zap.NewNop(), Clock: r.Clock, Group: "select", Topics: names,
					SampleMemory: r.Settings.Exploration.SampleMemory,
				}).Run(ctx)
			})
			now = r.until("a set", func(s state.Snapshot) bool {
				return s.Current != nil && s.Current.Sequence == c.sequence+1 && s.CurrentSet() != nil
			})
			if set := now.CurrentSet().Set; set.Lineage.Exploration != spec.Exploration || set.Lineage.Rows < 500 || len(set.Set.Index) != 8 {
				t.Errorf("%+v", set.Lineage)
			}
			if _, kept := now.Sets[c.set]; kept != (c.set != "") {
				t.Errorf("%d sets", len(now.Sets))
			}
			stagestest.Until(t, "the new checkpoints are tombstoned", func() bool {
				return len(r.newest(names.Scores, 0))+len(r.newest(names.Scores, 1)) == 0
			})
			if undecodable := r.State.Snapshot().Undecodable; undecodable[state.TopicScores] != 0 {
				t.Errorf("not decoded: %v", undecodable)
			}
		})
	}
}

// If all explorations of version 1 are over, nothing is explored until the configuration asks for something else.
func TestAFinishedExplorationOfVersion1Stays(t *testing.T) {
	for seed, sequence := range map[uint64]int64{1: 1, 7: 2} {
		synctest.Test(t, func(t *testing.T) {
			r := newRoom(t, 2, earlierSettings("flow", seed))
			r.loadEarlier(func(line earlierRecord) bool { return line.Topic != "explorations" || line.Offset < 4 })
			synctest.Wait() // the topics are followed independently
			r.start()
			if now := r.still(); now.Sequence() != sequence || now.CurrentSet() == nil || now.CurrentSet().ID != earlierSet {
				t.Errorf("seed %d: sequence %d, %+v", seed, now.Sequence(), now.Spec)
			}
		})
	}
}
