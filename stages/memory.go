package stages

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/subsample"
	"github.com/eerf-stream/eerf/training"
)

// MemoryNeed is what a part of a process takes at most.
type MemoryNeed struct {
	What  string   `json:"what"`
	Bytes int64    `json:"bytes"`
	Keys  []string `json:"keys"` // that make it smaller
}

// MemoryLoad is what the memory of a process depends on beside its settings.
type MemoryLoad struct {
	Stages     []string // that it runs
	Partitions int      // of events that it holds at most
	FetchBytes int64    // that the response to one fetch takes at most
	Outputs    int      // K, as far as it is known
}

// processBytes is for the runtime, the connections and all that does not grow.
const processBytes = 64 << 20

// MemoryNeeds adds up what a process takes at worst: with messages as large as the limits let through in all of its
// partitions at once. Garbage that is not yet collected is not in it: the collector works harder as memory runs short.
func (s Settings) MemoryNeeds(load MemoryLoad) []MemoryNeed {
	needs := []MemoryNeed{{"the process itself", processBytes, nil}, s.followerNeed()}
	of := map[string]func(MemoryLoad) []MemoryNeed{
		meter.StageCalibrate: s.calibrateNeeds, meter.StageSubsample: s.subsampleNeeds, meter.StageSelect: s.selectNeeds,
		meter.StageFeaturize: s.featurizeNeeds, meter.StageTrain: s.trainNeeds,
	}
	for _, stage := range meter.Stages() {
		if slices.Contains(load.Stages, stage) {
			needs = append(needs, of[stage](load)...)
		}
	}
	return needs
}

// messageBytes is what one message takes while it is worked on: moved to where its numbers can be read, decoded, encoded.
func (s Settings) messageBytes() int64 {
	return s.Limits.MaxMessageBytes + s.Limits.BudgetBytes + events.ChunkBytes
}

var inputKeys = []string{"kafka.batch_budget_bytes", "limits.budget_bytes", "limits.max_message_bytes", "memory.partitions"}

// followerNeed is the feature sets that are kept, which every process follows.
func (s Settings) followerNeed() MemoryNeed {
	return MemoryNeed{"feature sets that are kept, and one that comes",
		int64(s.Topics.KeepFeatureSets+2) * s.setBytes(), []string{"topics.keep_feature_sets", "topics.max_message_bytes"}}
}

// setBytes bounds a feature set: its dimensions are known after calibration, but it has to fit a message.
func (s Settings) setBytes() int64 { return s.Topics.MaxMessageBytes }

// calibrateNeeds: some partitions are read side by side; the rows that are kept are joined, and then encoded.
func (s Settings) calibrateNeeds(load MemoryLoad) []MemoryNeed {
	all := s.partitions(load)
	side := min(all, calibrate.Scanners)
	return []MemoryNeed{{"calibrate: the rows learned from, and those read",
		3*calibrate.KeptBytes(int(all)) + side*(2*load.FetchBytes+s.messageBytes()), inputKeys}}
}

// partitions is how many partitions of events there are, whoever holds them.
func (s Settings) partitions(load MemoryLoad) int64 {
	return int64(max(s.Topics.Partitions, load.Partitions))
}

// subsampleNeeds: of each partition the current fetch, the next one, dead letters of as many bytes as one, sampled rows that
// wait and a message of them, and sums, of which a checkpoint is a copy that is encoded.
func (s Settings) subsampleNeeds(load MemoryLoad) []MemoryNeed {
	n := int64(load.Partitions)
	e := s.Exploration
	sums := wire.CheckpointBytes(e.CandidateCount(), load.Outputs)
	input := 3*load.FetchBytes + s.messageBytes() + deadletter.PendingBytes
	if e.Criterion.NeedsRows() {
		input += 2*subsample.SampleBytes + events.ChunkBytes
	}
	return []MemoryNeed{
		{"subsample: events of its partitions", n * input, inputKeys},
		{"subsample: candidates and rows that wait for them", e.CandidateMemory, []string{"exploration.candidate_memory"}},
		{"subsample: sums and checkpoints", 3 * n * sums, []string{"exploration.candidates", "memory.partitions"}},
	}
}

