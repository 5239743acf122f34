package stages

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// newFlightKit is a kit that waits for a request when the next one is ready, as in a run, and not after every fetch.
func newFlightKit(t *testing.T, maxOutput int64) *featurizeKit {
	k := newFeaturizeKit(t, maxOutput, 0, 0)
	k.runtime.Settings.Featurize.CommitInterval = time.Hour
	k.part.committedAt = k.runtime.Clock()
	return k
}

// outputsOf is what a fresh core makes of the events.
func (k *featurizeKit) outputsOf(events ...pipeline.Record) (outputs []pipeline.Record) {
	core := NewFeaturizer(k.set, k.settings.Limits.decoder(), k.settings.Featurize.MaxOutputBytes)
	for i, event := range events {
		event.Offset = int64(i)
		outputs = append(outputs, process(k.t, core, event, 0).Outputs...)
	}
	return outputs
}

func TestFeaturizeWorksWhileARequestIsUnderWay(t *testing.T) {
	k := newFlightKit(t, 1<<20)
	rows := events(t, taskRegression, 60, 41, faults{})
	begun, release := make(chan struct{}, 9), make(chan struct{})
	k.produced = func(topic string, _ []pipeline.Record) {
		if topic == k.settings.Topics.Features {
			begun <- struct{}{}
			<-release
		}
	}
	k.send(eventMessage(t, 0, rows))
	if err := k.step(); err != nil { // returns although its request does not
		t.Fatal(err)
	}
	<-begun
	if k.part.NextOffset() != 1 || len(k.Records(k.settings.Topics.Features, 2)) != 0 {
		t.Fatalf("next offset %d, %d outputs", k.part.NextOffset(), len(k.Records(k.settings.Topics.Features, 2)))
	}
	k.part.commitNext(t.Context())
	if k.committed != -1 {
		t.Errorf("offset %d is committed, nothing is acknowledged", k.committed)
	}
	k.send(eventMessage(t, 1, rows))
	stepped := make(chan error)
	go func() {
		stepped <- k.part.Process(t.Context(), pipeline.Fetched{Records: k.Records("events", 2)[1:], NextOffset: 2})
	}()
	select {
	case <-begun:
		t.Error("two requests are under way")
	case release <- struct{}{}:
	}
	<-begun
	close(release)
	if err := <-stepped; err != nil {
		t.Fatal(err)
	}
	if err := k.part.Close(t.Context()); err != nil || k.committed != 2 {
		t.Errorf("offset %d is committed, %v", k.committed, err)
	}
	if c := k.runtime.Counters.Totals().Featurize; c.Featurized != 120 || c.Messages != 2 {
		t.Errorf("counts %+v", c)
	}
}

func TestFeaturizeFindsALateFaultOnce(t *testing.T) {
	rows := events(t, taskRegression, 60, 41, faults{})
	errGone := pipeline.Permanent(errors.New("gone"))
	for name, again := range map[string]bool{"with the next fetch": true, "at the close": false} {
		t.Run(name, func(t *testing.T) {
			k := newFlightKit(t, 1<<20)
			k.send(eventMessage(t, 0, rows), eventMessage(t, 1, rows))
			events := k.Records(k.settings.Topics.Events, 2)
			k.FailNext(pipelinetest.OpProduce, errGone)
			if err := k.part.Process(t.Context(), pipeline.Fetched{Records: events[:1], NextOffset: 1}); err != nil {
				t.Fatal(err)
			}
			if again {
				err := k.part.Process(t.Context(), pipeline.Fetched{Records: events[1:], NextOffset: 2})
				if !errors.Is(err, errGone) {
					t.Fatalf("error %v", err)
				}
			}
			if err := k.part.Close(t.Context()); errors.Is(err, errGone) == again {
				t.Errorf("error %v at the close", err)
			}
			if k.committed != -1 || len(k.Records(k.settings.Topics.Features, 2)) != 0 {
				t.Errorf("offset %d is committed, %d outputs", k.committed, len(k.Records(k.settings.Topics.Features, 2)))
			}
			if c := k.runtime.Counters.Totals().Featurize; c.Featurized != 0 {
				t.Errorf("counts %+v", c)
			}
		})
	}
}

