package topics

import (
	"maps"
	"math"
	"strconv"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// Config names the topics and holds the settings for creating them.
type Config struct {
	Events       string `key:"events" doc:"topic that events are read from; empty = <pipeline.name>.events"`
	Explorations string `key:"explorations" doc:"topic of specs and requests (one partition, compacted); empty = <pipeline.name>.explorations"`
	Scores       string `key:"scores" doc:"topic of checkpoints (co-partitioned with events, compacted); empty = <pipeline.name>.scores"`
	Samples      string `key:"samples" doc:"topic of the sampled rows of explorations, encoded (co-partitioned with events); it holds labelled rows; empty = <pipeline.name>.samples"`
	FeatureSets  string `key:"feature_sets" doc:"topic of feature sets (one partition, compacted); empty = <pipeline.name>.feature-sets"`
	Features     string `key:"features" doc:"topic of feature vectors (co-partitioned with events); one per pipeline; empty = <pipeline.name>.features"`
	Models       string `key:"models" doc:"topic of models (one partition, compacted); empty = <pipeline.name>.models"`
	Live         string `key:"live" doc:"topic of live prediction errors on labelled rows, in blocks (co-partitioned with events); without it live errors are unknown; empty = <pipeline.name>.live"`
	DeadLetters  string `key:"dead_letters" doc:"topic of inputs that could not be used (co-partitioned with events); empty = <pipeline.name>.dead-letters"`

	Partitions        int           `key:"partitions" range:"1,1000000" doc:"partitions of the events topic if topics create has to make it"`
	Replication       int           `key:"replication" range:"1,32767" zero:"the broker's default" doc:"replicas of created topics; 0 = the broker's default"`
	MaxMessageBytes   int64         `key:"max_message_bytes" unit:"bytes" range:"1KiB,2147483647" doc:"max.message.bytes of created topics; checkpoints, feature sets and models must fit"`
	FeaturesRetention time.Duration `key:"features_retention" unit:"duration" range:"1ms,876000h" doc:"retention.ms of the topics features and live; no feature set or model younger than this is tombstoned"`
	SamplesRetention  time.Duration `key:"samples_retention" unit:"duration" range:"1ms,876000h" doc:"retention.ms of the samples topic; an exploration whose samples are gone reads its partitions again"`
	KeepFeatureSets   int           `key:"keep_feature_sets" range:"1,100000" doc:"how many of the newest feature sets are kept; older ones are tombstoned once features_retention has passed"`
	KeepModels        int           `key:"keep_models" range:"1,100000" doc:"how many of the newest models that were in use are kept, and as many that were not; older ones are tombstoned once features_retention has passed. This is how far back a rollback can go"`
}

// Explores reports whether this pipeline explores. A pipeline that uses the sets of another one has
// no scores and samples, and only reads the other's explorations, feature sets and models.
func (t Config) Explores() bool { return t.Scores != "" || t.Samples != "" }

// coPartitioned lists the topics that stages require and that need a partition for each events
// partition. Live is not among them: stages run without it.
func (t Config) coPartitioned() []string {
	if !t.Explores() {
		return []string{t.Features, t.DeadLetters}
	}
	return []string{t.Scores, t.Samples, t.Features, t.DeadLetters}
}

// Specs returns the topics to create for a number of events partitions. Events itself is included
// with the broker's own retention: it belongs to the user and is created only if it is missing.
// Topics of another pipeline are not included.
func (t Config) Specs(partitions int) []pipeline.TopicSpec {
	plain := t.common(nil)
	features := t.common(map[string]string{"cleanup.policy": "delete",
		"retention.ms": strconv.FormatInt(t.FeaturesRetention.Milliseconds(), 10)})
	samples := t.common(map[string]string{"cleanup.policy": "delete",
		"retention.ms": strconv.FormatInt(t.SamplesRetention.Milliseconds(), 10)})
	deadLetters := t.common(map[string]string{"cleanup.policy": "delete"})
	compacted := t.common(map[string]string{"cleanup.policy": "compact",
		// Small segments and an eager cleaner bound the data that a restore reads. Kafka keeps
		// segment sizes in 32 bits.
		"segment.bytes":             strconv.FormatInt(min(max(4*t.MaxMessageBytes, 64<<20), math.MaxInt32), 10),
		"segment.ms":                strconv.FormatInt((10 * time.Minute).Milliseconds(), 10),
		"min.cleanable.dirty.ratio": "0.1",
		"max.compaction.lag.ms":     strconv.FormatInt((30 * time.Minute).Milliseconds(), 10),
	})
	spec := func(name string, n int, configs map[string]string) pipeline.TopicSpec {
		return pipeline.TopicSpec{Name: name, Partitions: n, Replication: t.Replication, Configs: configs}
	}
	if !t.Explores() {
		return []pipeline.TopicSpec{
			spec(t.Events, partitions, plain),
			spec(t.Features, partitions, features),
			spec(t.Live, partitions, features),
			spec(t.DeadLetters, partitions, deadLetters),
		}
	}
	return []pipeline.TopicSpec{
		spec(t.Events, partitions, plain),
		spec(t.Explorations, 1, compacted),
		spec(t.Scores, partitions, compacted),
		spec(t.Samples, partitions, samples),
		spec(t.FeatureSets, 1, compacted),
		spec(t.Features, partitions, features),
		spec(t.Models, 1, compacted),
		spec(t.Live, partitions, features),
		spec(t.DeadLetters, partitions, deadLetters),
	}
}

// common adds the settings of all created topics. Writers require all in-sync replicas. With three
// replicas, a minimum of two in sync permits one unavailable broker, and acknowledged records
// survive the loss of another. With fewer replicas, a minimum of two would stop the pipeline
// whenever a broker restarts. The broker's own defaults for both numbers are unknown here.
func (t Config) common(configs map[string]string) map[string]string {
	all := map[string]string{"max.message.bytes": strconv.FormatInt(t.MaxMessageBytes, 10)}
	switch {
	case t.Replication >= 3:
		all["min.insync.replicas"] = "2"
	case t.Replication > 0:
		all["min.insync.replicas"] = "1"
	}
	maps.Copy(all, configs)
	return all
}

// Named returns the configuration with a name for every topic. Unnamed topics get the pipeline's
// name as a prefix, because a shared cluster may well have another user's topic "events".
func (t Config) Named(pipeline string) Config {
	plain := Default()
	plainNames := plain.names()
	for i, name := range t.names() {
		if *name == "" {
			*name = pipeline + "." + *plainNames[i]
		}
	}
	return t
}

// Reading is [Config.Named] for a pipeline that uses the sets of another one: explorations, feature
// sets and models are named after the other; scores and samples have no name.
func (t Config) Reading(pipeline, setsFrom string) Config {
	scores, samples := t.Scores, t.Samples
	theirs := Config{Explorations: t.Explorations, FeatureSets: t.FeatureSets, Models: t.Models}.Named(setsFrom)
	t.Explorations, t.FeatureSets, t.Models = theirs.Explorations, theirs.FeatureSets, theirs.Models
	t = t.Named(pipeline)
	t.Scores, t.Samples = scores, samples
	return t
}

// Unnamed returns the configuration without the names of its topics.
func (t Config) Unnamed() Config {
	for _, name := range t.names() {
		*name = ""
	}
	return t
}

func (t *Config) names() []*string {
	return []*string{
		&t.Events,
		&t.Explorations,
		&t.Scores,
		&t.Samples,
		&t.FeatureSets,
		&t.Features,
		&t.Models,
		&t.Live,
		&t.DeadLetters,
	}
}

// Default returns topic names without the pipeline's name, see [Config.Named], and default settings
// for creating topics.
func Default() Config {
	return Config{
		Events: "events", Explorations: "explorations", Scores: "scores", Samples: "samples", FeatureSets: "feature-sets",
		Features: "features", Models: "models", Live: "live", DeadLetters: "dead-letters",
		Partitions: 4, MaxMessageBytes: 8 << 20, FeaturesRetention: 7 * 24 * time.Hour,
		SamplesRetention: 24 * time.Hour,
		KeepFeatureSets:  10, KeepModels: 10,
	}
}