// selectNeeds: the newest checkpoint of every partition of events, whoever holds them, and their merger; the sample.
func (s Settings) selectNeeds(load MemoryLoad) []MemoryNeed {
	all := s.partitions(load) + 2
	needs := []MemoryNeed{{"select: checkpoints", all*wire.CheckpointBytes(s.Exploration.CandidateCount(), load.Outputs) + 2*load.FetchBytes,
		[]string{"exploration.candidates", "topics.partitions"}}}
	if s.Exploration.Criterion.NeedsRows() {
		needs = append(needs, MemoryNeed{"select: the sample and what is computed from it", s.Exploration.SampleMemory, []string{"exploration.sample_memory"}})
	}
	return needs
}

// outputCopies is how many outputs of max_output_bytes a partition holds: those that wait, those under way, those kept for
// later ones.
const outputCopies = 2 + featurize.SpareOutputs

// FeatureRowBytes bounds what a row adds to a features message, with k outputs of a model, but for passthrough columns.
func (s Settings) FeatureRowBytes(k int) int64 {
	bytes := wire.FeatureRowBytes(s.Exploration.Features)
	if s.Featurize.Predictions {
		bytes += 4 * int64(1+max(2, k)) // the class, and a probability for each
	}
	return bytes
}

// featurizeNeeds: of each partition the fetch being sent, the current one, and the next one.
func (s Settings) featurizeNeeds(load MemoryLoad) []MemoryNeed {
	n := int64(load.Partitions)
	needs := []MemoryNeed{
		{"featurize: events of its partitions", n * (3*load.FetchBytes + s.messageBytes() + 2*deadletter.PendingBytes), inputKeys},
		{"featurize: outputs of its partitions", n * outputCopies * max(s.Featurize.MaxOutputBytes, s.FeatureRowBytes(load.Outputs)),
			[]string{"featurize.max_output_bytes", "memory.partitions"}},
		{"featurize: the feature set, for each partition", n * s.setBytes(), []string{"topics.max_message_bytes", "memory.partitions"}},
	}
	if s.Featurize.Predictions { // two models as a new one comes, and its message
		needs = append(needs, MemoryNeed{"featurize: the model of predictions", load.FetchBytes + 6*s.Topics.MaxMessageBytes,
			[]string{"topics.max_message_bytes", "featurize.predictions"}})
	}
	return needs
}

// trainNeeds: all partitions of features are read at once, their sums merged and decomposed.
func (s Settings) trainNeeds(load MemoryLoad) []MemoryNeed {
	all := s.partitions(load)
	m := int64(s.Exploration.Features)
	message := s.Topics.MaxMessageBytes + 4*s.Topics.MaxMessageBytes // moved and decoded
	samples, sums := int64(1), int64(2)                              // for each partition: of held-out rows; of those and of the others
	if s.Exploration.Criterion == scoring.Adaptive {
		samples, sums = 2, 3 // those that the exploration has seen by themselves
	}
	needs := []MemoryNeed{
		{"train: features of all partitions", all * (load.FetchBytes + message), []string{"kafka.batch_budget_bytes", "topics.max_message_bytes", "topics.partitions"}},
		{"train: held-out rows", (samples*all + 2) * int64(s.Train.EvaluationRows) * 4 * (m + int64(load.Outputs)), []string{"train.evaluation_rows", "exploration.features"}},
		{"train: the model in use, and events to compare it on", 2*s.Topics.MaxMessageBytes + load.FetchBytes + s.messageBytes(), inputKeys},
	}
	solving := sums + 2 // merger, decomposition with its vectors, work space
	gram := 8 * (m + 1) * (m + 1 + int64(load.Outputs))
	ofSums := MemoryNeed{"train: sums", (sums*all + solving) * gram, []string{"exploration.features", "topics.partitions"}}
	ofRows := MemoryNeed{"train: rows", s.Train.RowMemory + 2*gram, []string{"train.row_memory"}} // moments of the features, and their factor
	switch {
	case s.Train.Loss == training.LossSquared:
		return append(needs, ofSums)
	case s.Train.Loss == training.LossLogistic, ofRows.Bytes > ofSums.Bytes:
		return append(needs, ofRows)
	}
	return append(needs, ofSums) // which of them it is depends on the label
}
