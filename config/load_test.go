package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// load is [Load] for bytes and a given environment.
func load(data []byte, name string, environ []string, overrides map[string]any) (*Config, error) {
	return loadOver(nil, data, name, environ, overrides)
}

// equal compares configurations field by field.
func equal(t *testing.T, got, want *Config) {
	t.Helper()
	if have, expected := printed(t, got, false), printed(t, want, false); have != expected {
		t.Errorf("the configuration is\n%s\nwant\n%s", have, expected)
	}
}

func loadText(t *testing.T, text string, environ ...string) *Config {
	t.Helper()
	c, err := load([]byte(text), "config.yaml", environ, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// faultsOf loads a text that must be refused.
func faultsOf(t *testing.T, text string, environ ...string) Faults {
	t.Helper()
	_, err := load([]byte(text), "config.yaml", environ, nil)
	var faults Faults
	if !errors.As(err, &faults) {
		t.Fatalf("error %v, want faults", err)
	}
	return faults
}

func TestEmptyFileEqualsDefaults(t *testing.T) {
	for name, text := range map[string]string{
		"no bytes":       "",
		"comments":       "# nothing\n",
		"null":           "null\n",
		"empty mapping":  "{}",
		"empty sections": "kafka:\ntrain: {}\n",
	} {
		t.Run(name, func(t *testing.T) { equal(t, loadText(t, text), Default()) })
	}
}

func TestDefaultCriterionDependsOnMap(t *testing.T) {
	for text, want := range map[string]scoring.Criterion{
		"":                                    Default().Stages.Exploration.Criterion,
		"exploration: {map: arccos1}":         scoring.Residual,
		"exploration: {distribution: cauchy}": scoring.Residual,
		"exploration: {map: arccos1, criterion: energy}": scoring.Energy,
	} {
		if got := loadText(t, text).Stages.Exploration.Criterion; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	faults := faultsOf(t, "exploration: {map: arccos1, criterion: adaptive}")
	if len(faults) != 1 || faults[0].Key != "exploration.criterion" {
		t.Errorf("%v", faults)
	}
}

func TestFullFileSetsEveryKey(t *testing.T) {
	t.Setenv("EERF_LOG__LEVEL", "debug") // as in the file; other variables of the machine are unknown here
	c, err := Load(nil, filepath.Join("testdata", "full.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// These have their defaults because no other value is valid with the rest, or known.
	atDefault := map[string]bool{"exploration.distribution": true, "events.label_transform": true,
		"events.label_min": true, "events.label_max": true, "kafka.sasl.password_file": true,
		"registry.user": true, "registry.password_file": true, "registry.oauth.token_file": true,
		"registry.oauth.token_command": true,
		"featurize.sets_from":          true}
	for _, key := range Keys() {
		field := reflect.ValueOf(c).Elem().FieldByIndex(key.index)
		if render(field).String() == key.Default && !atDefault[key.Name] &&
			!strings.HasPrefix(key.Name, "kafka.sasl.oauth.") {
			t.Errorf("%s is at its default, %s", key.Name, key.Default)
		}
		if !strings.Contains(string(text), lastPart(key.Name)+":") {
			t.Errorf("the full file does not have %s", key.Name)
		}
	}
	s := c.Stages
	if got, want := s.Events.Features, []string{"amount", "country", "card, present", "010"}; !slices.Equal(got, want) {
		t.Errorf("events.features %q, want %q", got, want)
	}
	if c.Kafka.SASL.Password != "0123" || c.Kafka.FetchMaxBytes != 2<<20 || string(c.Kafka.Compression) != "lz4" {
		t.Errorf("kafka %+v", c.Kafka)
	}
	if s.Exploration.Map != scoring.MapArcCosine1 || s.Exploration.Seed != 1<<64-1 || s.Exploration.Candidates != 20_000 ||
		s.Exploration.Features != 900 {
		t.Errorf("exploration %+v", s.Exploration)
	}
	if s.Exploration.From != wire.FromNext || s.Exploration.SampleRate != 0.5 || s.Topics.MaxMessageBytes != 16<<20 {
		t.Errorf("from %v, sample rate %v, largest message %d", s.Exploration.From, s.Exploration.SampleRate,
			s.Topics.MaxMessageBytes)
	}
}

func TestLayersOverrideInOrder(t *testing.T) {
	const file = "train: {interval: 2m}\n"
	environ := []string{"EERF_TRAIN__MIN_ROWS=4000"}
	defaults := map[string]any{"train.interval": "1h", "train.min_rows": "1", "train.evaluation_rows": "2",
		"train.held_out_seed": "9"}
	c, err := loadOver(defaults, []byte(file), "config.yaml", environ, map[string]any{"train.evaluation_rows": 6000})
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Stages.Train.Interval = 2 * time.Minute
	want.Stages.Train.MinRows = 4000
	want.Stages.Train.EvaluationRows = 6000
	want.Stages.Train.HeldOutSeed = 9
	equal(t, c, want)

	_, err = loadOver(map[string]any{"train.min_rows": "few"}, nil, "", nil, nil)
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Source != "default of the command" {
		t.Errorf("%v", err)
	}
}

func TestEnvironment(t *testing.T) {
	minimum := -1.5
	tests := []struct {
		variable string
		set      func(*Config)
	}{
		{"EERF_EVENTS__LABEL=price", func(c *Config) { c.Stages.Events.Label = []string{"price"} }},
		{"EERF_EVENTS__FEATURES=a, b,c", func(c *Config) { c.Stages.Events.Features = []string{"a", "b", "c"} }},
		{`EERF_EVENTS__FEATURES=[a, "b, c", 010]`,
			func(c *Config) { c.Stages.Events.Features = []string{"a", "b, c", "010"} }},
		{"EERF_EVENTS__FEATURES=", func(*Config) {}},
		{"EERF_TRAIN__INTERCEPT=false", func(c *Config) { c.Stages.Train.Intercept = false }},
		{"EERF_TOPICS__MAX_MESSAGE_BYTES=12MiB", func(c *Config) { c.Stages.Topics.MaxMessageBytes = 12 << 20 }},
		{"EERF_EXPLORATION__CRITERION=energy", func(c *Config) { c.Stages.Exploration.Criterion = scoring.Energy }},
		{"EERF_KAFKA__TLS__ENABLED=true", func(c *Config) { c.Kafka.TLS.Enabled = true }},
		{"eerf_log__level=debug", func(*Config) {}}, // names of variables are case-sensitive
		{"EERF_PORT_80_TCP=tcp://10.0.0.1:80", func(*Config) {}},
		{"EERF_SERVICE_HOST=10.0.0.1", func(*Config) {}},
	}
	for _, tt := range tests {
		t.Run(tt.variable, func(t *testing.T) {
			want := Default()
			tt.set(want)
			equal(t, loadText(t, "", tt.variable), want)
		})
	}
	t.Run("EERF_EVENTS__LABEL_MIN=-1.5", func(t *testing.T) {
		c := loadText(t, "events: {label: [y]}", "EERF_EVENTS__LABEL_MIN=-1.5")
		if got := c.Stages.Events.LabelMin; got == nil || *got != minimum {
			t.Errorf("label_min %v, want %v", got, minimum)
		}
	})
	t.Run("null unsets a value of the file", func(t *testing.T) {
		c := loadText(t, "events: {label: [y], label_min: 3}", "EERF_EVENTS__LABEL_MIN=null")
		if c.Stages.Events.LabelMin != nil {
			t.Errorf("label_min %v, want none", *c.Stages.Events.LabelMin)
		}
	})
}

func TestOverridesAcceptTypesOfKeys(t *testing.T) {
	c, err := load(nil, "", nil, map[string]any{
		"exploration.candidates":  2000,
		"exploration.features":    "100",
		"exploration.criterion":   scoring.Energy,
		"exploration.sample_rate": 0.05,
		"exploration.seed":        uint64(9),
		"exploration.every":       90 * time.Second,
		"events.label":            []string{"y"},
		"events.exclude":          "id,name",
		"events.label_max":        12.5,
		"train.intercept":         false,
	})
	if err != nil {
		t.Fatal(err)
	}
	want, top := Default(), 12.5
	e := &want.Stages.Exploration
	e.Candidates = 2000
	e.Features = 100
	e.Criterion = scoring.Energy
	e.SampleRate = 0.05
	e.Seed = 9
	e.Every = 90 * time.Second
	want.Stages.Events.Label = []string{"y"}
	want.Stages.Events.Exclude = []string{"id", "name"}
	want.Stages.Events.LabelMax = &top
	want.Stages.Train.Intercept = false
	equal(t, c, want)
}

func TestOverridesOfWrongTypeAreFaults(t *testing.T) {
	_, err := load(nil, "", nil, map[string]any{"train.intervall": "1m", "train.interval": map[string]int{}})
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != 2 {
		t.Fatalf("error %v, want two faults", err)
	}
	if faults[0].Key != "train.interval" || faults[1].Bound != "unknown key; did you mean train.interval?" ||
		faults[1].Source != "command line" {
		t.Errorf("faults %+v", faults)
	}
}

func TestUnreadableFileIsError(t *testing.T) {
	if _, err := Load(nil, filepath.Join(t.TempDir(), "none.yaml"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one for a missing file", err)
	}
	large := filepath.Join(t.TempDir(), "large.yaml")
	if err := os.WriteFile(large, []byte(strings.Repeat("#\n", maxFileBytes)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(nil, large, nil); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("error %v, want one for a file that is too large", err)
	}
}

func TestTopicsAreNamedAfterThePipeline(t *testing.T) {
	for name, tt := range map[string]struct{ text, events, models string }{
		"no names":          {"", "default.events", "default.models"},
		"a pipeline":        {"pipeline: {name: churn}", "churn.events", "churn.models"},
		"a name of its own": {"pipeline: {name: churn}\ntopics: {events: clicks}", "clicks", "churn.models"},
		"an empty name":     {"pipeline: {name: churn}\ntopics: {events: ''}", "churn.events", "churn.models"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := loadText(t, tt.text).Stages.Topics; got.Events != tt.events || got.Models != tt.models {
				t.Errorf("events is %s, models %s; want %s, %s", got.Events, got.Models, tt.events, tt.models)
			}
		})
	}
	equal(t, loadText(t, ""), Default())
}

func TestFollowingPipelineUsesTopicsOfOther(t *testing.T) {
	const text = "pipeline: {name: live}\nfeaturize: {sets_from: shop}\ntopics: {events: payments}\n"
	c, err := load([]byte(text), "live.yaml", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Stages.Topics
	for _, name := range [][2]string{
		{got.Events, "payments"}, {got.Features, "live.features"}, {got.DeadLetters, "live.dead-letters"},
		{got.Explorations, "shop.explorations"}, {got.FeatureSets, "shop.feature-sets"}, {got.Models, "shop.models"},
		{got.Scores, ""}, {got.Samples, ""},
	} {
		if name[0] != name[1] {
			t.Errorf("topic %q, want %q", name[0], name[1])
		}
	}
	if sizes := c.Sizes(); len(sizes) != 1 || sizes[0].Topic != "live.features" ||
		!strings.Contains(sizes[0].Assumes, "pipeline shop") {
		t.Errorf("sizes %+v", sizes)
	}
	var printed strings.Builder
	if err := c.Print(&printed, true); err != nil {
		t.Fatal(err)
	}
	again, err := load([]byte(printed.String()), "again.yaml", nil, nil)
	if err != nil || again.Stages.Topics != got {
		t.Errorf("read back: %+v, %v", again, err)
	}
	for _, text := range []string{
		"featurize: {sets_from: Shop}", "featurize: {sets_from: default}", "featurize: {sets_from: shop}\ntopics: " +
			"{scores: mine}",
		"featurize: {sets_from: shop}\npipeline: {name: Live}",
	} {
		if faults := faultsOf(t, text); len(faults) != 1 {
			t.Errorf("%s: %d faults, want 1: %v", text, len(faults), faults)
		}
	}
}
