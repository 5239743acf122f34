package config

import (
	"errors"
	"testing"
)

// FuzzEnvironment sets any variable and override: each is ignored, is a fault, or is a value of a valid
// configuration that prints and loads back.
func FuzzEnvironment(f *testing.F) {
	for _, key := range Keys() {
		f.Add(key.Env, "1", key.Name)
	}
	for _, text := range []string{"", "null", "~", "[a, \"b,c\"]", "[", "a,b,,", "1h", "-1", "1e400", "0x10", "true", "\xff", "{a: b}", "8MiB"} {
		f.Add("EERF_EVENTS__FEATURES", text, "events.label_min")
		f.Add("EERF_EXPLORATION__BANDWIDTH_MIX", text, "exploration.every")
	}
	f.Add("EERF_KAFKA_BROKERS", "a:1", "kafka.broker")
	f.Add("EERF___", "x", "")
	f.Fuzz(func(t *testing.T, name, text, override string) {
		c, err := load(nil, "", []string{name + "=" + text}, map[string]any{override: text})
		var faults Faults
		switch {
		case err == nil:
			if err := c.Validate(); err != nil {
				t.Fatalf("loaded, and not valid: %v", err)
			}
			equal(t, loadText(t, printed(t, c, false)), c)
		case !errors.As(err, &faults):
			t.Fatalf("error %v is no list of faults", err)
		case len(faults) == 0 || faults.Error() == "":
			t.Fatal("refused without a fault")
		}
	})
}
