package featurize

import "time"

// Where to begin in a partition that was never featurized.
const (
	StartEarliest = "earliest" // with the first event of the log
	StartLatest   = "latest"   // with future events
)

// Config selects the feature sets, the start of featurizing and the size of its output.
type Config struct {
	SetsFrom       string        `key:"sets_from" doc:"pipeline whose feature sets and models to use; this pipeline then only featurizes, and topics.explorations, topics.feature_sets and topics.models default to those of the other pipeline; empty = its own sets"`
	Start          string        `key:"start" doc:"start of a partition that has neither output nor a committed offset: earliest or latest"`
	MaxOutputBytes int64         `key:"max_output_bytes" unit:"bytes" range:"1,2147483647" doc:"largest output message; an input message that needs more becomes several output messages"`
	OutputMemory   int64         `key:"output_memory" unit:"bytes" range:"1,1PiB" doc:"memory for the unacknowledged output messages of all partitions of a process"`
	CommitInterval time.Duration `key:"commit_interval" unit:"duration" range:"1ms,8760h" doc:"time between commits of the consumer group's offset"`
	Predictions    bool          `key:"predictions" doc:"add the predictions of the current model to the output, as columns prediction and, for classes, probabilities; they are null if the model belongs to another feature set than the output. The output then also depends on the time when the model changed"`
}

// Predict configures the predictions of a process. It does not change models.
type Predict struct {
	Threshold float64 `key:"threshold" range:"0.000001,0.999999" zero:"the more probable class" doc:"probability of the second of two classes above which featurize and featurizer serve predict it; trainer fit shows the effect. 0 = the more probable class"`
}

// Default returns the configuration of an empty file.
func Default() Config {
	return Config{Start: StartEarliest, MaxOutputBytes: 1 << 20, OutputMemory: 128 << 20, CommitInterval: 5 * time.Second}
}
