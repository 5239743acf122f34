package featurize

import "time"

// Where a partition begins to be featurized that never was.
const (
	StartEarliest = "earliest" // with the first event that the log holds
	StartLatest   = "latest"   // with those to come
)

// Config says whose sets featurizing goes by, where it starts and how its output is cut.
type Config struct {
	SetsFrom       string        `key:"sets_from" doc:"another pipeline, with whose feature sets and models the events are featurized; then this pipeline featurizes and does nothing else, and topics.explorations, topics.feature_sets and topics.models are those of the other one, also where they are not named; empty = sets of its own"`
	Start          string        `key:"start" doc:"where a partition without output and without committed offset starts: earliest or latest"`
	MaxOutputBytes int64         `key:"max_output_bytes" unit:"bytes" doc:"size of one output message; a larger input message becomes several output messages"`
	CommitInterval time.Duration `key:"commit_interval" unit:"duration" doc:"time between two commits of the consumer group's offset"`
	Predictions    bool          `key:"predictions" doc:"attach what the model in use predicts to the output, as columns prediction and, for classes, probabilities; they are null where the model is of another feature set than the output. Then the output also depends on when the model changed"`
}

// Default is what an empty configuration says.
func Default() Config {
	return Config{Start: StartEarliest, MaxOutputBytes: 1 << 20, CommitInterval: 5 * time.Second}
}
