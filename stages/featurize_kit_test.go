package stages

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// featurizeKit is partition 2 of events and what featurizing writes of it.
type featurizeKit struct {
	*pipelinetest.Broker
	t         *testing.T
	settings  Settings
	set       *wire.FeatureSet
	part      *featurizePartition
	runtime   *Runtime
	committed int64
	produced  func(topic string, records []pipeline.Record) // told of every request
	forget    bool                                          // features are not kept
}

// newFeaturizeKit makes topics with limits on requests, 0 = none, and a set in use.
func newFeaturizeKit(t *testing.T, maxOutput int64, featuresLimit, lettersLimit int) *featurizeKit {
	t.Helper()
	k := &featurizeKit{Broker: pipelinetest.NewBroker(), t: t, settings: testSettings(taskRegression), committed: -1}
	k.settings.Featurize.MaxOutputBytes, k.settings.Featurize.CommitInterval = maxOutput, 0
	k.AddTopic(k.settings.Topics.Events, 3)
	k.AddConfiguredTopic(k.settings.Topics.Features, 3, map[string]string{"max.message.bytes": fmt.Sprint(featuresLimit)})
	k.AddConfiguredTopic(k.settings.Topics.DeadLetters, 3, map[string]string{"max.message.bytes": fmt.Sprint(lettersLimit)})
	k.set = explore(t, k.settings, []arrow.Record{events(t, taskRegression, 400, 41, faults{})}).Set
	k.runtime = NewRuntime(k, k.settings, zap.NewNop())
	id := k.set.ID()
	k.runtime.Watch.update(func(s *State) {
		s.Current, s.Sets = &wire.Current{ID: id}, map[string]PublishedSet{id: {ID: id, Set: k.set}}
	})
	k.restart()
	return k
}

func (k *featurizeKit) Produce(ctx context.Context, topic string, number int, records []pipeline.Record) (int64, error) {
	if k.produced != nil {
		k.produced(topic, records)
	}
	if k.forget && topic == k.settings.Topics.Features {
		return 0, nil
	}
	return k.Broker.Produce(ctx, topic, number, records)
}

// restart makes another owner of the partition.
func (k *featurizeKit) restart() {
	k.t.Helper()
	commit := func(_ context.Context, next int64) error {
		k.committed = next
		return nil
	}
	k.part = &featurizePartition{
		FeaturizeRunner: NewFeaturizeRunner(k.runtime), partition: 2, logger: zap.NewNop(), commit: commit, refused: -1,
	}
	if err := k.part.resume(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
}

// send appends events to the log.
func (k *featurizeKit) send(records ...pipeline.Record) {
	k.t.Helper()
	if _, err := k.Broker.Produce(k.t.Context(), k.settings.Topics.Events, 2, records); err != nil {
		k.t.Fatal(err)
	}
}

// step gives the partition one fetch.
func (k *featurizeKit) step() error {
	k.t.Helper()
	fetched, err := k.Fetch(k.t.Context(), k.settings.Topics.Events, 2, k.part.NextOffset())
	if err != nil {
		k.t.Fatal(err)
	}
	return k.part.Process(k.t.Context(), fetched)
}

// rows are the rows of a message that are in the output, as often as they are.
func (k *featurizeKit) rows(offset int64) []int32 {
	k.t.Helper()
	var rows []int32
	for _, r := range k.Records(k.settings.Topics.Features, 2) {
		if out := readOutput(k.t, r, 10); out.part.SourceOffset == offset {
			rows = append(rows, out.rows...)
		}
	}
	return rows
}

func (k *featurizeKit) letters() []pipeline.Record {
	return k.Records(k.settings.Topics.DeadLetters, 2)
}

func ascending(n int32) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

func sizes(records []pipeline.Record) (total int) {
	for i := range records {
		total += records[i].Size()
	}
	return total
}

// nulls is a small message of very many rows.
func nulls(t *testing.T, rows int) []byte {
	t.Helper()
	var fields []arrow.Field
	var columns []arrow.Array
	column := array.NewNull(rows)
	defer column.Release()
	for _, name := range []string{"a", "b", "color", "ok", "v", "id", "y"} {
		fields, columns = append(fields, arrow.Field{Name: name, Type: arrow.Null, Nullable: true}), append(columns, column)
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows))
	defer rec.Release()
	return message(t, rec)
}
