package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Log reads the records of topic partitions by offset.
type Log interface {
	// Fetch returns records at or after offset. At the end of the partition it waits a short while
	// for a record, and may return no records. An offset outside the partition is an
	// [*OffsetOutOfRangeError]; a batch that cannot be read is an [*UnreadableBatchError].
	Fetch(ctx context.Context, topic string, partition int, offset int64) (Fetched, error)
	// Offsets returns the first offset that the partition holds and its end, see [Fetched]: an open
	// transaction holds the end back.
	Offsets(ctx context.Context, topic string, partition int) (first, next int64, err error)
	// Written returns the end of a partition including open transactions, whose records cannot be
	// read yet.
	Written(ctx context.Context, topic string, partition int) (next int64, err error)
	// OffsetAt returns the first offset of a record with the given time or later, in milliseconds;
	// the partition's end if no record is that late.
	OffsetAt(ctx context.Context, topic string, partition int, at time.Time) (int64, error)
	// Partitions returns the number of partitions of the topic, or [ErrUnknownTopic].
	Partitions(ctx context.Context, topic string) (int, error)
	// Leaderless returns the partitions of a topic without a leader, which can be neither read nor
	// written.
	Leaderless(ctx context.Context, topic string) ([]int, error)
	// Identity returns the identity of the topic's log, as of the given time or later. The leader
	// of the partition answers: records fetched from it before that time belong to the log with
	// this identity, or to an earlier one. With [AnyPartition] any broker may answer, which may
	// learn of a change a moment later.
	Identity(ctx context.Context, topic string, partition int, asOf time.Time) (LogID, error)
}

// Broker is everything that the stages need from a broker.
type Broker interface {
	Log
	Sink
	Control
	// Own joins the group and calls run in a goroutine for each partition that it is assigned. The
	// context of run ends on revocation and on shutdown. Own waits for every run before it rejoins
	// or returns. A run that returns nil early leaves its partition idle until the next assignment;
	// a run's error ends Own with that error. Own returns nil when ctx ends.
	Own(ctx context.Context, group, topic string, run func(ctx context.Context, o Ownership) error) error
	// Groups reports the calls of Own that have not returned, oldest first.
	Groups() []GroupStatus
	// Committed returns the offset that the group has committed for a partition of the current log.
	Committed(ctx context.Context, group, topic string, partition int) (Committed, error)
	// BatchBudget is the number of bytes that a batch may take unless a fetch sets another limit
	// ([WithBatchBudget]).
	BatchBudget() int64
	// FetchMemory reports the memory of fetched records.
	FetchMemory() MemoryStats
}

// Ownership is a partition that one run owns.
type Ownership struct {
	Partition int
	// Commit stores the next offset at the broker, with the identity of its log, for lag monitors.
	// It is never the source of truth.
	Commit func(ctx context.Context, nextOffset int64, of LogID) error
}

// Committed is the offset that a group has committed for a partition.
type Committed struct {
	Next int64 // -1 = none
	// ByMember is set if a member of the group committed it by [Ownership].Commit, which stores the
	// identity of the log. Other tools store no identity, which distinguishes an operator who
	// resets the group.
	ByMember bool
}

// NotCommitted is the state of a group that has committed nothing.
var NotCommitted = Committed{Next: -1}

// GroupStatus is the state of a member of a consumer group, that is, of one call of [Broker].Own.
type GroupStatus struct {
	Group string
	Topic string
	// Joined is set while the process is a member of the current generation, with or without
	// partitions.
	Joined bool
	// Since is when Joined last changed; before the first change, when Own was called.
	Since time.Time
	// Joins counts the generations that the process was a member of: the first one and one for each
	// rebalance.
	Joins int64
	// Partitions are assigned to the process in the current generation; empty while it is not
	// joined.
	Partitions []int
	// Err is the error of the last attempt to join; nil if it succeeded.
	Err error
}

// ErrOpenTransaction marks a partition with records that cannot be read yet because a transaction
// before them is open. Callers that need all records retry.
var ErrOpenTransaction = errors.New("a transaction is open before the end of the partition")

// CheckStable returns [ErrOpenTransaction] if a partition holds records that cannot be read yet.
func CheckStable(ctx context.Context, log Log, topic string, partition int) error {
	written, err := log.Written(ctx, topic, partition)
	if err != nil {
		return err
	}
	_, stable, err := log.Offsets(ctx, topic, partition)
	if err == nil && stable < written {
		err = fmt.Errorf("%s/%d ends at offset %d but can be read only up to %d: %w",
			topic, partition, written, stable, ErrOpenTransaction)
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

// Control creates and describes topics.
type Control interface {
	// CreateTopics creates missing topics and returns their names. An existing topic is left alone.
	CreateTopics(ctx context.Context, topics []TopicSpec) (created []string, err error)
	// TopicConfig returns the topic's configuration values, or [ErrUnknownTopic].
	TopicConfig(ctx context.Context, topic string) (map[string]string, error)
	// GrowPartitions raises the number of partitions of a topic.
	GrowPartitions(ctx context.Context, topic string, partitions int) error
}
