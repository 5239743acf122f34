package featurize

import "time"

// Where to begin in a partition that was never featurized.
const (
	StartEarliest = "earliest" // with the first event that the log holds
	StartLatest   = "latest"   // with those to come
)

// Config says whose sets are used, where featurizing starts and how its output is cut.
type Config struct {
	SetsFrom       string        `key:"sets_from" doc:"another pipeline whose feature sets and models are used; this pipeline then only featurizes, and topics.explorations, topics.feature_sets and topics.models default to those of the other one; empty = sets of its own"`
	Start          string        `key:"start" doc:"where a partition with neither output nor a committed offset starts: earliest or latest"`
	MaxOutputBytes int64         `key:"max_output_bytes" unit:"bytes" range:"1,2147483647" doc:"largest output message; an input message that needs more becomes several output messages"`
	OutputMemory   int64         `key:"output_memory" unit:"bytes" range:"1,1PiB" doc:"memory for the output messages of all partitions of a process, from when they are made until the broker has them"`
	CommitInterval time.Duration `key:"commit_interval" unit:"duration" range:"1ms,8760h" doc:"time between two commits of the consumer group's offset"`
	Predictions    bool          `key:"predictions" doc:"add the predictions of the model in use to the output, as columns prediction and, for classes, probabilities; they are null where the model belongs to another feature set than the output. The output then also depends on when the model changed"`
}

// Default returns the configuration of an empty file.
func Default() Config {
	return Config{Start: StartEarliest, MaxOutputBytes: 1 << 20, OutputMemory: 128 << 20, CommitInterval: 5 * time.Second}
}
