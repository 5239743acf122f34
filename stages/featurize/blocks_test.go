package featurize

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

// predictingKit is a kit with an unpublished current model, and events some milliseconds apart.
func predictingKit(t *testing.T, messages int) *kit {
	t.Helper()
	k := newKit(t, 1<<20, 0, 0)
	k.models = newModelLoader(nil, k.log, false, 0)
	k.models.model.Store(&modelInUse{id: "m-1", model: drawnModel(k.set, training.LossSquared)})
	var ticks atomic.Int64 // blocks are due at each look at the clock
	k.runner.Env.Clock = func() time.Time {
		return stagestest.Noon.Add(24*time.Hour + time.Duration(ticks.Add(1))*time.Second)
	}
	k.restart()
	rng := rand.New(rand.NewPCG(3, 4))
	at := stagestest.Noon
	for i := range messages {
		e := event(t, int64(i), stagestest.Events(t, stagestest.Regression, 5+rng.IntN(60), uint64(i),
			stagestest.Faults{BadFeature: 0.05, NoLabel: 0.2}))
		at = at.Add(time.Duration(rng.IntN(120)) * time.Millisecond)
		if i%17 == 0 {
			at = at.Add(20 * time.Second)
		}
		e.Time = at
		k.send(e)
	}
	return k
}

// run featurizes all events. After each step, killed reports whether the process has died, before
// or after its last request was written. Then another process takes over.
func (k *kit) run(messages int, killed func() bool) {
	k.t.Helper()
	for done := false; !done; {
		err := k.step()
		if k.part.request != nil {
			<-k.part.request.done
		}
		switch {
		case killed():
			k.restart()
		case err != nil:
			k.t.Fatal(err)
		default:
			done = k.part.next >= int64(messages) && k.part.request == nil && len(k.part.blocks.unsent) == 0
		}
	}
}

// blocks returns the distinct final blocks on the topic.
func (k *kit) blocks() (blocks []*wire.Block) {
	k.t.Helper()
	var next int64
	for _, rec := range k.Records(k.runner.Env.Topics.Live, 2) {
		b, err := wire.DecodeBlock(rec.Value)
		if err != nil {
			k.t.Fatal(err)
		}
		if !b.Provisional && b.NextOffset > next {
			blocks, next = append(blocks, b), b.NextOffset
		}
	}
	return blocks
}

// Blocks are contiguous, hold the sums in the headers of the output, and have the same bytes after
// a kill at any moment: before or after an output or a block is sent, and before its
// acknowledgement.
func TestCrashesDoNotChangeBlocks(t *testing.T) {
	const messages = 150
	calm := predictingKit(t, messages)
	calm.run(messages, func() bool { return false })
	want := calm.blocks()
	if len(want) < 8 {
		t.Fatalf("%d blocks", len(want))
	}
	checkBlocks(t, calm, want)
	for seed := range uint64(6) {
		k := predictingKit(t, messages)
		rng := rand.New(rand.NewPCG(seed, 1))
		dead := false // what is sent from then on is lost
		k.lost = func() bool {
			dead = dead || rng.IntN(8) == 0
			return dead
		}
		k.run(messages, func() bool {
			killed := dead || rng.IntN(3) == 0
			dead = false
			return killed
		})
		if got := k.blocks(); !reflect.DeepEqual(got, want) {
			t.Errorf("seed %d: %d blocks, want %d", seed, len(got), len(want))
		}
	}
}

// checkBlocks compares blocks with the headers of the output.
func checkBlocks(t *testing.T, k *kit, blocks []*wire.Block) {
	t.Helper()
	inHeaders, inBlocks, closed := int64(0), int64(0), blocks[len(blocks)-1].NextOffset
	for _, rec := range k.Records(k.runner.Env.Topics.Features, 2) {
		headers := headersOf(rec)
		rows, err := wire.ParseFeatureHeaders(headers)
		sums, err2 := wire.ParseLive(headers)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if sums != nil && rows.SourceOffset < closed {
			inHeaders += sums.Rows
		}
	}
	for i, b := range blocks {
		inBlocks += b.Rows()
		if i > 0 && b.FirstOffset < blocks[i-1].NextOffset {
			t.Errorf("block %d begins at offset %d, the one before ends at %d", i, b.FirstOffset, blocks[i-1].NextOffset)
		}
	}
	if inHeaders != inBlocks || inBlocks == 0 {
		t.Errorf("%d rows in blocks, %d in headers", inBlocks, inHeaders)
	}
}

