package deadletter

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/topics"
)

// replayKit is a broker with dead letters of partition 1.
type replayKit struct {
	*pipelinetest.Broker
	t      *testing.T
	topics topics.Config
	rows   arrow.Record // 20 rows, numbered as in their message

	dieAt    int  // number of the produce request at which the process dies; 0 = never
	dieAfter bool // after the broker has written it
	unheard  int  // number of the produce request whose answer is lost
	revokeAt int  // number of the produce request at which a rebalance begins; 0 = never. dieAfter applies too
	revoke   func()
	produced int
}

// Own is the only member of the group, which gets the partition again after a rebalance.
func (k *replayKit) Own(ctx context.Context, _, _ string, run func(context.Context, pipeline.Ownership) error) error {
	for ctx.Err() == nil {
		owned, revoke := context.WithCancel(ctx)
		k.revoke = revoke
		err := run(owned, pipeline.Ownership{})
		revoke()
		if err != nil {
			return err
		}
	}
	return nil
}

func newReplayKit(t *testing.T) *replayKit {
	t.Helper()
	k := &replayKit{Broker: pipelinetest.NewBroker(), t: t, topics: topics.Default(), rows: stagestest.Events(t, stagestest.Regression, 20, 7, stagestest.Faults{})}
	k.AddConfiguredTopic(k.topics.Events, 2, map[string]string{"max.message.bytes": "100000"})
	k.AddTopic(k.topics.DeadLetters, 2)
	k.AddTopic(k.topics.Explorations, 1)
	return k
}

var errDied = pipeline.Permanent(errors.New("died"))

func (k *replayKit) Produce(ctx context.Context, topic string, partition int, records []pipeline.Record) (int64, error) {
	k.produced++
	switch {
	case k.dieAfter:
	case k.dieAt > 0 && k.produced == k.dieAt:
		return 0, errDied
	case k.produced == k.revokeAt:
		return 0, k.endOfDraining(ctx)
	}
	first, err := k.Broker.Produce(ctx, topic, partition, records)
	switch {
	case k.produced == k.revokeAt:
		return 0, k.endOfDraining(ctx)
	case k.dieAt > 0 && k.produced == k.dieAt:
		return 0, errDied
	case k.produced == k.unheard:
		return 0, errors.New("no answer")
	}
	return first, err
}

// endOfDraining takes the partition away and waits until work in progress is given up.
func (k *replayKit) endOfDraining(ctx context.Context) error {
	k.revoke()
	<-ctx.Done()
	return ctx.Err()
}

// source is the refused message at an offset of events.
func (k *replayKit) source(offset int64, value []byte) pipeline.Record {
	return pipeline.Record{
		Topic: k.topics.Events, Partition: 1, Offset: offset, Key: []byte(fmt.Sprint("key-", offset)), Value: value,
		Headers: []pipeline.Header{{Key: "trace", Value: []byte("x")}},
	}
}

// write appends dead letters and returns the place of the first.
func (k *replayKit) write(deadLetters ...pipeline.Record) Place {
	k.t.Helper()
	first, err := k.Broker.Produce(k.t.Context(), k.topics.DeadLetters, 1, deadLetters)
	if err != nil {
		k.t.Fatal(err)
	}
	return Place{1, first}
}

// refuse writes the dead letter of a message refused whole.
func (k *replayKit) refuse(stage string, offset int64, value []byte) Place {
	return k.write(Refused(stage, k.source(offset, value), errors.New("for a test"), stagestest.Noon))
}

// reject writes the dead letter of rows of a message.
func (k *replayKit) reject(stage string, offset int64, rows ...int32) Place {
	k.t.Helper()
	rejected := make([]RejectedRow, len(rows))
	for i, row := range rows {
		rejected[i] = RejectedRow{Row: row, Reason: "nan_feature"}
	}
	deadLetter, err := Rejected(stage, k.source(offset, nil), k.rows, 0, rejected, stagestest.Noon)
	if err != nil {
		k.t.Fatal(err)
	}
	return k.write(deadLetter)
}

func (k *replayKit) replayer() Replayer {
	return Replayer{
		Broker: k, Topics: k.topics, Group: "replay", Source: events.Source{Limits: events.DefaultLimits().Decoder()}, DrainTimeout: time.Second,
		Clock: func() time.Time { return stagestest.Noon }, Logger: zap.NewNop(),
	}
}

// list lists what the filter selects.
func (k *replayKit) list(filter Filter, limit int) Listing {
	k.t.Helper()
	list, err := List(k.t.Context(), k, zap.NewNop(), k.topics.DeadLetters, filter, limit, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	return list
}

func (k *replayKit) replay(options ReplayOptions) ReplayReport {
	k.t.Helper()
	report, err := k.replayer().Replay(k.t.Context(), options)
	if err != nil {
		k.t.Fatal(err)
	}
	return report
}

// outcomes lists the outcomes of the dead letters.
func outcomes(report ReplayReport) (list []ReplayOutcome) {
	for _, l := range report.Letters {
		list = append(list, l.Outcome)
	}
	return list
}

// inputs lists what the events of partition 1 repeat, and checks that each is unchanged.
func (k *replayKit) inputs() (list []string) {
	k.t.Helper()
	for _, rec := range k.Records(k.topics.Events, 1) {
		replay, err := wire.ParseReplayHeaders(events.Headers(rec.Headers))
		if err != nil {
			k.t.Fatal(err)
		}
		if string(rec.Key) != fmt.Sprint("key-", replay.Offset) || stagestest.Header(k.t, rec, "trace") != "x" || !rec.Time.Equal(stagestest.Noon) {
			k.t.Errorf("event %+v", rec)
		}
		if _, err := wire.ParseDeadLetterHeaders(events.Headers(rec.Headers)); err == nil {
			k.t.Error("an event has the headers of a dead letter")
		}
		list = append(list, fmt.Sprint(replay.Offset, replay.Rows))
		if len(replay.Rows) > 0 {
			k.checkRows(rec.Value, replay.Rows)
		}
	}
	return list
}

func (k *replayKit) checkRows(value []byte, rows []int32) {
	k.t.Helper()
	batches := stagestest.Decode(k.t, value)
	defer events.Release(batches)
	if !batches[0].Schema().Equal(k.rows.Schema()) {
		k.t.Errorf("columns %v", batches[0].Schema())
	}
	ids := batches[0].Column(5).(*array.String)
	for i, row := range rows {
		if ids.Value(i) != fmt.Sprintf("row-%d", row) {
			k.t.Errorf("row %d is %s", row, ids.Value(i))
		}
	}
}
