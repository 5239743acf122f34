package config

import (
	"errors"
	"os"
	"testing"
)

// checkLoaded accepts a list of faults, or a valid configuration that prints and loads back.
func checkLoaded(t *testing.T, c *Config, err error) {
	t.Helper()
	var faults Faults
	switch {
	case err == nil:
		if err := c.Validate(); err != nil {
			t.Fatalf("loaded but invalid: %v", err)
		}
		equal(t, loadText(t, printed(t, c, false)), c)
	case !errors.As(err, &faults):
		t.Fatalf("error %v is not a list of faults", err)
	case len(faults) == 0 || faults.Error() == "":
		t.Fatal("refused without a fault")
	}
}

// FuzzLoad loads any bytes as a file.
func FuzzLoad(f *testing.F) {
	full, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", string(full), "a: [", "kafka: &k {tls: *k}", "train: {interval: 1h}", "? [a]\n: b",
		"events: {features: [a, \"b\\n\"], label: ~}", "<<: {log: {level: info}}", "pipeline: {name: !!binary aGk=}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := load(data, "config.yaml", nil, nil)
		checkLoaded(t, c, err)
	})
}

// FuzzEnvironment sets any variable and override.
func FuzzEnvironment(f *testing.F) {
	for _, key := range Keys() {
		f.Add(key.Env, "1", key.Name)
	}
	for _, text := range []string{"", "null", "~", "[a, \"b,c\"]", "[", "a,b,,", "1h", "-1", "1e400", "0x10", "true",
		"\xff", "{a: b}", "8MiB"} {
		f.Add("EERF_EVENTS__FEATURES", text, "events.label_min")
		f.Add("EERF_EXPLORATION__SIGMA", text, "exploration.every")
	}
	f.Add("EERF_KAFKA_BROKERS", "a:1", "kafka.broker")
	f.Add("EERF___", "x", "")
	f.Fuzz(func(t *testing.T, name, text, override string) {
		c, err := load(nil, "", []string{name + "=" + text}, map[string]any{override: text})
		checkLoaded(t, c, err)
	})
}
