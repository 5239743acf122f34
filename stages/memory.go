package stages

import (
	"fmt"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/subsample"
	"github.com/eerf-stream/eerf/stages/train"
	"github.com/eerf-stream/eerf/training"
)

// MemoryNeed is the maximum memory of a part of a process.
type MemoryNeed struct {
	What  string   `json:"what"`
	Bytes int64    `json:"bytes"`
	Keys  []string `json:"keys"` // settings that reduce it
}

// MemoryLoad holds the properties of a process, other than settings, that determine its memory.
type MemoryLoad struct {
	Stages     []meter.Stage // stages that the process runs
	Partitions int           // maximum number of events partitions held by the process
	Messages   int           // maximum number of messages in work
	FetchBytes int64         // total for fetches
	Schemas    bool          // messages have schema ids or may have them
}

// processBytes covers the runtime, the connections and everything else of constant size.
const processBytes = 64 << 20

// MemoryNeeds adds up the maximum memory of a process, for messages of the largest permitted size
// arriving in all of its partitions at once. Uncollected garbage is excluded: the collector works
// harder as memory runs short.
func (s Settings) MemoryNeeds(load MemoryLoad) []MemoryNeed {
	needs := []MemoryNeed{
		{"the process itself", processBytes, nil},
		s.followerNeed(),
		{"live errors of the newest rows", live.WindowBytes, nil},
		{"fetched messages", load.FetchBytes, []string{"kafka.fetch_memory", "kafka.batch_budget_bytes"}},
	}
	if ReadEvents(load.Stages) {
		needs = append(needs, s.messagesNeed(load))
		if load.Schemas {
			needs = append(
				needs,
				MemoryNeed{"schemas: source, compiled, and being compiled", events.SchemasBytes + formats.PlansBytes, nil},
			)
		}
	}
	for _, stage := range list {
		if slices.Contains(load.Stages, stage.name) {
			needs = append(needs, stage.needs(s, load)...)
		}
	}
	return needs
}

// partitionBytes is the memory that a stage keeps for a partition between messages: its decoder and
// its buffers, which are dropped if large.
const partitionBytes = 256 << 10

// messagesNeed covers the messages in work: aligned, decoded and encoded data, rows being scored,
// and lists of rows and of rejected rows.
func (s Settings) messagesNeed(load MemoryLoad) MemoryNeed {
	message := s.Limits.MaxMessageBytes + s.Limits.BudgetBytes + 4*events.ChunkBytes
	return MemoryNeed{fmt.Sprintf("events in work, %d messages at a time", load.Messages),
		int64(
			load.Messages,
		)*message + arrowio.SchemasBytes, []string{"memory.messages", "limits.budget_bytes", "limits.max_message_bytes"}}
}

// followerNeed covers the current feature set, the next one, one being read, and the entry that
// snapshots keep for every model on the topic.
func (s Settings) followerNeed() MemoryNeed {
	models := 2*int64(s.Topics.KeepModels) + int64(s.Topics.FeaturesRetention/max(s.Train.Interval, time.Second))
	return MemoryNeed{
		"feature sets: current, next, and one being read; an entry for each model",
		4*s.setBytes() + models*state.ModelBytes,
		[]string{"topics.max_message_bytes", "train.interval", "topics.features_retention"},
	}
}

// setBytes bounds a feature set by the message size that it must fit, because its dimensions are
// known only after calibration.
func (s Settings) setBytes() int64 { return s.Topics.MaxMessageBytes }

// calibrateNeeds covers the kept rows: joined, then encoded.
func (s Settings) calibrateNeeds(load MemoryLoad) []MemoryNeed {
	return []MemoryNeed{
		{"calibrate: training rows", 3 * calibrate.KeptBytes(int(s.partitions(load))), []string{"topics.partitions"}},
	}
}

// partitions returns the number of events partitions, in this process or elsewhere.
func (s Settings) partitions(load MemoryLoad) int64 {
	return int64(max(s.Topics.Partitions, load.Partitions))
}

// subsampleNeeds covers the sums, of which a checkpoint is an encoded copy, and for each partition
// dead letters, waiting sampled rows and a message of them, both as shares of a common bound.
func (s Settings) subsampleNeeds(load MemoryLoad) []MemoryNeed {
	n := int64(load.Partitions)
	e := s.Exploration
	waiting := partitionBytes + 2*int64(deadletter.Share(load.Partitions))
	if e.Criterion.NeedsRows() {
		waiting += 3 * subsample.SampleShare(load.Partitions)
	}
	return []MemoryNeed{
		{"subsample: waiting dead letters and samples", n * waiting, []string{"memory.partitions"}},
		{"subsample: candidates and rows waiting for them", e.CandidateMemory, []string{"exploration.candidate_memory"}},
		{
			"subsample: sums and checkpoints",
			3 * n * wire.CheckpointBytes(e.CandidateCount(), s.MostOutputs()),
			s.keysWithClasses("exploration.candidates", "memory.partitions"),
		},
	}
}

// selectionNeeds covers the newest checkpoint of every events partition, one being read, the merger
// of the checkpoints, and the sample.
func (s Settings) selectionNeeds(load MemoryLoad) []MemoryNeed {
	all := s.partitions(load) + 2
	needs := []MemoryNeed{
		{
			"selection: checkpoints",
			all*wire.CheckpointBytes(s.Exploration.CandidateCount(), s.MostOutputs()) + 4*s.Topics.MaxMessageBytes,
			s.keysWithClasses("exploration.candidates", "topics.partitions"),
		},
	}
	if s.Exploration.Criterion.NeedsRows() {
		needs = append(
			needs,
			MemoryNeed{
				"selection: the sample and its derived data",
				s.Exploration.SampleMemory,
				[]string{"exploration.sample_memory"},
			},
		)
	}
	return needs
}

