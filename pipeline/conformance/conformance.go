package conformance

import (
	"io"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// Source is a broker under test and what it can do. A nil function or a false ability skips the behaviours that need
// it.
type Source struct {
	// Open returns a client that is closed with the test.
	Open func(t testing.TB, o Options) Client
	// DeleteRecords moves the start of a partition, as retention does.
	DeleteRecords func(t testing.TB, topic string, partition int, before int64)
	// Writer returns a producer of another client library: idempotent and with transactions under the id, or without
	// them if it is empty.
	Writer func(t testing.TB, transactionalID string) Writer
	// Groups says that the members of a group share partitions, and that topics created or grown later are assigned.
	Groups bool
	// Compacts says that topics with cleanup.policy compact are compacted soon; EmptyBatches that this leaves batches
	// without records.
	Compacts, EmptyBatches bool
	// Fences says that writers exist whose repeats and predecessors are refused.
	Fences bool
	// Move makes another node lead a partition.
	Move func(t testing.TB, topic string, partition int)
	// Kill ends every node without warning. Start starts them again on their data.
	Kill, Start func(t testing.TB)
}

// Client is a broker that can be closed.
type Client interface {
	pipeline.Broker
	io.Closer
}

// Options of a client. Zero leaves the choice to the source, which is fast where speed is not under test.
type Options struct {
	// FetchMaxWait is how long a fetch waits for a first record.
	FetchMaxWait time.Duration
	// FetchMaxBytes is how much of a partition is fetched at once; a source without such a limit may ignore it.
	FetchMaxBytes int
	// SessionTimeout is how long a member of a group may be silent; a source without groups may ignore it.
	SessionTimeout time.Duration
}

// Writer is a producer of another client library. It writes to partition 0, one batch per call.
type Writer interface {
	Begin(t testing.TB)
	Produce(t testing.TB, topic string, records ...pipeline.Record)
	End(t testing.TB, commit bool)
}

// Test runs every behaviour that package pipeline asks of a broker.
func Test(t *testing.T, s Source) {
	for _, behaviour := range []struct {
		name  string
		test  func(t *testing.T, s Source)
		needs string // "" = what every source has
		has   bool
	}{
		{name: "a record comes back as it was written", test: recordsComeBack},
		{name: "offsets are found by time", test: offsetsByTime},
		{name: "a fetch at the end waits and returns nothing", test: fetchAtEnd},
		{name: "a fetch is woken by a record", test: fetchIsWoken},
		{name: "a fetch in the middle of a batch starts there", test: fetchInTheMiddle},
		{"offsets outside the partition are named", offsetOutOfRange, "records that are deleted", s.DeleteRecords != nil},
		{name: "a topic that is not there is unknown", test: unknownTopic},
		{name: "a request over the limit is too large", test: messageTooLarge},
		{name: "a batch over the fetch size is returned whole", test: batchOverFetchSize},
		{name: "many partitions are read at once", test: manyPartitions},
		{name: "topics are made, described and grown", test: topicsAreMade},
		{name: "a fault of one topic does not stop the others", test: oneTopicFails},
		{"aborted records are not handed out", abortedRecords, "transactions", s.Writer != nil},
		{"nobody waits for records of an open transaction", openTransaction, "transactions", s.Writer != nil},
		{"a writer's records follow each other", writerNumbers, "writers that are protected", s.Fences},
		{"a successor has its predecessor refused", successorFences, "writers that are protected", s.Fences},
		{"a compacted topic is read to its end", compactedTopic, "compaction", s.Compacts},
		{"two members share the partitions", membersShare, "groups of several members", s.Groups},
		{name: "offsets are committed", test: offsetsAreCommitted},
		{"a run that returns keeps its partition idle", runReturnsEarly, "groups of several members", s.Groups},
		{name: "an error of a run ends the membership", test: runFails},
		{name: "a deadline ends the membership without an error", test: deadlineEnds},
		{"added partitions are assigned", partitionsAdded, "groups that are assigned again", s.Groups},
		{"a topic that comes later is waited for", topicComesLater, "groups that are assigned again", s.Groups},
		{"a partition is followed to another leader", leaderMoves, "another node that can be made to lead", s.Move != nil},
		{"a restarted cluster is used as before", clusterRestarts, "a cluster that the test can end", s.Kill != nil},
	} {
		t.Run(behaviour.name, func(t *testing.T) {
			if behaviour.needs != "" && !behaviour.has {
				t.Skipf("the source lacks %s", behaviour.needs)
			}
			behaviour.test(t, s)
		})
	}
}
