package featurize

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// newRequestKit waits for a request when the next one is ready, as in a run, not after every fetch.
func newRequestKit(t *testing.T, maxOutput int64) *kit {
	k := newKit(t, maxOutput, 0, 0)
	k.runner.Config.CommitInterval = time.Hour
	k.part.committedAt = k.runner.Env.Clock()
	return k
}

// outputsOf returns the outputs of a new featurizer for events.
func (k *kit) outputsOf(events ...pipeline.Record) (outputs []pipeline.Record) {
	core := newCore(k.t, k.set, k.runner.Config.MaxOutputBytes)
	for i, event := range events {
		event.Offset = int64(i)
		outputs = append(outputs, process(k.t, core, event, 0).Outputs...)
	}
	return outputs
}

func TestFeaturizeWorksWhileARequestIsInProgress(t *testing.T) {
	k := newRequestKit(t, 1<<20)
	rows := stagestest.Events(t, stagestest.Regression, 60, 41, stagestest.Faults{})
	begun, release := make(chan struct{}, 9), make(chan struct{})
	k.produced = func(topic string, _ []pipeline.Record) {
		if topic == k.runner.Env.Topics.Features {
			begun <- struct{}{}
			<-release
		}
	}
	k.send(event(t, 0, rows))
	if err := k.step(); err != nil { // returns before its request does
		t.Fatal(err)
	}
	<-begun
	if k.part.NextOffset() != 1 || len(k.Records(k.runner.Env.Topics.Features, 2)) != 0 {
		t.Fatalf("next offset %d, %d outputs", k.part.NextOffset(), len(k.Records(k.runner.Env.Topics.Features, 2)))
	}
	k.part.commitNext(t.Context())
	if k.committed != -1 {
		t.Errorf("offset %d is committed, nothing is acknowledged", k.committed)
	}
	k.send(event(t, 1, rows))
	stepped := make(chan error)
	go func() {
		stepped <- k.part.Process(t.Context(), pipeline.Fetched{Records: k.Records("events", 2)[1:], NextOffset: 2})
	}()
	select {
	case <-begun:
		t.Error("two requests are in progress")
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
	if c := k.runner.Env.Meter.Totals().Featurize; c.Featurized != 120 || c.Messages != 2 {
		t.Errorf("counts %+v", c)
	}
}

// Outputs reuse the memory of earlier ones. They must equal the outputs of a featurizer that never
// reuses memory.
func TestFeaturizeReusesAcknowledgedOutputs(t *testing.T) {
	k := newRequestKit(t, 3000)
	var sent []pipeline.Record
	for i := range int64(12) {
		one := event(t, i, stagestest.Events(t, stagestest.Regression, int(5+17*i%60), uint64(i), stagestest.SomeFaults))
		sent = append(sent, one)
		k.send(one)
		if err := k.step(); err != nil {
			t.Fatal(err)
		}
	}
	if len(k.part.core.spares.list) == 0 {
		t.Error("no memory is used again")
	}
	if err := k.part.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want, got := k.outputsOf(sent...), k.Records(k.runner.Env.Topics.Features, 2)
	if len(got) != len(want) {
		t.Fatalf("%d outputs, want %d", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i].Value, want[i].Value) {
			t.Errorf("output %d is another", i)
		}
	}
}

// An earlier attempt of a request may still be in progress.
func TestFeaturizeDoesNotReuseRetriedOutputs(t *testing.T) {
	k := newRequestKit(t, 1<<20)
	k.send(event(t, 0, stagestest.Events(t, stagestest.Regression, 60, 41, stagestest.Faults{})))
	k.FailNext(pipeline.OpProduce, errors.New("no answer"))
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	if err := k.part.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(k.Records(k.runner.Env.Topics.Features, 2)); n != 1 || len(k.part.core.spares.list) != 0 {
		t.Errorf("%d outputs, %d handed back", n, len(k.part.core.spares.list))
	}
}

