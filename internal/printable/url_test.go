package printable

import (
	"encoding/json"
	"testing"
)

func TestURLsInJSONLoseSecrets(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1.50,"b":"no address \" < \u003c"}`: `{"a":1.50,"b":"no address \" < \u003c"}`,
		`{"a":1.50,"b":"Post \"https://u:hunter2@h/v1?k=hunter2\": \u003cnil\u003e\\","c":"\\"}`: `{"a":1.50,` +
			`"b":"Post \"https://REDACTED@h/v1?REDACTED\": \u003cnil\u003e\\","c":"\\"}`,
	} {
		if got := string(URLsInJSON([]byte(text))); got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestURLsLoseSecrets(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"no address":           "no address",
		"http://localhost:80":  "http://localhost:80",
		"https://h/v1/traces?": "https://h/v1/traces?",
		"https://h/v1/traces?api-key=hunter2&x=1": "https://h/v1/traces?REDACTED",
		"https://h/v1#hunter2":                    "https://h/v1#REDACTED",
		"https://u:hunter2@h/v1":                  "https://REDACTED@h/v1",
		"https://hunter2@h/v1":                    "https://REDACTED@h/v1",
		"https://u:hun@ter2@h:1/v1?a=b@c#d":       "https://REDACTED@h:1/v1?REDACTED",
		"https://u:hun/ter2@h/v1":                 "https://REDACTED@h/v1",
		"https://u:hun?ter2@h/v1":                 "https://REDACTED",
		"https://u:hun#ter2@h/v1":                 "https://REDACTED",
		`Post "https://u:hunter2@h/v1?k=hunter2": dial tcp; see http://d/e?f`: `Post "https://REDACTED@h/v1?REDACTED": ` +
			`dial tcp; see http://d/e?REDACTED`,
	} {
		if got := URLs(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
