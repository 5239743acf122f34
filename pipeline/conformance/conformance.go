package conformance

import (
	"io"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// Source is a broker under test with its abilities. A nil function or a false ability skips the
// tests that need it.
type Source struct {
	// Open returns a client that is closed with the test.
	Open func(t testing.TB, o Options) Client
	// DeleteRecords moves the start of a partition, as retention does.
	DeleteRecords func(t testing.TB, topic string, partition int, before int64)
	// Writer returns an idempotent producer of another client library, with transactions unless the
	// id is empty.
	Writer func(t testing.TB, transactionalID string) Writer
	// Groups is set if the members of a group share partitions, and topics created or grown later
	// are assigned.
	Groups bool
	// Compacts is set if topics with cleanup.policy compact are compacted soon, EmptyBatches if
	// this leaves batches without records.
	Compacts, EmptyBatches bool
	// Fences is set if the broker refuses repeated requests and earlier writers.
	Fences bool
	// Move makes another node the leader of a partition.
	Move func(t testing.TB, topic string, partition int)
	// Kill kills all nodes. Start restarts them on their data.
	Kill, Start func(t testing.TB)
}

// Client is a broker that can be closed.
type Client interface {
	pipeline.Broker
	io.Closer
}

// Options of a client. Zero leaves the choice to the source, which should be fast.
type Options struct {
	// FetchMaxWait is how long a fetch waits for a first record.
	FetchMaxWait time.Duration
	// FetchMaxBytes is the size of a fetch; a source without such a limit may ignore it.
	FetchMaxBytes int
	// SessionTimeout is the session timeout of group members; a source without groups may ignore
	// it.
	SessionTimeout time.Duration
}

// Writer is a producer of another client library. It writes to partition 0, one batch per call.
type Writer interface {
	Begin(t testing.TB)
	Produce(t testing.TB, topic string, records ...pipeline.Record)
	End(t testing.TB, commit bool)
}

// Test tests all behaviours that package pipeline requires of a broker.
func Test(t *testing.T, s Source) {
	for _, behaviour := range []struct {
		name  string
		test  func(t *testing.T, s Source)
		needs string // "" = nothing special
		has   bool
	}{
		{name: "records are read as written", test: recordsComeBack},
		{name: "offsets are looked up by time", test: offsetsByTime},
		{name: "a fetch at the end waits and returns nothing", test: fetchAtEnd},
		{name: "a waiting fetch returns a new record", test: fetchIsWoken},
		{name: "a fetch in the middle of a batch begins at its offset", test: fetchInTheMiddle},
		{"an offset out of range is an error", offsetOutOfRange, "deletion of records", s.DeleteRecords != nil},
		{name: "a missing topic is unknown", test: unknownTopic},
		{name: "a request over the limit is too large", test: messageTooLarge},
		{name: "a batch over the fetch size is returned whole", test: batchOverFetchSize},
		{name: "many partitions are read concurrently", test: manyPartitions},
		{name: "topics are created, described and grown", test: topicsAreMade},
		{name: "an invalid topic does not prevent creating others", test: oneTopicFails},
		{"aborted records are not returned", abortedRecords, "transactions", s.Writer != nil},
		{"records of an open transaction are not waited for", openTransaction, "transactions", s.Writer != nil},
		{"a writer's records are written once and in order", writerNumbers, "protected writers", s.Fences},
		{"a new writer fences the previous one", successorFences, "protected writers", s.Fences},
		{"a compacted topic is read to its end", compactedTopic, "compaction", s.Compacts},
		{"two members share the partitions", membersShare, "groups of several members", s.Groups},
		{name: "offsets are committed", test: offsetsAreCommitted},
		{"a run that returns leaves its partition idle", runReturnsEarly, "groups of several members", s.Groups},
		{name: "an error of a run ends the membership", test: runFails},
		{name: "a deadline ends the membership without an error", test: deadlineEnds},
		{"added partitions are assigned", partitionsAdded, "groups that rebalance", s.Groups},
		{"a group waits for a missing topic", topicComesLater, "groups that rebalance", s.Groups},
		{"clients follow a partition to a new leader", leaderMoves, "a second node", s.Move != nil},
		{"clients recover from a restart of the cluster", clusterRestarts, "a cluster that the test can kill", s.Kill != nil},
	} {
		t.Run(behaviour.name, func(t *testing.T) {
			if behaviour.needs != "" && !behaviour.has {
				t.Skipf("the source lacks %s", behaviour.needs)
			}
			behaviour.test(t, s)
		})
	}
}