// Outputs are written where earlier ones were: what was sent must be what a core makes that never does so.
func TestFeaturizeWritesOverAcknowledgedOutputs(t *testing.T) {
	k := newFlightKit(t, 3000)
	var sent []pipeline.Record
	for i := range int64(12) {
		event := eventMessage(t, i, events(t, taskRegression, int(5+17*i%60), uint64(i), someFaults))
		sent = append(sent, event)
		k.send(event)
		if err := k.step(); err != nil {
			t.Fatal(err)
		}
	}
	if len(k.part.core.spare) == 0 {
		t.Error("no memory is used again")
	}
	if err := k.part.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want, got := k.outputsOf(sent...), k.Records(k.settings.Topics.Features, 2)
	if len(got) != len(want) {
		t.Fatalf("%d outputs, want %d", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i].Value, want[i].Value) {
			t.Errorf("output %d is another", i)
		}
	}
}

// Of a request that took several tries one may still be under way.
func TestFeaturizeDoesNotWriteOverWhatWasTriedAgain(t *testing.T) {
	k := newFlightKit(t, 1<<20)
	k.send(eventMessage(t, 0, events(t, taskRegression, 60, 41, faults{})))
	k.FailNext(pipelinetest.OpProduce, errors.New("no answer"))
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	if err := k.part.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(k.Records(k.settings.Topics.Features, 2)); n != 1 || len(k.part.core.spare) != 0 {
		t.Errorf("%d outputs, %d handed back", n, len(k.part.core.spare))
	}
}

// A dead letter is acknowledged before a later output is sent, and nobody but that output waits for it.
func TestFeaturizeSendsLettersBeforeLaterOutputs(t *testing.T) {
	k := newFlightKit(t, 1<<20)
	begun, release := make(chan string, 9), make(chan struct{})
	k.produced = func(topic string, _ []pipeline.Record) {
		begun <- topic
		<-release
	}
	rows := events(t, taskRegression, 60, 41, faults{})
	k.send(pipeline.Record{Value: []byte("poison")}, eventMessage(t, 1, rows))
	if err := k.step(); err != nil { // returns although the letter is not acknowledged
		t.Fatal(err)
	}
	if topic := <-begun; topic != k.settings.Topics.DeadLetters {
		t.Fatalf("%s is written first", topic)
	}
	k.send(eventMessage(t, 2, rows))
	stepped := make(chan error)
	go func() {
		stepped <- k.part.Process(t.Context(), pipeline.Fetched{Records: k.Records("events", 2)[2:], NextOffset: 3})
	}()
	select {
	case topic := <-begun:
		t.Errorf("%s is written while the letter is under way", topic)
	case release <- struct{}{}:
	}
	if topic := <-begun; topic != k.settings.Topics.Features || len(k.letters()) != 1 {
		t.Errorf("%s is written, %d letters are there", topic, len(k.letters()))
	}
	close(release)
	if err := <-stepped; err != nil {
		t.Fatal(err)
	}
	if err := k.part.Close(t.Context()); err != nil || k.committed != 3 || len(k.rows(1))+len(k.rows(2)) != 120 {
		t.Errorf("offset %d is committed, %v", k.committed, err)
	}
}

// Where a dead letter cannot be written, no output behind it is.
func TestFeaturizeSendsNoOutputBehindALetterThatIsNotOut(t *testing.T) {
	k := newFlightKit(t, 1<<20)
	errGone := pipeline.Permanent(errors.New("gone"))
	k.send(pipeline.Record{Value: []byte("poison")}, eventMessage(t, 1, events(t, taskRegression, 60, 41, faults{})))
	k.FailNext(pipelinetest.OpProduce, errGone)
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	if err := k.part.Close(t.Context()); !errors.Is(err, errGone) || len(k.Records(k.settings.Topics.Features, 2)) != 0 || k.committed != -1 {
		t.Errorf("%v; %d outputs, offset %d is committed", err, len(k.Records(k.settings.Topics.Features, 2)), k.committed)
	}
}
