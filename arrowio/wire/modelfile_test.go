package wire

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// exampleModelFile is a file with the example model and the example set, and where the second
// message begins.
func exampleModelFile(t *testing.T) (value []byte, second int) {
	t.Helper()
	model, set := exampleModel(), exampleFeatureSet()
	value = must(EncodeModelFile(model, set))
	messages := slices.Concat(must(EncodeModel(model)), must(EncodeFeatureSet(set)))
	if !slices.Equal(value, messages) {
		t.Fatal("a model file is not the two messages, one after the other")
	}
	return value, len(must(EncodeModel(model)))
}

func TestModelFileHoldsTheMessagesOfTheTopics(t *testing.T) {
	value, second := exampleModelFile(t)
	model, set, err := DecodeModelFile(newDecoder(), value)
	if err != nil {
		t.Fatal(err)
	}
	if model.ID != ModelID(exampleModel()) || set.ID() != exampleFeatureSet().ID() {
		t.Errorf("model %s, set %s", model.ID, set.ID())
	}
	if model, set, err := DecodeModelFile(newDecoder(), value[:second]); err != nil || model == nil || set != nil {
		t.Errorf("of the model's message alone: model %v, set %v, %v", model, set, err)
	}
	for name, file := range map[string][]byte{"a model file": value, "a message": value[second:]} {
		if set, err := DecodeFeatureSetFile(newDecoder(), file); err != nil || set.ID() != exampleFeatureSet().ID() {
			t.Errorf("set of %s: %v", name, err)
		}
	}
}

func TestModelFileRefusesOtherFiles(t *testing.T) {
	value, second := exampleModelFile(t)
	cases := map[string][]byte{
		"the set alone": value[second:], "two models": slices.Concat(value[:second], value[:second]),
		"turned around": slices.Concat(value[second:], value[:second]), "nothing": nil,
		"another set": slices.Concat(value[:second], must(EncodeFeatureSet(linearFeatureSet()))),
	}
	for _, n := range []int{1, 100, second / 2, second - 9, second + 1, second + 100, len(value) - 9} {
		cases[fmt.Sprintf("cut at %d", n)] = value[:n]
	}
	for name, file := range cases {
		if model, set, err := DecodeModelFile(newDecoder(), file); err == nil || model != nil || set != nil {
			t.Errorf("%s: model %v, set %v, %v", name, model, set, err)
		}
	}
	if _, err := DecodeFeatureSetFile(newDecoder(), value[:second]); err == nil {
		t.Error("a model passes for a feature set")
	}
	if _, err := EncodeModelFile(exampleModel(), linearFeatureSet()); !errors.Is(err, ErrOtherSet) {
		t.Errorf("model and another set: %v", err)
	}
	if _, err := EncodeModelFile(nil, exampleFeatureSet()); !errors.Is(err, errMissing) {
		t.Errorf("no model: %v", err)
	}
}

// A span of a file has only the rows that were sampled, a span of a topic all rows.
func TestSpanHasTheSampledRows(t *testing.T) {
	all := Span{Partition: 1, StartOffset: 10, NextOffset: 500}
	some := all
	some.SampleRate, some.SampleSeed = 0.5, 7
	n := 0
	for offset := range int64(600) {
		within := offset >= 10 && offset < 500
		if all.Has(training.RowID{Partition: 1, Offset: offset}) != within || all.Has(training.RowID{Offset: offset}) {
			t.Fatalf("offset %d", offset)
		}
		if sampled := scoring.Sampled(scoring.Hash(7, 1, offset), 0.5); some.Has(
			training.RowID{Partition: 1, Offset: offset},
		) != (within && sampled) {
			t.Fatalf("offset %d, sampled %v", offset, sampled)
		} else if within && sampled {
			n++
		}
	}
	if n < 200 || n > 290 {
		t.Errorf("%d of 490 rows", n)
	}
	model := exampleModel()
	some.SampleRate = 1.5
	if model.NotHeldOut = []Span{some}; model.Validate() == nil {
		t.Error("a sample rate of 1.5 passes")
	}
}
