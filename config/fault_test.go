package config

import (
	"errors"
	"strings"
	"testing"
)

func TestFaultsOfAllKindsAreListedTogether(t *testing.T) {
	faults := faultsOf(t, `
exploration:
  candidates: 600
  features: 700
  sample_rat: 0.5
train:
  min_rows: lots
`)
	want := Faults{
		{Key: "exploration.sample_rat", Bound: "unknown key; did you mean exploration.sample_rate?", Source: "config.yaml:5"},
		{Key: "train.min_rows", Value: "lots", Bound: "want a whole number", Source: "config.yaml:7"},
		{
			Key:    "exploration.features",
			Value:  "700",
			Bound:  "want at most exploration.candidates (600): features are chosen from the candidates",
			Source: "config.yaml:4",
		},
	}
	if len(faults) != len(want) {
		t.Fatalf("%d faults, want %d: %v", len(faults), len(want), faults)
	}
	for i := range want {
		if faults[i] != want[i] {
			t.Errorf("fault %d is %+v, want %+v", i, faults[i], want[i])
		}
	}
	const text = `3 faults in the configuration:
  exploration.sample_rat (config.yaml:5): unknown key; did you mean exploration.sample_rate?
  train.min_rows = lots (config.yaml:7): want a whole number
  exploration.features = 700 (config.yaml:4): want at most exploration.candidates (600): features are chosen from the candidates`
	if got := faults.Error(); got != text {
		t.Errorf("text:\n%s\nwant:\n%s", got, text)
	}
}

func TestFaultsOfForm(t *testing.T) {
	tests := []struct {
		name, text string
		environ    string
		want       []string // each fault as text
	}{
		{"not YAML", "a: [", "", []string{"config.yaml): not YAML"}},
		{"not a mapping", "- a\n", "", []string{"(config.yaml:1): the file is not a mapping; want sections of keys"}},
		{"two documents", "{}\n---\n{}\n", "", []string{"more than one YAML document"}},
		{"scalar for a section", "kafka: 5", "", []string{"kafka = 5 (config.yaml:1): is a section; want keys under it"}},
		{"section for a key", "train: {interval: {a: 1}}", "",
			[]string{"train.interval", "is a key, not a section; want duration"}},
		{"list for one value", "train: {interval: [1s]}", "",
			[]string{"train.interval = [1s]", "want one value, not a list"}},
		{"one value for a list", "events: {features: amount}", "",
			[]string{"events.features = amount", "want a list: [amount]"}},
		{"no value", "train: {interval: }", "", []string{"train.interval = null", "has no value"}},
		{"nested list", "events: {features: [[a]]}", "",
			[]string{"events.features", "an entry of the list is not one value"}},
		{"number without unit", "train: {interval: 60}", "", []string{"train.interval = 60", "with its unit, such as 30s"}},
		{"fraction of a row", "train: {min_rows: 1.5}", "", []string{"want a whole number"}},
		{"too large a number", "topics: {partitions: 99999999999999999999}", "", []string{"want a whole number"}},
		{"negative seed", "exploration: {seed: -1}", "",
			[]string{"exploration.seed = -1", "want a whole number from 0 to 18446744073709551615"}},
		{"not a number", "events: {clip: .nan}", "", []string{"events.clip = .nan", "want a finite number"}},
		{"infinity", "exploration: {sigma: Inf}", "", []string{"want a finite number"}},
		{"yes for true", "train: {intercept: yes}", "", []string{"train.intercept = yes", "want true or false"}},
		{"size of no unit", "limits: {budget_bytes: 8 MX}", "", []string{"want a size"}},
		{"unknown name", "exploration: {map: cosinus}", "",
			[]string{"exploration.map = cosinus", "want one of cosine, arccos0"}},
		{"binary", "pipeline: {name: !!binary aGk=}", "", []string{"base64 is not decoded"}},
		{"key given twice", "log:\n  level: info\n  level: warn\n", "",
			[]string{"log.level (config.yaml:3): given twice; the first is at line 2"}},
		{"dotted key", "train.interval: 5s", "", []string{"train.interval", "want the key under its section"}},
		{"key that is a list", "[a]: 1", "", []string{"a key is a list or a mapping"}},
		{"unknown section", "exploratoin: {candidates: 5}", "",
			[]string{"exploratoin (config.yaml:1): unknown key; did you mean exploration?"}},
		{"unknown", "zzzzzzzzzz: 1", "", []string{"zzzzzzzzzz (config.yaml:1): unknown key"}},
		{"unknown variable", "", "EERF_TRAIN__INTERVALL=5s",
			[]string{"train.intervall (EERF_TRAIN__INTERVALL): unknown key; did you mean train.interval?"}},
		{"variable with one underscore", "", "EERF_TRAIN_INTERVAL=5s", []string{"did you mean EERF_TRAIN__INTERVAL?"}},
		{"variable with one of two", "", "EERF_KAFKA__TLS_ENABLED=true", []string{"did you mean EERF_KAFKA__TLS__ENABLED?"}},
		{"empty variable", "", "EERF_TRAIN__MIN_ROWS=",
			[]string{`train.min_rows = "" (EERF_TRAIN__MIN_ROWS): want a whole number`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			faults := faultsOf(t, tt.text, tt.environ)
			if len(faults) != 1 {
				t.Fatalf("%d faults, want 1: %v", len(faults), faults)
			}
			for _, want := range tt.want {
				if got := faults[0].String(); !strings.Contains(got, want) {
					t.Errorf("fault %q, want one with %q", got, want)
				}
			}
		})
	}
}

func TestAliasExpansionIsBounded(t *testing.T) {
	c := loadText(t, "train: {interval: &pause 30s}\nsubsample: {checkpoint_interval: *pause}\n")
	if c.Stages.Subsample.CheckpointInterval != c.Stages.Train.Interval {
		t.Error("the alias was not followed")
	}
	// Nine lists, each with nine copies of the previous one: 9^9 values.
	var bomb strings.Builder
	bomb.WriteString("a: &a [x,x,x,x,x,x,x,x,x]\n")
	for i := 'b'; i <= 'i'; i++ {
		bomb.WriteString(strings.NewReplacer("N", string(i), "P",
			string(i-1)).Replace("N: &N [*P,*P,*P,*P,*P,*P,*P,*P,*P]\n"))
	}
	bomb.WriteString("events: {features: *i}\n")
	if faults := faultsOf(t, bomb.String()); len(faults) == 0 {
		t.Error("the file was accepted")
	}
	// A section that contains itself.
	if _, err := load([]byte("kafka: &k {tls: *k}\n"), "config.yaml", nil, nil); err == nil {
		t.Error("the file was accepted")
	}
}

func TestFaultAtDefaultNamesItsSource(t *testing.T) {
	faults := faultsOf(t, "exploration: {candidates: 10}")
	if len(faults) != 1 || faults[0].Key != "exploration.features" || faults[0].Source != "default" {
		t.Errorf("faults %v", faults)
	}
	c := Default()
	c.Log.Level = "loud"
	var unplaced Faults
	if err := c.Validate(); !errors.As(err, &unplaced) || unplaced[0].Source != "" {
		t.Errorf("faults %v, want one without a source", c.Validate())
	}
}
