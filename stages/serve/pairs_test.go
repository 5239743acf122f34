package serve

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/train"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a broker to which the test publishes sets and models.
type world struct {
	*explored.World
	t     testing.TB
	rows  arrow.Record
	pairs *Pairs
	meter *meter.Meter
	turns int64 // sequence number of the newest set
}

func newWorld(t *testing.T, predictions bool) *world {
	t.Helper()
	e := explored.Events(stagestest.Binary)
	w := &world{
		World: explored.NewWorld(t, 1, e, explored.Exploration()),
		t:     t,
		meter: meter.New(),
		rows:  stagestest.Events(t, stagestest.Binary, 1000, 5, stagestest.Faults{}),
	}
	w.pairs = &Pairs{Predictions: predictions, Serving: w.meter.Serving(), Logger: stagestest.Logger(t)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.pairs.Follow(ctx, w.Follower(w.Broker)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

// made explores a set with a seed, and trains a model on it.
func (w *world) made(seed uint64) (*wire.FeatureSet, *wire.Model) {
	w.t.Helper()
	c := explored.Exploration()
	c.Seed = seed
	set := explored.FeatureSet(w.t, explored.Events(stagestest.Binary), c, w.rows)
	model, _, err := offline.Fit(w.t.Context(), set, train.Default(), "rows", nil, explored.File(w.rows))
	if err != nil {
		w.t.Fatal(err)
	}
	return set, model
}

// publish writes a set or a model and makes it current.
func (w *world) publish(topic, id string, value []byte) {
	w.t.Helper()
	w.turns++
	pointer := stagestest.Must(wire.EncodeCurrent(&wire.Current{ID: id, Sequence: w.turns, Time: stagestest.Noon}))
	w.Append(topic, 0,
		pipeline.Record{Key: wire.SetKey("test", id), Value: value},
		pipeline.Record{Key: wire.CurrentKey("test"), Value: pointer})
}

func (w *world) publishSet(set *wire.FeatureSet) {
	w.publish(w.Topics.FeatureSets, set.ID(), stagestest.Must(wire.EncodeFeatureSet(set)))
}

func (w *world) publishModel(model *wire.Model) {
	w.publish(w.Topics.Models, model.ID, stagestest.Must(wire.EncodeModel(model)))
}

// until waits until the pair is served and Waiting contains the text.
func (w *world) until(what, pair, waiting string) {
	w.t.Helper()
	var got string
	stagestest.Until(w.t, what, func() bool {
		served := w.pairs.Served()
		got = "nothing"
		if served != nil {
			got = served.SetID() + " " + served.ModelID()
		}
		return got == pair && strings.Contains(w.pairs.Waiting(), waiting) && (waiting == "") == (w.pairs.Waiting() == "")
	})
}

func TestSetWaitsForItsModel(t *testing.T) {
	w := newWorld(t, true)
	first, firstModel := w.made(1)
	second, secondModel := w.made(2)
	before, after := first.ID()+" "+firstModel.ID, second.ID()+" "+secondModel.ID

	w.until("nothing", "nothing", "no feature set")
	w.publishSet(first)
	w.until("a set alone", "nothing", "no model yet")
	w.publishModel(firstModel)
	w.until("the first pair", before, "")
	w.publishSet(second)
	w.until("the first pair while the second set has no model", before,
		fmt.Sprintf("the current feature set %s has no current model", second.ID()))
	w.publishModel(secondModel)
	w.until("the second pair", after, "")
	w.publish(w.Topics.Models, "m-unread", []byte("no model"))
	w.until("the second pair, after an unreadable model", after,
		"the current model m-unread is missing on its topic or unreadable")
	w.publishModel(firstModel)
	w.until("the first pair again, after a rollback", before,
		fmt.Sprintf("the current feature set %s has no current model", second.ID()))
	if n := w.meter.Activity().Serving.Swaps; n != 2 {
		t.Errorf("%d swaps, want 2", n)
	}
	if w.meter.Activity().Serving.Waiting == "" {
		t.Error("nothing waits, by the meter")
	}
}

// A process that starts while a set waits for its model serves the previous pair.
func TestStartWhileASetWaits(t *testing.T) {
	w := newWorld(t, true)
	first, model := w.made(1)
	second, _ := w.made(2)
	w.publishSet(first)
	w.publishModel(model)
	w.publishSet(second)
	later := &Pairs{Predictions: true, Serving: w.meter.Serving(), Logger: stagestest.Logger(t)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- later.Follow(ctx, w.Follower(w.Broker)) }()
	stagestest.Until(t, "the pair before", func() bool {
		served := later.Served()
		return served != nil && served.SetID() == first.ID() && strings.Contains(later.Waiting(), second.ID())
	})
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServingFeaturesWithoutModels(t *testing.T) {
	w := newWorld(t, false)
	first, _ := w.made(1)
	second, _ := w.made(2)
	w.publishSet(first)
	w.until("the first set", first.ID()+" ", "")
	w.publishSet(second)
	w.until("the second set", second.ID()+" ", "")
	w.publish(w.Topics.FeatureSets, "fs-unread", []byte("no set"))
	w.until("the second set, after an unreadable one", second.ID()+" ", "fs-unread")
}
