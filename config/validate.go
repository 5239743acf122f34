package config

import (
	"cmp"
	"fmt"
	"regexp"

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

var (
	changeHash   = regexp.MustCompile(`^[0-9a-f]{12}$`)
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
	accepted := k.config.Stages.Pipeline.AcceptChange
	k.rule(accepted == "" || changeHash.MatchString(accepted), "pipeline.accept_change",
		"want the 12 digits (0-9, a-f) that the log or /readyz of the process name")
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

func (k *checker) featurize() {
	c := k.config.Stages.Featurize
	k.setsFrom()
	k.oneOf(c.Start, "featurize.start", featurize.StartEarliest, featurize.StartLatest)
	limit := k.config.Stages.Topics.MaxMessageBytes
	k.rule(c.OutputMemory >= c.MaxOutputBytes, "featurize.output_memory",
		"want featurize.max_output_bytes or more: one output must fit", "featurize.max_output_bytes")
	k.rule(c.MaxOutputBytes <= limit, "featurize.max_output_bytes",
		fmt.Sprintf("want at most topics.max_message_bytes (%s): the broker refuses more",
			sizeText(limit)), "topics.max_message_bytes")
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
	k.rule(c.BudgetBytes >= c.MaxMessageBytes, "limits.budget_bytes",
		fmt.Sprintf("want at least limits.max_message_bytes (%s): decoding may copy a message once",
			sizeText(c.MaxMessageBytes)),
		"limits.max_message_bytes")
}

// process checks settings of the process rather than of a stage.
func (k *checker) process() {
	k.oneOf(k.config.Log.Level, "log.level", "debug", "info", "warn", "error")
	k.oneOf(k.config.Log.Format, "log.format", LogAuto, LogConsole, LogJSON)
	drain := k.config.Shutdown.DrainTimeout
	rebalance := cmp.Or(k.config.Kafka.RebalanceTimeout, kafka.DefaultConfig().RebalanceTimeout)
	k.rule(drain < rebalance, "shutdown.drain_timeout",
		fmt.Sprintf("want less than kafka.rebalance_timeout (%v): a member that takes longer to finish its work "+
			"is removed from the consumer group", rebalance), "kafka.rebalance_timeout")
}
