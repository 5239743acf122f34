package stages_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

// flow is an embedded broker with the topics of a pipeline, observed from outside.
type flow struct {
	t        *testing.T
	ctx      context.Context
	giveUp   context.CancelFunc // ends ctx
	server   *stagestest.Broker
	client   *kafka.Client
	settings stages.Settings
	follower *state.Follower

	batchBudget int // of the workers' clients; 0 = the default
}

// newFlow starts a broker and creates topics for the given number of events partitions. edit
// changes the settings of the test.
func newFlow(t *testing.T, partitions int, edit func(*stages.Settings)) *flow {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f := &flow{t: t, ctx: ctx, giveUp: cancel, server: stagestest.NewBroker(t), settings: testSettings(partitions)}
	if edit != nil {
		edit(&f.settings)
	}
	t.Cleanup(cancel)
	f.client = f.dial()
	if _, err := topics.Create(ctx, f.client, f.settings.Topics); err != nil {
		t.Fatal(err)
	}
	f.follower = f.onlooker()
	return f
}

// follow runs a follower of the control topics until the end of the test.
func (f *flow) follow(follower *state.Follower) *state.Follower {
	ctx, cancel := context.WithCancel(f.ctx)
	done := make(chan error, 1)
	go func() { done <- follower.Run(ctx) }()
	f.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			f.t.Error(err)
		}
	})
	return follower
}

// onlooker follows the control topics from their current state.
func (f *flow) onlooker() *state.Follower {
	return f.follow(state.New(f.client, zap.NewNop(), f.settings.State()))
}

func testSettings(partitions int) stages.Settings {
	s := stages.Default()
	s.Pipeline.Name = "flow"
	s.Topics.Partitions = partitions
	s.Events.Label = []string{"y"}
	s.Events.Passthrough = []string{"id"}
	s.Exploration.Candidates, s.Exploration.Features = 64, 8
	s.Exploration.Criterion, s.Exploration.Rounds = scoring.Residual, 2
	s.Exploration.SampleRows, s.Exploration.MinRows = 600, 100
	s.Exploration.CalibrationRows = 100
	s.Subsample.CheckpointRows, s.Subsample.CheckpointInterval = 50, 50*time.Millisecond
	s.Featurize.CommitInterval = 50 * time.Millisecond
	s.Train.Interval, s.Train.MinRows = 50*time.Millisecond, 50
	return s
}

// dial makes a client with small fetches, so that it needs many.
func (f *flow) dial() *kafka.Client {
	f.t.Helper()
	return f.server.Dial(func(c *kafka.Config) { c.FetchMaxBytes, c.BatchBudgetBytes = 16<<10, f.batchBudget })
}

// state waits until ok accepts the state of the topics.
func (f *flow) state(what string, ok func(state.Snapshot) bool) state.Snapshot {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.ctx, stagestest.Patience)
	defer cancel()
	now, err := f.follower.Wait(ctx, ok)
	if err != nil {
		f.t.Fatalf("%s: %v; spec %+v, current %+v", what, err, now.Spec, now.Current)
	}
	return now
}

// set waits for a feature set of at least the given sequence number.
func (f *flow) set(sequence int64) *state.Set {
	f.t.Helper()
	return f.state(fmt.Sprintf("feature set of exploration %d", sequence), func(s state.Snapshot) bool {
		return s.Current != nil && s.Current.Sequence >= sequence && s.CurrentSet() != nil &&
			s.Spec != nil && s.Spec.Sequence >= sequence // the topics are followed independently
	}).CurrentSet()
}

// until polls for conditions that cannot be awaited.
func (f *flow) until(what string, ok func() bool) {
	f.t.Helper()
	stagestest.Until(f.t, what, func() bool {
		if f.ctx.Err() != nil {
			f.t.Fatalf("gave up waiting: %s", what)
		}
		return ok()
	})
}