// A dead letter is acknowledged before a later output is sent, and only that output waits for it.
func TestFeaturizeSendsDeadLettersBeforeLaterOutputs(t *testing.T) {
	k := newRequestKit(t, 1<<20)
	begun, release := make(chan string, 9), make(chan struct{})
	k.produced = func(topic string, _ []pipeline.Record) {
		begun <- topic
		<-release
	}
	rows := stagestest.Events(t, stagestest.Regression, 60, 41, stagestest.Faults{})
	k.send(pipeline.Record{Value: []byte("poison")}, event(t, 1, rows))
	if err := k.step(); err != nil { // returns before the dead letter is acknowledged
		t.Fatal(err)
	}
	if topic := <-begun; topic != k.runner.Env.Topics.DeadLetters {
		t.Fatalf("%s is written first", topic)
	}
	k.send(event(t, 2, rows))
	stepped := make(chan error)
	go func() {
		stepped <- k.part.Process(t.Context(), pipeline.Fetched{Records: k.Records("events", 2)[2:], NextOffset: 3})
	}()
	select {
	case topic := <-begun:
		t.Errorf("%s is written while the dead letter is being sent", topic)
	case release <- struct{}{}:
	}
	if topic := <-begun; topic != k.runner.Env.Topics.Features || len(k.deadLetters()) != 1 {
		t.Errorf("%s is written, %d dead letters are there", topic, len(k.deadLetters()))
	}
	close(release)
	if err := <-stepped; err != nil {
		t.Fatal(err)
	}
	if err := k.part.Close(t.Context()); err != nil || k.committed != 3 || len(k.rows(1))+len(k.rows(2)) != 120 {
		t.Errorf("offset %d is committed, %v", k.committed, err)
	}
}

// If a dead letter cannot be written, neither is any output after it.
func TestFeaturizeSendsNoOutputAfterAFailedDeadLetter(t *testing.T) {
	k := newRequestKit(t, 1<<20)
	errGone := pipeline.Permanent(errors.New("gone"))
	k.send(pipeline.Record{Value: []byte("poison")},
		event(t, 1, stagestest.Events(t, stagestest.Regression, 60, 41, stagestest.Faults{})))
	k.FailNext(pipeline.OpProduce, errGone)
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	if err := k.part.Close(t.Context()); !errors.Is(err, errGone) ||
		len(k.Records(k.runner.Env.Topics.Features, 2)) != 0 || k.committed != -1 {
		t.Errorf("%v; %d outputs, offset %d is committed", err, len(k.Records(k.runner.Env.Topics.Features, 2)), k.committed)
	}
}

// Offsets in the result of a request belong to the log before a gap.
func TestAGapWaitsForTheRequestBeforeIt(t *testing.T) {
	k := newRequestKit(t, 1<<20)
	k.part.at = k.runner.Env.Meter.Follow(meter.StageFeaturize, "events", 2, 0)
	rows := stagestest.Events(t, stagestest.Regression, 60, 41, stagestest.Faults{})
	begun, release := make(chan struct{}), make(chan struct{})
	k.produced = func(string, []pipeline.Record) {
		close(begun)
		<-release
	}
	k.send(event(t, 0, rows), event(t, 1, rows))
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	<-begun
	passed := make(chan error)
	go func() {
		passed <- k.part.Gap(t.Context(), pipeline.Gap{
			Topic:     "events",
			Partition: 2,
			Kind:      pipeline.GapTruncated,
			From:      2,
			To:        1,
			First:     0,
			End:       1,
		})
	}()
	close(release)
	if err := <-passed; err != nil {
		t.Fatal(err)
	}
	at := k.runner.Env.Meter.Partitions(stagestest.Noon)[0]
	if k.part.request != nil || k.part.next != 1 || k.part.refused != -1 || at.NextOffset != 1 || at.Messages != 2 {
		t.Errorf("goes on at offset %d, refused %d, reports %+v", k.part.next, k.part.refused, at)
	}
}

// One dead letter stands for all outputs of a message that are too large, in any of its requests.
func TestOneDeadLetterForAllOutputsOfAMessage(t *testing.T) {
	k := newKit(t, 3000, 500, 0)
	k.send(event(t, 0, stagestest.Events(t, stagestest.Regression, 100, 41, stagestest.Faults{})))
	requests := 0
	k.produced = func(topic string, _ []pipeline.Record) {
		requests += stagestest.Bit(topic == k.runner.Env.Topics.Features)
	}
	if err := k.step(); err != nil {
		t.Fatal(err)
	}
	if n := len(k.deadLetters()); n != 1 || requests < 2 {
		t.Errorf("%d dead letters of %d requests", n, requests)
	}
	if c := k.runner.Env.Meter.Totals().Featurize; c.Rows != 100 || c.Rejected != 100 || c.Messages != 1 {
		t.Errorf("counts %+v", c)
	}
}