func headersOf(rec pipeline.Record) (headers []wire.Header) {
	for _, h := range rec.Headers {
		headers = append(headers, wire.Header{Key: h.Key, Value: h.Value})
	}
	return headers
}

// Features do not wait for a missing live topic.
func TestFeaturesDoNotWaitForLiveTopic(t *testing.T) {
	k := predictingKit(t, 3)
	k.runner.Env.Topics.Live = "missing"
	if has, err := k.runner.hasLive(t.Context(), k.log, 2); has || err != nil {
		t.Errorf("has %v, %v", has, err)
	}
	k.part.hasLive = false
	k.run(3, func() bool { return false })
	if n := len(k.Records(k.runner.Env.Topics.Features, 2)); n != 3 {
		t.Errorf("%d outputs", n)
	}
}

// An open block is published after a minute, at most once a minute, and only if it has grown. It
// has the key of the final block, and a new owner does not take it for one.
func TestOpenBlocksArePublishedAsProvisional(t *testing.T) {
	k := predictingKit(t, 0)
	now := stagestest.Noon
	k.runner.Env.Clock = func() time.Time { return now }
	k.restart()
	send := func(rows int) {
		n := len(k.Records(k.runner.Env.Topics.Events, 2))
		k.send(event(t, int64(n), stagestest.Events(t, stagestest.Regression, rows, uint64(n), stagestest.Faults{})))
	}
	step := func(after time.Duration) {
		now = now.Add(after)
		for range 3 { // featurize, then apply, then send the blocks
			fetched, err := k.Fetch(t.Context(), k.runner.Env.Topics.Events, 2, k.part.NextOffset())
			if err != nil {
				t.Fatal(err)
			}
			if err := k.part.Process(t.Context(), fetched); err != nil {
				t.Fatal(err)
			}
			now = now.Add(2 * time.Second)
		}
	}
	published := func() (list []string, last *wire.Block) {
		for _, rec := range k.Records(k.runner.Env.Topics.Live, 2) {
			b, err := wire.DecodeBlock(rec.Value)
			if err != nil || string(rec.Key) != string(wire.BlockKey(b)) {
				t.Fatalf("key %s, %v", rec.Key, err)
			}
			list = append(list, fmt.Sprint(b.Provisional, " ", b.Rows()))
			last = b
		}
		return list, last
	}
	want := func(list ...string) {
		t.Helper()
		if got, _ := published(); !slices.Equal(got, list) {
			t.Errorf("published %q, want %q", got, list)
		}
	}
	send(60)
	step(0)
	step(40 * time.Second)
	want()
	step(20 * time.Second)
	want("true 60")
	step(2 * time.Minute) // nothing new
	want("true 60")
	send(60)
	step(2 * time.Second)
	want("true 60", "true 120")
	k.restart() // the new owner rebuilds the open block
	send(200)
	send(200)
	step(2 * time.Second)
	_, last := published()
	if last.Provisional || last.FirstOffset != 0 || last.NextOffset != 4 || last.Rows() < 250 {
		t.Errorf("final block %+v", last)
	}
}

// Headers of events with our prefix are neither believed nor passed on to features and dead
// letters.
func TestReservedHeadersOfEventsAreDropped(t *testing.T) {
	k := predictingKit(t, 0)
	forged := wire.LiveHeader(&wire.LiveSums{
		Model: "m-9", Measure: wire.LiveSquaredError, Rows: 5, Outputs: []wire.OutputSums{{}},
	})
	unlabelled := event(t, 0, stagestest.Events(t, stagestest.Regression, 20, 1, stagestest.Faults{NoLabel: 1}))
	unlabelled.Headers = []pipeline.Header{{Key: "trace", Value: []byte("x")}, forged}
	k.send(unlabelled, pipeline.Record{Value: []byte("no event"), Headers: []pipeline.Header{forged}})
	k.run(2, func() bool { return false })
	outputs := k.Records(k.runner.Env.Topics.Features, 2)
	if len(outputs) != 1 || stagestest.Header(t, outputs[0], "trace") != "x" {
		t.Fatalf("%d outputs", len(outputs))
	}
	for _, rec := range append(outputs, k.deadLetters()...) {
		if sums, err := wire.ParseLive(rec.Headers); sums != nil || err != nil {
			t.Errorf("%s: live sums %+v, %v", rec.Topic, sums, err)
		}
	}
	if blocks := k.blocks(); len(blocks) != 0 {
		t.Errorf("%d blocks", len(blocks))
	}
}
