package config

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/featurize"
)

// Validate returns everything that is out of bounds or inconsistent, as [Faults]; nil if nothing
// is. A configuration that [Load] returned is valid.
func (c *Config) Validate() error {
	k := newChecker(c, nil)
	k.all()
	return k.faults.orNil()
}

// maxInt32 bounds numbers that are sent as 32 bits: Kafka's sizes and partition counts, candidate
// numbers.
const maxInt32 = math.MaxInt32

var (
	pipelineName = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	topicName    = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`) // what Kafka accepts
)

func (k *checker) kafka() {
	c := k.config.Kafka
	k.adopt("kafka", c.Validate())
	budget := func(size int64, key string) {
		k.rule(int64(c.BatchBudgetBytes) >= size, "kafka.batch_budget_bytes",
			fmt.Sprintf("want at least %s (%d): a batch of one such message must be readable", key, size), key)
	}
	budget(k.config.Stages.Topics.MaxMessageBytes, "topics.max_message_bytes")
	budget(k.config.Stages.Limits.MaxMessageBytes, "limits.max_message_bytes")
}

// formats checks the format settings for messages of events.
func (k *checker) formats() {
	c := k.config.Stages.Events
	var names []string
	for _, f := range formats.All() {
		names = append(names, string(f))
	}
	k.oneOf(string(c.Format), "events.format", names...)
	k.rule(c.Schema == "" || c.Format.NeedsSchema(), "events.schema",
		"only messages of events.format avro or protobuf have a schema", "events.format")
}

func (k *checker) pipeline() {
	k.rule(pipelineName.MatchString(k.config.Stages.Pipeline.Name), "pipeline.name",
		"want 1 to 64 of a-z, 0-9 and -: it is part of record keys and of consumer group names")
}

func (k *checker) topics() {
	c := k.config.Stages.Topics
	named := []namedTopic{
		{"topics.events", c.Events}, {"topics.explorations", c.Explorations},
		{"topics.feature_sets", c.FeatureSets}, {"topics.features", c.Features}, {"topics.models", c.Models},
		{"topics.dead_letters", c.DeadLetters},
	}
	explored := []namedTopic{{"topics.scores", c.Scores}, {"topics.samples", c.Samples}}
	if k.config.Stages.Featurize.SetsFrom == "" {
		named = append(named, explored...)
	} else {
		k.unnamed(explored)
	}
	k.topicNames(named)
	k.rule(1 <= c.Partitions && c.Partitions <= maxInt32, "topics.partitions", "want 1 or more")
	k.rule(0 <= c.Replication && c.Replication <= math.MaxInt16, "topics.replication",
		"want 0 (the broker's default) to 32767")
	k.rule(1<<10 <= c.MaxMessageBytes && c.MaxMessageBytes <= maxInt32, "topics.max_message_bytes",
		"want 1KiB to 2147483647, Kafka's largest")
	k.positive(c.FeaturesRetention, "topics.features_retention")
	k.positive(c.SamplesRetention, "topics.samples_retention")
	k.rule(c.KeepFeatureSets >= 1, "topics.keep_feature_sets", "want 1 or more: the current one is kept")
	k.rule(c.KeepModels >= 1, "topics.keep_models", "want 1 or more: the current one is kept")
}

type namedTopic struct{ key, name string }

// unnamed checks that a pipeline without explorations names no topics of explorations.
func (k *checker) unnamed(topics []namedTopic) {
	for _, topic := range topics {
		k.rule(topic.name == "", topic.key, "a pipeline with featurize.sets_from explores nothing: leave it empty",
			"featurize.sets_from")
	}
}

// topicNames checks that Kafka accepts each name and that no two topics are the same.
func (k *checker) topicNames(topics []namedTopic) {
	keyOf := map[string]string{}
	for _, topic := range topics {
		k.rule(topicName.MatchString(topic.name) && topic.name != "." && topic.name != "..", topic.key,
			"want 1 to 249 of a-z, A-Z, 0-9, ., _ and -")
		if other, taken := keyOf[topic.name]; taken {
			k.rule(false, topic.key, fmt.Sprintf("is the topic of %s; want seven different topics", other))
			continue
		}
		keyOf[topic.name] = topic.key
	}
}

func (k *checker) subsample() {
	c := k.config.Stages.Subsample
	k.rule(c.CheckpointRows >= 1, "subsample.checkpoint_rows", "want 1 or more")
	k.positive(c.CheckpointInterval, "subsample.checkpoint_interval")
}

func (k *checker) featurize() {
	c := k.config.Stages.Featurize
	k.setsFrom()
	k.oneOf(c.Start, "featurize.start", featurize.StartEarliest, featurize.StartLatest)
	limit := k.config.Stages.Topics.MaxMessageBytes
	k.rule(c.MaxOutputBytes >= 1, "featurize.max_output_bytes", "want 1 or more")
	k.rule(c.OutputMemory >= c.MaxOutputBytes, "featurize.output_memory",
		"want featurize.max_output_bytes or more: one output must fit", "featurize.max_output_bytes")
	k.rule(c.MaxOutputBytes <= limit, "featurize.max_output_bytes",
		fmt.Sprintf("want at most topics.max_message_bytes (%s): the broker refuses more",
			sizeText(limit)), "topics.max_message_bytes")
	k.positive(c.CommitInterval, "featurize.commit_interval")
	k.predictions()
}

// setsFrom checks that sets come from another pipeline.
func (k *checker) setsFrom() {
	from := k.config.Stages.Featurize.SetsFrom
	if from == "" {
		return
	}
	k.rule(pipelineName.MatchString(from), "featurize.sets_from", "want the name of a pipeline: 1 to 64 of a-z, 0-9 and -")
	k.rule(from != k.config.Stages.Pipeline.Name, "featurize.sets_from",
		"is this pipeline itself (pipeline.name); want another one, or empty", "pipeline.name")
}

func (k *checker) limits() {
	c := k.config.Stages.Limits
	k.rule(1<<10 <= c.MaxMessageBytes && c.MaxMessageBytes <= maxInt32, "limits.max_message_bytes",
		"want 1KiB to 2147483647, Kafka's largest")
	k.rule(c.BudgetBytes >= c.MaxMessageBytes, "limits.budget_bytes",
		fmt.Sprintf("want at least limits.max_message_bytes (%s): decoding may copy a message once",
			sizeText(c.MaxMessageBytes)),
		"limits.max_message_bytes")
	k.rule(1 <= c.MaxRows && c.MaxRows <= maxInt32, "limits.max_rows", "want 1 to 2147483647, the greatest row number")
	k.rule(c.MaxColumns >= 1, "limits.max_columns", "want 1 or more")
	k.rule(c.Amplification >= 0, "limits.amplification", "want 0 or more")
	k.rule(c.CompressedAmplification >= 0, "limits.compressed_amplification", "want 0 or more")
}

// process checks settings of the process rather than of a stage.
func (k *checker) process() {
	k.oneOf(k.config.Log.Level, "log.level", "debug", "info", "warn", "error")
	k.oneOf(k.config.Log.Format, "log.format", LogAuto, LogConsole, LogJSON)
	drain := k.config.Shutdown.DrainTimeout
	k.positive(drain, "shutdown.drain_timeout")
	rebalance := cmp.Or(k.config.Kafka.RebalanceTimeout, kafka.DefaultConfig().RebalanceTimeout)
	k.rule(drain < rebalance, "shutdown.drain_timeout",
		fmt.Sprintf("want less than kafka.rebalance_timeout (%v): a member that takes longer to finish its work "+
			"is removed from the consumer group", rebalance), "kafka.rebalance_timeout")
}

func (k *checker) memory() {
	c := k.config.Memory
	k.rule(c.Limit == 0 || c.Limit >= minMemoryLimit, "memory.limit",
		fmt.Sprintf("want %dMiB or more, or 0 for GOMEMLIMIT or the limit of the control group", minMemoryLimit>>20))
	k.rule(0 <= c.Partitions && c.Partitions <= maxInt32, "memory.partitions",
		"want 1 or more, or 0 for all of topics.partitions")
	k.rule(0 <= c.Messages && c.Messages <= maxInt32, "memory.messages",
		"want 1 or more, or 0 for two more than there are processors")
}

func (k *checker) positive(d time.Duration, key string) {
	k.rule(d > 0, key, "want a duration above 0")
}

// zeroIsOff checks a duration for which 0 has a special meaning.
func (k *checker) zeroIsOff(d time.Duration, key, meaning string) {
	k.rule(d >= 0, key, "want a duration above 0, or 0 for "+meaning)
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
