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

// MemoryNeed is the most that a part of a process takes.
type MemoryNeed struct {
	What  string   `json:"what"`
	Bytes int64    `json:"bytes"`
	Keys  []string `json:"keys"` // settings that make it smaller
}

// MemoryLoad is what the memory of a process depends on, in addition to its settings.
type MemoryLoad struct {
	Stages     []meter.Stage // that the process runs
	Partitions int           // of events, that the process holds at most
	Messages   int           // that are worked on at a time
	FetchBytes int64         // for everything that is fetched
	Outputs    int           // K, as far as it is known
	Schemas    bool          // that messages have, or may name
}

// processBytes is for the runtime, the connections and everything else that does not grow.
const processBytes = 64 << 20

// MemoryNeeds adds up the most that a process takes, when messages as large as the limits allow
// arrive in all of its partitions at once. Garbage that is not yet collected is not included: the
// collector works harder as memory runs short.
func (s Settings) MemoryNeeds(load MemoryLoad) []MemoryNeed {
	needs := []MemoryNeed{{"the process itself", processBytes, nil}, s.followerNeed(), {"live errors of the newest rows", live.WindowBytes, nil},
		{"what is fetched", load.FetchBytes, []string{"kafka.fetch_memory", "kafka.batch_budget_bytes"}}}
	if ReadEvents(load.Stages) {
		needs = append(needs, s.messagesNeed(load))
		if load.Schemas {
			needs = append(needs, MemoryNeed{"schemas: as they are, compiled, and being compiled", events.SchemasBytes + formats.PlansBytes, nil})
		}
	}
	for _, stage := range list {
		if slices.Contains(load.Stages, stage.name) {
			needs = append(needs, stage.needs(s, load)...)
		}
	}
	return needs
}

// partitionBytes is what a stage keeps for a partition between messages: its decoder, and buffers,
// of which large ones are dropped.
const partitionBytes = 256 << 10

// messagesNeed covers the messages being worked on: aligned, decoded, encoded, their rows that are
// scored, and lists of rows and of rejected ones.
func (s Settings) messagesNeed(load MemoryLoad) MemoryNeed {
	message := s.Limits.MaxMessageBytes + s.Limits.BudgetBytes + 4*events.ChunkBytes
	return MemoryNeed{fmt.Sprintf("events that are worked on, %d messages at a time", load.Messages),
		int64(load.Messages)*message + arrowio.SchemasBytes, []string{"memory.messages", "limits.budget_bytes", "limits.max_message_bytes"}}
}

// followerNeed covers the feature set in use, the next one, and one being read, and what snapshots
// keep of every model on the topic.
func (s Settings) followerNeed() MemoryNeed {
	models := 2*int64(s.Topics.KeepModels) + int64(s.Topics.FeaturesRetention/max(s.Train.Interval, time.Second))
	return MemoryNeed{"feature sets: the one in use, the next, and one that is read; what is known of each model", 4*s.setBytes() + models*state.ModelBytes,
		[]string{"topics.max_message_bytes", "train.interval", "topics.features_retention"}}
}

// setBytes bounds a feature set: its dimensions are known only after calibration, but it has to fit
// a message.
func (s Settings) setBytes() int64 { return s.Topics.MaxMessageBytes }

// calibrateNeeds covers the rows that are kept: joined, then encoded.
func (s Settings) calibrateNeeds(load MemoryLoad) []MemoryNeed {
	return []MemoryNeed{{"calibrate: the rows learned from", 3 * calibrate.KeptBytes(int(s.partitions(load))), []string{"topics.partitions"}}}
}

// partitions is how many partitions events has, in this process or elsewhere.
func (s Settings) partitions(load MemoryLoad) int64 {
	return int64(max(s.Topics.Partitions, load.Partitions))
}

// subsampleNeeds covers, for each partition, dead letters, waiting sampled rows and a message of
// them, both shares of a common bound, and the sums, of which a checkpoint is an encoded copy.
func (s Settings) subsampleNeeds(load MemoryLoad) []MemoryNeed {
	n := int64(load.Partitions)
	e := s.Exploration
	waiting := partitionBytes + 2*int64(deadletter.Share(load.Partitions))
	if e.Criterion.NeedsRows() {
		waiting += 3 * subsample.SampleShare(load.Partitions)
	}
	return []MemoryNeed{
		{"subsample: what waits in its partitions", n * waiting, []string{"memory.partitions"}},
		{"subsample: candidates and rows that wait for them", e.CandidateMemory, []string{"exploration.candidate_memory"}},
		{"subsample: sums and checkpoints", 3 * n * wire.CheckpointBytes(e.CandidateCount(), load.Outputs), []string{"exploration.candidates", "memory.partitions"}},
	}
}

// selectionNeeds covers the newest checkpoint of every partition of events, one being read, their
// merger, and the sample.
func (s Settings) selectionNeeds(load MemoryLoad) []MemoryNeed {
	all := s.partitions(load) + 2
	needs := []MemoryNeed{{"selection: checkpoints", all*wire.CheckpointBytes(s.Exploration.CandidateCount(), load.Outputs) + 4*s.Topics.MaxMessageBytes,
		[]string{"exploration.candidates", "topics.partitions"}}}
	if s.Exploration.Criterion.NeedsRows() {
		needs = append(needs, MemoryNeed{"selection: the sample and what is computed from it", s.Exploration.SampleMemory, []string{"exploration.sample_memory"}})
	}
	return needs
}

