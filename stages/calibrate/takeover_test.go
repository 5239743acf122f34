package calibrate

import (
	"errors"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

func TestATaskFoundInTheDataIsNotTakenOverByAccident(t *testing.T) {
	present, planned := &wire.Spec{}, &wire.Spec{}
	for spec, task := range map[*wire.Spec]scoring.Task{present: scoring.Regression, planned: scoring.Binary} {
		spec.EventsTopic = "e"
		spec.Encoder = &encoder.Encoder{Label: &encoder.Label{Columns: []string{"y"}, Task: task}}
	}
	s := Settings{Pipeline: "test", EventsTopic: "e"}
	s.Events.Label = []string{"y"}
	var takeover *TakeoverError
	if err := s.CheckTakeover(present); err != nil {
		t.Fatal(err)
	}
	if err := s.checkTask(present, planned); !errors.As(err, &takeover) {
		t.Fatalf("error %v", err)
	}
	s.AcceptChange = takeover.Hash
	if err := s.checkTask(present, planned); err != nil {
		t.Fatal(err)
	}
	s = Settings{Pipeline: "test", EventsTopic: "f"} // accepted before planning, whatever the task turns out to be
	s.Events.Label = []string{"y"}
	if err := s.checkTask(present, planned); err != nil {
		t.Fatal(err)
	}
}

func TestATakeoverNeedsTheHashOfTheChange(t *testing.T) {
	specOf := func(topic string, task scoring.Task, label ...string) *wire.Spec {
		spec := &wire.Spec{}
		spec.EventsTopic = topic
		spec.Encoder = &encoder.Encoder{Label: &encoder.Label{Columns: label, Task: task}}
		return spec
	}
	settings := func(topic, task string, label ...string) Settings {
		s := Settings{Pipeline: "test", EventsTopic: topic}
		s.Events.Label = label
		s.Events.Task = task
		return s
	}
	hashes := map[string]string{}
	for name, c := range map[string]struct {
		newest *wire.Spec
		s      Settings
		same   bool
	}{
		"no spec":              {nil, settings("e", "auto", "y"), true},
		"without a label":      {&wire.Spec{}, settings("e", "auto", "y"), true},
		"same":                 {specOf("e", scoring.Regression, "y"), settings("e", "auto", "y"), true},
		"same task":            {specOf("e", scoring.Regression, "y"), settings("e", "regression", "y"), true},
		"more classes":         {specOf("e", scoring.MultiClass, "y"), settings("e", "classification", "y"), true},
		"another label":        {specOf("e", scoring.Regression, "y"), settings("e", "auto", "z"), false},
		"the way back":         {specOf("e", scoring.Regression, "z"), settings("e", "auto", "y"), false},
		"another label column": {specOf("e", scoring.Regression, "y"), settings("e", "auto", "y", "z"), false},
		"another task":         {specOf("e", scoring.Regression, "y"), settings("e", "classification", "y"), false},
		"another topic":        {specOf("e", scoring.Regression, "y"), settings("f", "auto", "y"), false},
	} {
		err := c.s.CheckTakeover(c.newest)
		var takeover *TakeoverError
		if errors.As(err, &takeover) == c.same {
			t.Errorf("%s: %v", name, err)
		}
		if takeover == nil {
			continue
		}
		if other := hashes[takeover.Hash]; other != "" {
			t.Errorf("%s: the hash of %s", name, other)
		}
		hashes[takeover.Hash] = name
		c.s.AcceptChange = takeover.Hash
		if err := c.s.CheckTakeover(c.newest); err != nil {
			t.Errorf("%s, accepted: %v", name, err)
		}
	}
}