// FeatureRowBytes bounds the size that a row adds to a features message with k model outputs,
// without passthrough columns.
func (s Settings) FeatureRowBytes(k int) int64 {
	bytes := wire.FeatureRowBytes(s.Exploration.Features)
	if s.Featurize.Predictions {
		bytes += 4 * int64(1+max(2, k)) // the class and its probabilities
	}
	return bytes
}

// featurizeNeeds covers the outputs of all partitions, one more output for each message in work
// with a copy of its passthrough columns, and spare memory; and for each partition the dead letters
// that wait or are being sent, and the rows that a request keeps of its messages.
func (s Settings) featurizeNeeds(load MemoryLoad) []MemoryNeed {
	n := int64(load.Partitions)
	output := max(s.Featurize.MaxOutputBytes, s.FeatureRowBytes(s.MostOutputs()))
	needs := []MemoryNeed{
		{"featurize: outputs", max(s.Featurize.OutputMemory, output) + 2*int64(load.Messages)*output + featurize.SpareBytes,
			[]string{"featurize.output_memory", "featurize.max_output_bytes"}},
		{
			"featurize: waiting dead letters and requests",
			n * (partitionBytes + 3*int64(deadletter.Share(load.Partitions))),
			[]string{"memory.partitions"},
		},
		{"featurize: prepared feature sets, current and next", 4 * s.setBytes(), []string{"topics.max_message_bytes"}},
	}
	// Two models while a new one arrives, and its message; labelled rows are always predicted.
	return append(
		needs,
		MemoryNeed{"featurize: the predicting model", 6 * s.Topics.MaxMessageBytes, []string{"topics.max_message_bytes"}},
	)
}

// MostOutputs returns the largest K of an exploration, for which memory is counted. If the
// configuration leaves the classes open, it is the largest number that may be learned and that fits
// into a checkpoint and a model.
func (s Settings) MostOutputs() int {
	e := s.Events
	switch {
	case len(e.Label) > 1:
		return len(e.Label)
	case e.Task == encoder.TaskRegression:
		return 1
	case len(e.Classes) > 0:
		return outputsOf(len(e.Classes))
	}
	candidates, features := int64(s.Exploration.CandidateCount()), int64(s.Exploration.Features)
	fits := s.Topics.MaxMessageBytes / (8 * max(candidates, features, 1))
	return outputsOf(int(min(max(fits, 1), int64(e.MaxClasses))))
}

// keysWithClasses returns keys, followed by the one that bounds the classes, if any does.
func (s Settings) keysWithClasses(keys ...string) []string {
	switch e := s.Events; {
	case len(e.Label) > 1, e.Task == encoder.TaskRegression:
		return keys
	case len(e.Classes) > 0:
		return append(keys, "events.classes")
	}
	return append(keys, "events.max_classes")
}

// outputsOf returns the number of outputs for a number of classes.
func outputsOf(classes int) int {
	if classes <= 2 {
		return 1
	}
	return classes
}

// trainNeeds covers the lanes, which read side by side and share the partitions of features, and
// their sums, which are kept by row age, merged and decomposed.
func (s Settings) trainNeeds(load MemoryLoad) []MemoryNeed {
	all := min(s.partitions(load), train.Lanes)
	m := int64(s.Exploration.Features)
	k := s.MostOutputs()
	limits := train.FeatureLimits(s.State().Limits())
	message := s.Topics.MaxMessageBytes + limits.BudgetBytes // the rows and their decoded form
	// Per lane: two samples of held-out rows, and sums of held-out rows, of other rows, and of rows
	// seen by the exploration.
	const samples, sums = int64(2), int64(3)
	needs := []MemoryNeed{
		{
			"train: features being read",
			min(all, int64(load.Messages)) * message,
			[]string{"memory.messages", "topics.max_message_bytes"},
		},
		// Next to the samples, two models are compared on their merger.
		{"train: held-out rows", int64(s.Train.EvaluationRows) * 4 * ((samples*all+2)*(m+int64(k)) + 3*int64(k)),
			s.keysWithClasses("train.evaluation_rows", "exploration.features")},
		{
			"train: the current model, and events for comparing it",
			2*s.Topics.MaxMessageBytes + s.Limits.MaxMessageBytes + s.Limits.BudgetBytes + events.ChunkBytes,
			[]string{"limits.budget_bytes", "limits.max_message_bytes"},
		},
	}
	solving := 2*sums + 3 // two mergers, decomposition with its vectors, work space
	// Each member of a set has its own sums. A feature of two members counts in both, but then they
	// have fewer than their shares together.
	members := int64(max(s.Exploration.ActiveMembers(), 1))
	own := (m + members - 1) / members
	gram := members * 8 * (own + 1) * (own + 1 + int64(k))
	settled, adding := training.SettledBytes(int(own), k), training.SumsBytes(int(own), k)
	cells := members * ((train.MaxCells+train.MaxJudging*(sums-1))*settled + sums*adding) // of one lane
	ofSums := MemoryNeed{
		"train: sums by age",
		all*cells + solving*gram,
		s.keysWithClasses("exploration.features", "topics.partitions"),
	}
	// Rows, moments of the features with their factor, and the state of a descent.
	ofRows := MemoryNeed{"train: rows", s.Train.RowMemory + 2*gram + training.LogisticBytes(int(m), k),
		s.keysWithClasses("train.row_memory")}
	switch {
	case s.Train.Loss == training.LossSquared:
		return append(needs, ofSums)
	case s.Train.Loss == training.LossLogistic, ofRows.Bytes > ofSums.Bytes:
		return append(needs, ofRows)
	}
	return append(needs, ofSums) // the label decides between sums and rows
}