// FeatureRowBytes bounds what a row adds to a features message with k model outputs, without
// passthrough columns.
func (s Settings) FeatureRowBytes(k int) int64 {
	bytes := wire.FeatureRowBytes(s.Exploration.Features)
	if s.Featurize.Predictions {
		bytes += 4 * int64(1+max(2, k)) // the class and its probabilities
	}
	return bytes
}

// featurizeNeeds covers the outputs of all partitions, one more for each message being worked on,
// with a copy of its passthrough columns, and memory kept for later ones; and for each partition
// the dead letters that wait or are being sent, and what a request keeps of its messages.
func (s Settings) featurizeNeeds(load MemoryLoad) []MemoryNeed {
	n := int64(load.Partitions)
	output := max(s.Featurize.MaxOutputBytes, s.FeatureRowBytes(load.Outputs))
	needs := []MemoryNeed{
		{"featurize: outputs", max(s.Featurize.OutputMemory, output) + 2*int64(load.Messages)*output + featurize.SpareBytes,
			[]string{"featurize.output_memory", "featurize.max_output_bytes"}},
		{"featurize: what waits in its partitions", n * (partitionBytes + 3*int64(deadletter.Share(load.Partitions))), []string{"memory.partitions"}},
		{"featurize: feature sets as they are computed with, one in use and the next", 4 * s.setBytes(), []string{"topics.max_message_bytes"}},
	}
	// Two models while a new one arrives, and its message; rows that have a label are always
	// predicted.
	return append(needs, MemoryNeed{"featurize: the model that predicts", 6 * s.Topics.MaxMessageBytes, []string{"topics.max_message_bytes"}})
}

// mostOutputs returns the largest K of training. Where the configuration leaves the classes open,
// it is the largest number that the encoder learns and that fits into a checkpoint and a model.
func (s Settings) mostOutputs(load MemoryLoad) int {
	e := s.Events
	if len(e.Classes) > 0 || len(e.Label) > 1 || e.Task == encoder.TaskRegression {
		return max(load.Outputs, 1)
	}
	candidates, features := int64(s.Exploration.CandidateCount()), int64(s.Exploration.Features)
	fits := min(s.Topics.MaxMessageBytes/(8*candidates), s.Topics.MaxMessageBytes/(8*features))
	return int(min(max(fits, 1), encoder.MaxClasses))
}

// trainNeeds covers the lanes, which the partitions of features share: they read side by side, and
// their sums, kept by the age of the rows, are merged and decomposed.
func (s Settings) trainNeeds(load MemoryLoad) []MemoryNeed {
	all := min(s.partitions(load), train.Lanes)
	m := int64(s.Exploration.Features)
	k := s.mostOutputs(load)
	limits := train.FeatureLimits(s.State().Limits())
	message := s.Topics.MaxMessageBytes + limits.BudgetBytes // the rows and what is decoded from them
	const samples, sums = int64(2), int64(3)                 // for each lane: of held-out rows; of held-out and other rows; those that the exploration has seen count apart
	needs := []MemoryNeed{
		{"train: features that are read", min(all, int64(load.Messages)) * message, []string{"memory.messages", "topics.max_message_bytes"}},
		// Next to the samples, two models are compared on their merger.
		{"train: held-out rows", int64(s.Train.EvaluationRows) * 4 * ((samples*all+2)*(m+int64(k)) + 3*int64(k)),
			[]string{"train.evaluation_rows", "exploration.features", "events.classes"}},
		{"train: the model in use, and events to compare it on", 2*s.Topics.MaxMessageBytes + s.Limits.MaxMessageBytes + s.Limits.BudgetBytes + events.ChunkBytes, []string{"limits.budget_bytes", "limits.max_message_bytes"}},
	}
	solving := 2*sums + 3 // two mergers, decomposition with its vectors, work space
	gram := 8 * (m + 1) * (m + 1 + int64(k))
	cells := (train.MaxCells+train.MaxJudging*(sums-1))*training.SettledBytes(int(m), k) + sums*training.SumsBytes(int(m), k) // of a lane
	ofSums := MemoryNeed{"train: sums by age", all*cells + solving*gram, []string{"exploration.features", "topics.partitions"}}
	// The rows, moments of the features and their factor, and what a descent keeps.
	ofRows := MemoryNeed{"train: rows", s.Train.RowMemory + 2*gram + training.LogisticBytes(int(m), k),
		[]string{"train.row_memory", "events.classes"}}
	switch {
	case s.Train.Loss == training.LossSquared:
		return append(needs, ofSums)
	case s.Train.Loss == training.LossLogistic, ofRows.Bytes > ofSums.Bytes:
		return append(needs, ofRows)
	}
	return append(needs, ofSums) // the label decides which of the two it is
}
