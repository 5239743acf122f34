package pipeline

import (
	"context"
	"time"
)

// Log reads and appends records of topic partitions by offset.
type Log interface {
	// Fetch returns records at or after offset. With nothing there it waits a short while and returns
	// no records. An offset outside the partition is an [*OffsetOutOfRangeError]; a batch that cannot be
	// read is an [*UnreadableBatchError].
	Fetch(ctx context.Context, topic string, partition int, offset int64) (Fetched, error)
	// Produce appends the records in one request, acknowledged by all in-sync replicas, and returns the
	// offset of the first. Topic, Partition and Offset of the records are not used. A request over the
	// broker's limit is [ErrMessageTooLarge]. What the records point to is not kept: once Produce has
	// returned without an error it may be overwritten. After another error than ErrMessageTooLarge it may
	// still be read, by an abandoned attempt.
	Produce(ctx context.Context, topic string, partition int, records []Record) (firstOffset int64, err error)
	// Offsets returns the first offset that the partition holds and its end, the next offset to which it can be
	// read now, see [Fetched]: an open transaction keeps the end where it is.
	Offsets(ctx context.Context, topic string, partition int) (first, next int64, err error)
	// Partitions returns the number of partitions of the topic, or [ErrUnknownTopic].
	Partitions(ctx context.Context, topic string) (int, error)
	// Committed returns the group's committed next offset, -1 where there is none.
	Committed(ctx context.Context, group, topic string, partition int) (nextOffset int64, err error)
}

// Ownership is one partition in the hands of one run.
type Ownership struct {
	Partition int
	// Commit stores the next offset at the broker, for lag monitors; it is never the source of truth.
	Commit func(ctx context.Context, nextOffset int64) error
}

// Owner hands out the partitions of a topic to the members of a consumer group.
type Owner interface {
	// Own joins the group and calls run in a goroutine for each partition it is assigned. The context of
	// run ends on revocation and on shutdown; Own waits for every run before it rejoins or returns. A
	// run that returns nil early leaves its partition idle until the next assignment; a run's error ends
	// Own with that error. Own returns nil when ctx ends.
	Own(ctx context.Context, group, topic string, run func(ctx context.Context, o Ownership) error) error
}

// GroupStatus says where a member of a consumer group, one call of [Owner].Own, stands.
type GroupStatus struct {
	Group string
	Topic string
	// Joined says that the process is a member of the present generation, with partitions or without.
	Joined bool
	// Since is when Joined last changed; before the first change, when Own was called.
	Since time.Time
	// Joins counts the generations that the process was a member of: the first, and one for each rebalance.
	Joins int64
	// Partitions are those assigned in the present generation; none while not joined.
	Partitions []int
	// Err is why the last attempt to join failed; nil after one that did not.
	Err error
}

// GroupReporter reports the groups that a process takes part in.
type GroupReporter interface {
	Groups() []GroupStatus
}

// TopicSpec is a topic to be created.
type TopicSpec struct {
	Name        string
	Partitions  int
	Replication int // 0 = the broker's default
	Configs     map[string]string
}

// Admin makes and describes topics.
type Admin interface {
	// CreateTopics creates what is missing and returns the names that it created; a topic that exists is
	// left as it is.
	CreateTopics(ctx context.Context, topics []TopicSpec) (created []string, err error)
	// TopicConfig returns the topic's configuration values, or [ErrUnknownTopic].
	TopicConfig(ctx context.Context, topic string) (map[string]string, error)
	// GrowPartitions raises the number of partitions of a topic.
	GrowPartitions(ctx context.Context, topic string, partitions int) error
}

// Budgeter bounds the memory of what it reads. The bound decides which batches can be read, so that everyone who reads a
// range of the log for the same result has to do it within the same one.
type Budgeter interface {
	// BatchBudget is how many bytes a batch may take; a larger one is an [*UnreadableBatchError].
	BatchBudget() int64
	// WithBatchBudget is the same broker, read within another budget.
	WithBatchBudget(bytes int64) Broker
}

// Within is a broker read within a budget, 0 = its own.
func Within(broker Broker, batchBudget int64) Broker {
	if batchBudget == 0 || batchBudget == broker.BatchBudget() {
		return broker
	}
	return broker.WithBatchBudget(batchBudget)
}

// Broker is everything that the stages ask of a broker.
type Broker interface {
	Log
	Owner
	Admin
	Budgeter
}
