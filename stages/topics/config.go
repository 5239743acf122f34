package topics

import (
	"math"
	"strconv"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// Config names the topics and what they are created with.
type Config struct {
	Events       string `key:"events" doc:"topic that the events are read from"`
	Explorations string `key:"explorations" doc:"topic of specs and requests (one partition, compacted)"`
	Scores       string `key:"scores" doc:"topic of checkpoints (co-partitioned with events, compacted)"`
	Samples      string `key:"samples" doc:"topic of the sampled rows of explorations, encoded (co-partitioned with events); it holds labelled rows"`
	FeatureSets  string `key:"feature_sets" doc:"topic of feature sets (one partition, compacted)"`
	Features     string `key:"features" doc:"topic of feature vectors (co-partitioned with events); one per pipeline"`
	Models       string `key:"models" doc:"topic of models (one partition, compacted)"`
	DeadLetters  string `key:"dead_letters" doc:"topic of inputs that could not be used (co-partitioned with events)"`

	Partitions        int           `key:"partitions" doc:"partitions of events where topics create has to make it"`
	Replication       int           `key:"replication" doc:"replicas of created topics; 0 = the broker's default"`
	MaxMessageBytes   int64         `key:"max_message_bytes" unit:"bytes" doc:"max.message.bytes of created topics; checkpoints, feature sets and models must fit"`
	FeaturesRetention time.Duration `key:"features_retention" unit:"duration" doc:"retention.ms of the features topic; no feature set or model younger than this is tombstoned"`
	SamplesRetention  time.Duration `key:"samples_retention" unit:"duration" doc:"retention.ms of the samples topic; an exploration whose samples are gone reads its partitions again"`
	KeepFeatureSets   int           `key:"keep_feature_sets" doc:"newest feature sets that are kept; older ones are tombstoned once features_retention has passed"`
	KeepModels        int           `key:"keep_models" doc:"newest models that were in use that are kept, and as many of those that were not; older ones are tombstoned once features_retention has passed. How far back a rollback can go"`
}

// coPartitioned lists the topics that have a partition for each of events.
func (t Config) coPartitioned() []string {
	return []string{t.Scores, t.Samples, t.Features, t.DeadLetters}
}

// Specs returns the topics to be created, for so many partitions of events. Events itself is in the list with the
// broker's own retention: it is the user's topic and is only created where it is missing.
func (t Config) Specs(partitions int) []pipeline.TopicSpec {
	size := strconv.FormatInt(t.MaxMessageBytes, 10)
	plain := map[string]string{"max.message.bytes": size}
	features := map[string]string{"max.message.bytes": size, "cleanup.policy": "delete",
		"retention.ms": strconv.FormatInt(t.FeaturesRetention.Milliseconds(), 10)}
	samples := map[string]string{"max.message.bytes": size, "cleanup.policy": "delete",
		"retention.ms": strconv.FormatInt(t.SamplesRetention.Milliseconds(), 10)}
	deadLetters := map[string]string{"max.message.bytes": size, "cleanup.policy": "delete"}
	compacted := map[string]string{"max.message.bytes": size, "cleanup.policy": "compact",
		// Small segments and an eager cleaner bound what a restore reads. Kafka keeps their size in 32 bits.
		"segment.bytes":             strconv.FormatInt(min(max(4*t.MaxMessageBytes, 64<<20), math.MaxInt32), 10),
		"segment.ms":                strconv.FormatInt((10 * time.Minute).Milliseconds(), 10),
		"min.cleanable.dirty.ratio": "0.1",
		"max.compaction.lag.ms":     strconv.FormatInt((30 * time.Minute).Milliseconds(), 10),
	}
	spec := func(name string, n int, configs map[string]string) pipeline.TopicSpec {
		return pipeline.TopicSpec{Name: name, Partitions: n, Replication: t.Replication, Configs: configs}
	}
	return []pipeline.TopicSpec{
		spec(t.Events, partitions, plain),
		spec(t.Explorations, 1, compacted),
		spec(t.Scores, partitions, compacted),
		spec(t.Samples, partitions, samples),
		spec(t.FeatureSets, 1, compacted),
		spec(t.Features, partitions, features),
		spec(t.Models, 1, compacted),
		spec(t.DeadLetters, partitions, deadLetters),
	}
}

// Default is what an empty configuration says.
func Default() Config {
	return Config{
		Events: "events", Explorations: "explorations", Scores: "scores", Samples: "samples", FeatureSets: "feature-sets",
		Features: "features", Models: "models", DeadLetters: "dead-letters",
		Partitions: 4, MaxMessageBytes: 8 << 20, FeaturesRetention: 7 * 24 * time.Hour,
		SamplesRetention: 24 * time.Hour,
		KeepFeatureSets:  10, KeepModels: 10,
	}
}
