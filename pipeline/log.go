package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Log reads and appends records of topic partitions by offset.
type Log interface {
	// Fetch returns records at or after offset. If there are none it waits a short while and returns no records. An
	// offset outside the partition is an [*OffsetOutOfRangeError]; a batch that cannot be read is an
	// [*UnreadableBatchError].
	Fetch(ctx context.Context, topic string, partition int, offset int64) (Fetched, error)
	Producer
	// Offsets returns the first offset that the partition holds and its end, the next offset up to which it can be read
	// now, see [Fetched]: an open transaction holds the end back.
	Offsets(ctx context.Context, topic string, partition int) (first, next int64, err error)
	// OffsetAt returns the first offset of a record with the given time or later, in milliseconds; the partition's end
	// if there is none.
	OffsetAt(ctx context.Context, topic string, partition int, at time.Time) (int64, error)
	// Partitions returns the number of partitions of the topic, or [ErrUnknownTopic].
	Partitions(ctx context.Context, topic string) (int, error)
	// Identity returns the identity of the topic's log, as of the given time or later. For a partition its leader
	// answers: what was fetched from it before that time belongs to the log with this identity, or to an earlier one.
	// With [AnyPartition] any broker may answer, which may learn of a change a moment later.
	Identity(ctx context.Context, topic string, partition int, asOf time.Time) (LogID, error)
	// Committed returns the group's committed next offset, or -1 if there is none for the present log.
	Committed(ctx context.Context, group, topic string, partition int) (nextOffset int64, err error)
}

// Producer appends records to topic partitions.
type Producer interface {
	// Produce appends the records in one request, acknowledged by all in-sync replicas, and returns the offset of the
	// first. Topic, Partition and Offset of the records are ignored. A request over the broker's limit is
	// [ErrMessageTooLarge]. Once Produce has returned without an error, what the records point to may be overwritten.
	// After any error but ErrMessageTooLarge an abandoned attempt may still read it, and the records may have been
	// written: calling Produce again may write them twice. The producer of [OpenWriter] does not.
	Produce(ctx context.Context, topic string, partition int, records []Record) (firstOffset int64, err error)
}

// Ownership is a partition that one run owns.
type Ownership struct {
	Partition int
	// Commit stores the next offset at the broker, with the identity of its log, for lag monitors. It is never the
	// source of truth.
	Commit func(ctx context.Context, nextOffset int64, of LogID) error
}

// Owner hands out the partitions of a topic to the members of a consumer group.
type Owner interface {
	// Own joins the group and calls run in a goroutine for each partition it is assigned. The context of run ends on
	// revocation and on shutdown. Own waits for every run before it rejoins or returns. A run that returns nil early
	// leaves its partition idle until the next assignment; a run's error ends Own with that error. Own returns nil when
	// ctx ends.
	Own(ctx context.Context, group, topic string, run func(ctx context.Context, o Ownership) error) error
}

// GroupStatus is the state of a member of a consumer group, that is, of one call of [Owner].Own.
type GroupStatus struct {
	Group string
	Topic string
	// Joined says that the process is a member of the present generation, with or without partitions.
	Joined bool
	// Since is when Joined last changed; before the first change, when Own was called.
	Since time.Time
	// Joins counts the generations that the process was a member of: the first one and one for each rebalance.
	Joins int64
	// Partitions are those assigned in the present generation; none while not joined.
	Partitions []int
	// Err is why the last attempt to join failed; nil if it succeeded.
	Err error
}

// GroupReporter reports the groups that a process takes part in.
type GroupReporter interface {
	Groups() []GroupStatus
}

// LeaderReporter reports which partitions of a topic have no leader, and so can be neither read nor written.
type LeaderReporter interface {
	Leaderless(ctx context.Context, topic string) ([]int, error)
}

// Leaderless asks a log that can tell. For any other log, every partition counts as having a leader.
func Leaderless(ctx context.Context, log Log, topic string) ([]int, error) {
	if reporter, ok := log.(LeaderReporter); ok {
		return reporter.Leaderless(ctx, topic)
	}
	return nil, nil
}

// TopicLister lists the topics that there are, as far as the rights allow.
type TopicLister interface {
	Topics(ctx context.Context) ([]string, error)
}

// StabilityReporter reports the end of a partition including open transactions, beyond which nothing can be read yet.
type StabilityReporter interface {
	Written(ctx context.Context, topic string, partition int) (next int64, err error)
}

// ErrOpenTransaction says that a partition holds records that cannot be read yet because a transaction before them is
// open. Callers who need everything there try again.
var ErrOpenTransaction = errors.New("a transaction is open before the end of the partition")

// CheckStable returns [ErrOpenTransaction] if a log can tell that a partition holds more than can be read.
func CheckStable(ctx context.Context, log Log, topic string, partition int) error {
	reporter, ok := log.(StabilityReporter)
	if !ok {
		return nil
	}
	written, err := reporter.Written(ctx, topic, partition)
	if err != nil {
		return err
	}
	_, stable, err := log.Offsets(ctx, topic, partition)
	if err == nil && stable < written {
		err = fmt.Errorf("%s/%d can be read up to offset %d and holds %d: %w", topic, partition, stable, written, ErrOpenTransaction)
	}
	return err
}

// TopicSpec is a topic to create.
type TopicSpec struct {
	Name        string
	Partitions  int
	Replication int // 0 = the broker's default
	Configs     map[string]string
}

// Admin creates and describes topics.
type Admin interface {
	// CreateTopics creates missing topics and returns their names. An existing topic is left alone.
	CreateTopics(ctx context.Context, topics []TopicSpec) (created []string, err error)
	// TopicConfig returns the topic's configuration values, or [ErrUnknownTopic].
	TopicConfig(ctx context.Context, topic string) (map[string]string, error)
	// GrowPartitions raises the number of partitions of a topic.
	GrowPartitions(ctx context.Context, topic string, partitions int) error
}

// Budgeter bounds the memory of what it reads. The bound decides which batches can be read, so everybody who reads a
// range of the log for the same result has to use the same one.
type Budgeter interface {
	// BatchBudget is how many bytes a batch may take; a larger one is an [*UnreadableBatchError].
	BatchBudget() int64
	// WithBatchBudget is the same broker, read within another budget.
	WithBatchBudget(bytes int64) Broker
}

// Within returns a broker that reads within a budget, 0 = its own.
func Within(broker Broker, batchBudget int64) Broker {
	if batchBudget == 0 || batchBudget == broker.BatchBudget() {
		return broker
	}
	return broker.WithBatchBudget(batchBudget)
}

// Broker is everything that the stages need from a broker.
type Broker interface {
	Log
	Owner
	Admin
	Budgeter
}
