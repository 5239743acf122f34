package stages

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
)

// replayKit is a broker with dead letters of partition 1.
type replayKit struct {
	*pipelinetest.Broker
	t        *testing.T
	settings Settings
	rows     arrow.Record // 20; their numbers are those of their message
	set      *wire.FeatureSet

	dieAt    int  // the produce request at which the process dies; 0 = never
	dieAfter bool // once the broker has it
	unheard  int  // the produce request whose answer is lost
	revokeAt int  // the produce request at which a rebalance begins; 0 = never. dieAfter holds for it, too
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
	k := &replayKit{Broker: pipelinetest.NewBroker(), t: t, settings: testSettings(taskRegression), rows: events(t, taskRegression, 20, 7, faults{})}
	topics := k.settings.Topics
	k.AddConfiguredTopic(topics.Events, 2, map[string]string{"max.message.bytes": "100000"})
	k.AddTopic(topics.DeadLetters, 2)
	k.AddTopic(topics.Explorations, 1)
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

// endOfDraining takes the partition away and waits until work in hand is given up.
func (k *replayKit) endOfDraining(ctx context.Context) error {
	k.revoke()
	<-ctx.Done()
	return ctx.Err()
}

// source is the refused message at an offset of events.
func (k *replayKit) source(offset int64, value []byte) pipeline.Record {
	return pipeline.Record{
		Topic: k.settings.Topics.Events, Partition: 1, Offset: offset, Key: []byte(fmt.Sprint("key-", offset)), Value: value,
		Headers: []pipeline.Header{{Key: "trace", Value: []byte("x")}},
	}
}

// write puts letters on the topic and returns the place of the first.
func (k *replayKit) write(letters ...pipeline.Record) LetterPlace {
	k.t.Helper()
	first, err := k.Broker.Produce(k.t.Context(), k.settings.Topics.DeadLetters, 1, letters)
	if err != nil {
		k.t.Fatal(err)
	}
	return LetterPlace{1, first}
}

// refuse writes the letter of a message refused whole.
func (k *replayKit) refuse(stage string, offset int64, value []byte) LetterPlace {
	return k.write(refusedMessage(stage, k.source(offset, value), errors.New("for a test"), noon))
}

// reject writes the letter of rows of a message.
func (k *replayKit) reject(stage string, offset int64, rows ...int32) LetterPlace {
	k.t.Helper()
	rejected := make([]RejectedRow, len(rows))
	for i, row := range rows {
		rejected[i] = RejectedRow{Row: row, Reason: "nan_feature"}
	}
	letter, err := rejectedRows(stage, k.source(offset, nil), k.rows, 0, rejected, noon)
	if err != nil {
		k.t.Fatal(err)
	}
	return k.write(letter)
}

func (k *replayKit) runtime() *Runtime {
	r := NewRuntime(k, k.settings, zap.NewNop())
	r.DrainTimeout, r.Now = time.Second, func() time.Time { return noon }
	return r
}

func (k *replayKit) replay(options ReplayOptions) ReplayReport {
	k.t.Helper()
	report, err := Replay(k.t.Context(), k.runtime(), options)
	if err != nil {
		k.t.Fatal(err)
	}
	return report
}

// outcomes lists what became of the letters.
func outcomes(report ReplayReport) (list []ReplayOutcome) {
	for _, l := range report.Letters {
		list = append(list, l.Outcome)
	}
	return list
}

// inputs lists what the events of partition 1 repeat, and checks that each is as it was.
func (k *replayKit) inputs() (list []string) {
	k.t.Helper()
	for _, rec := range k.Records(k.settings.Topics.Events, 1) {
		replay, err := wire.ParseReplayHeaders(wireHeaders(rec.Headers))
		if err != nil {
			k.t.Fatal(err)
		}
		if string(rec.Key) != fmt.Sprint("key-", replay.Offset) || header(k.t, rec, "trace") != "x" || !rec.Time.Equal(noon) {
			k.t.Errorf("event %+v", rec)
		}
		if _, err := wire.ParseDeadLetterHeaders(wireHeaders(rec.Headers)); err == nil {
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
	batches := decode(k.t, value)
	defer releaseAll(batches)
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
