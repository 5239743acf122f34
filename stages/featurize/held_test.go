package featurize

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// Messages without output wait until their fetch is done, and their memory is charged.
func TestMessagesWithoutOutputAreCharged(t *testing.T) {
	const messages, most = 4000, 64 << 10
	k := newRequestKit(t, most)
	k.runner.outputs = newOutputMemory(most)
	k.restart()
	none := event(t, 0, stagestest.Events(t, stagestest.Regression, 0, 41, stagestest.Faults{}))
	waiting := 0
	for none.Offset = range int64(messages) { // as Process does with a fetch
		if err := errors.Join(k.part.chooseSet(t.Context()), k.part.mapMessage(t.Context(), none)); err != nil {
			t.Fatal(err)
		}
		waiting = max(waiting, len(k.part.waiting))
	}
	if err := errors.Join(k.part.Process(t.Context(), pipeline.Fetched{NextOffset: messages}),
		k.part.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if c := k.runner.Env.Meter.Totals().Featurize; c.Messages != messages || k.part.charged != 0 {
		t.Errorf("counts %+v, %d bytes charged", c, k.part.charged)
	}
	if int64(waiting)*partBytes > 2*most || waiting == 0 {
		t.Errorf("%d messages wait, of %d bytes each, at most %d", waiting, partBytes, most)
	}
}

// A row whose texts exceed the remaining budget of its message becomes a dead letter; its
// neighbours do not.
func TestRowOfLongTextsIsADeadLetter(t *testing.T) {
	notes := []string{"first", strings.Repeat("x", 700<<10), "last"}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(notes, nil)
	rec := repeated(len(notes), 0.5, map[string]arrow.Array{"note": b.NewArray()})
	f := wideFeaturizer(t)
	f.set.MaxOutputBytes = 64 << 10
	f.reader = events.NewReader(arrowio.Limits{BudgetBytes: 1 << 20}, f.set.set.Encoder)
	var rows []int32
	for _, part := range partsOf(t, f, pipeline.Record{Value: stagestest.Message(t, rec)}) {
		if part.Output != nil {
			rows = append(rows, part.Rows.FirstRow)
		}
		if letter := part.DeadLetter; letter != nil {
			rows = append(rows, -part.Rows.FirstRow)
			if letter.Cause.Reason != deadletter.ReasonOutputTooLarge || len(letter.Value) > 0 || part.Counts.Rejected != 1 {
				t.Errorf("%s, %d bytes, %+v", letter.Cause.Reason, len(letter.Value), part.Counts)
			}
		}
	}
	if len(rows) != 3 || rows[0] != 0 || rows[1] != -1 || rows[2] != 2 {
		t.Errorf("rows %v", rows)
	}
}

// fetches is a kit that measures the live heap at every twentieth fetch.
type fetches struct {
	*kit
	most int64
}

func (f *fetches) Fetch(ctx context.Context, topic string, number int, offset int64) (pipeline.Fetched, error) {
	if f.Fetches()%20 == 19 {
		f.most = max(f.most, liveHeap())
	}
	return f.kit.Fetch(ctx, topic, number, offset)
}

// Outputs without compared rows are in no block. Resuming may have to read any number of them, in
// little memory.
func TestResumingBlocksNeedsLittleMemory(t *testing.T) {
	const outputs, most = 20_000, 2 << 20
	k := newKit(t, 1<<20, 0, 0)
	records := make([]pipeline.Record, outputs)
	for i := range records {
		rows := wire.FeatureBatch{
			FeatureSetID:    k.set.ID(),
			SourceTopic:     k.runner.Env.Topics.Events,
			SourcePartition: 2,
			SourceOffset:    int64(i),
			RowCount:        1,
			SourceRows:      1,
		}
		records[i] = pipeline.Record{Value: []byte("features"), Headers: slices.Concat(nil, rows.Headers())}
	}
	if _, err := k.Broker.Produce(t.Context(), k.runner.Env.Topics.Features, 2, records); err != nil {
		t.Fatal(err)
	}
	f := &fetches{kit: k}
	k.part.runner.Env.Broker = f
	before := liveHeap()
	if err := k.part.blocks.resume(t.Context(), position{next: outputs}); err != nil {
		t.Fatal(err)
	}
	if f.most-before > most || f.most == 0 {
		t.Errorf("%d bytes are held, at most %d", f.most-before, most)
	}
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