func (f *flow) all(topic string, partition int) []pipeline.Record {
	f.t.Helper()
	return stagestest.All(f.t, f.client, topic, partition)
}

func (f *flow) produce(topic string, partition int, records ...pipeline.Record) int64 {
	f.t.Helper()
	first, err := f.client.Produce(f.ctx, topic, partition, records)
	if err != nil {
		f.t.Fatal(err)
	}
	return first
}

// send writes rows to a partition of events in messages of the given size, about 200 rows in a
// request.
func (f *flow) send(partition int, rows arrow.Record, perMessage int64) {
	f.t.Helper()
	var pending []pipeline.Record
	for first := int64(0); first < rows.NumRows(); first += perMessage {
		pending = append(pending, message(f.t, rows, first, min(first+perMessage, rows.NumRows())))
		if int64(len(pending)) == max(1, 200/perMessage) {
			f.produce(f.settings.Topics.Events, partition, pending...)
			pending = nil
		}
	}
	if len(pending) > 0 {
		f.produce(f.settings.Topics.Events, partition, pending...)
	}
}

// message is an event with some of the rows; its key is the number of the first row.
func message(t *testing.T, rows arrow.Record, first, next int64) pipeline.Record {
	t.Helper()
	slice := rows.NewSlice(first, next)
	defer slice.Release()
	return pipeline.Record{Key: []byte(fmt.Sprintf("row-%d", first)), Value: encode(t, slice)}
}

func encode(t *testing.T, rows ...arrow.Record) []byte {
	t.Helper()
	value, err := arrowio.EncodeStream(rows[0].Schema(), rows...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// deleteRecords moves the log start offset of a partition, like retention.
func (f *flow) deleteRecords(topic string, partition int, before int64) {
	f.t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(f.server.Addrs()...))
	if err != nil {
		f.t.Fatal(err)
	}
	defer client.Close()
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = int32(partition), before
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic, rt.Partitions = topic, append(rt.Partitions, p)
	request := kmsg.NewDeleteRecordsRequest()
	request.TimeoutMillis = 10000
	request.Topics = append(request.Topics, rt)
	answer, err := request.RequestWith(f.ctx, client)
	if err == nil {
		err = kerr.ErrorForCode(answer.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// deadLetter is a dead letter as its readers see it.
type deadLetter struct {
	wire.DeadLetter
	record pipeline.Record
}

// deadLetters reads the dead letters of a partition, of all stages or one.
func (f *flow) deadLetters(partition int, stage meter.Stage) []deadLetter {
	f.t.Helper()
	var found []deadLetter
	for _, rec := range f.all(f.settings.Topics.DeadLetters, partition) {
		d, err := wire.ParseDeadLetterHeaders(rec.Headers)
		if err != nil {
			f.t.Fatalf("dead letter %d: %v", rec.Offset, err)
		}
		if stage == "" || d.Stage == string(stage) {
			found = append(found, deadLetter{d, rec})
		}
	}
	return found
}

// features reads and checks the features of a partition.
func (f *flow) features(partition int) []explored.Featurized {
	f.t.Helper()
	return explored.Features(f.t, f.client, f.settings.Topics.Features, partition, f.settings.Exploration.Features)
}

// featurizedUpTo waits until the output of a partition covers events before the offset.
func (f *flow) featurizedUpTo(partition int, next int64) {
	f.t.Helper()
	explored.FeaturizedUpTo(f.t, f.client, f.settings.Topics.Features, partition, next)
}

// checkOnce checks that every row of the events of a partition, 20 in each, is featurized once.
func (f *flow) checkOnce(partition int) {
	f.t.Helper()
	explored.CheckOnce(f.t, f.all(f.settings.Topics.Events, partition), f.features(partition), 20)
}

// smallParts makes a message of 20 rows give several output messages.
func smallParts(s *stages.Settings) {
	s.Exploration.SampleRows = 200
	s.Featurize.MaxOutputBytes = 12 * (4*8 + 64)
}
