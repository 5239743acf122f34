package config

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/scoring"
)

const canary = "hunter2-canary"

func printed(t *testing.T, c *Config, hideSecrets bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Print(&b, hideSecrets); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPrintAndLoadAreInverse(t *testing.T) {
	full, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	low := -0.1
	odd := Default()
	odd.Stages.Events.Features = []string{"null", "true", "010", "a, b", "", "#", "line\nbreak", "ä", "'", `"`, ": "}
	odd.Stages.Events.Label = []string{"~"}
	odd.Stages.Events.LabelMin = &low
	odd.Stages.Exploration.Every = 90 * time.Minute
	odd.Stages.Exploration.Criterion, odd.Stages.Exploration.Sigma = scoring.Residual, 1e-7
	odd.Stages.Pipeline.Name, odd.Stages.Topics.Scores = "123", "scores"
	odd.Kafka.ClientID = "1e3"
	for name, c := range map[string]*Config{"default": Default(), "full": loadText(t, string(full)), "odd": odd} {
		t.Run(name, func(t *testing.T) { equal(t, loadText(t, printed(t, c, false)), c) })
	}
}

func TestPrintHidesSecrets(t *testing.T) {
	c := Default()
	c.Kafka.TLS.Enabled = true
	c.Kafka.SASL.Mechanism = "plain"
	c.Kafka.SASL.User = "eerf"
	c.Kafka.SASL.Password = canary
	if text := printed(t, c, true); strings.Contains(text, canary) || !strings.Contains(text, "password: "+redacted) {
		t.Errorf("printed:\n%s", text)
	}
	if text := printed(t, c, false); !strings.Contains(text, canary) {
		t.Error("the unredacted print hides the password")
	}
	secrets := 0
	for _, key := range Keys() {
		if key.Secret {
			secrets++
		}
	}
	if secrets != 2 {
		t.Errorf("%d secret keys, want the password and the token of rows: add a new one here on purpose", secrets)
	}
}

// Users, queries and fragments of URLs are hidden in every key, in YAML and in JSON.
func TestPrintHidesSecretsInURLs(t *testing.T) {
	c := Default()
	c.Traces.Endpoint = "http://collector:4318/v1/traces?api-key=" + canary
	c.Registry.URL = []string{"https://registry:8081#" + canary, "https://eerf:" + canary + "@registry:8082/v7"}
	c.Kafka.SASL.OAuth.TokenEndpoint = "https://tokens/realm?tenant=" + canary
	values, err := c.Values(true)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{printed(t, c, true), fmt.Sprint(values)} {
		if strings.Contains(text, canary) || strings.Count(text, redacted) != 4 {
			t.Errorf("printed:\n%s", text)
		}
		for _, address := range []string{"http://collector:4318/v1/traces?", "https://registry:8081#", "@registry:8082/v7"} {
			if !strings.Contains(text, address) {
				t.Errorf("%s is missing", address)
			}
		}
	}
	if text := printed(t, c, false); strings.Count(text, canary) != 4 {
		t.Errorf("the unredacted print hides a secret:\n%s", text)
	}
}

func TestFaultsHideSecrets(t *testing.T) {
	for _, text := range []string{
		"kafka: {sasl: {password: [" + canary + "]}}",
		"kafka: {sasl: {password: {" + canary + ": 1}}}",
		"kafka: {sasl: {password: [[" + canary + "]]}}",
		"kafka: {sasl: {pasword: " + canary + "}}",
		"kafka: {sasl: {PASSWORD: " + canary + "}}",
		"kafka: {password: " + canary + "}",
		"kafka: {api_token: " + canary + "}",
		"kafka: {sasl: {mechanism: x, password: " + canary + "}}",
		"kafka: {sasl: {password: " + canary + ", password: " + canary + "}}",
		"kafka: {sasl: {password: a, pass_word: {x: " + canary + "}}}",
		"sasl: {password: " + canary + "}",
		"kafka: {sasl: {password: \"" + canary + "\"",
	} {
		if got := faultsOf(t, text).Error(); strings.Contains(got, canary) {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, variable := range []string{
		"EERF_KAFKA__SASL_PASSWORD=" + canary,
		"EERF_KAFKA_SASL_PASSWORD=" + canary,
		"EERF_KAFKA__SASL__PASWORD=" + canary,
	} {
		if got := faultsOf(t, "", variable).Error(); strings.Contains(got, canary) {
			t.Errorf("%s: %s", variable, got)
		}
	}
}

func TestExplainListsEveryKey(t *testing.T) {
	var b bytes.Buffer
	if err := Explain(&b); err != nil {
		t.Fatal(err)
	}
	for _, key := range Keys() {
		if key.Doc == "" || key.Type == "" || key.Env == "" {
			t.Errorf("%+v lacks its reference text", key)
		}
		if !strings.Contains(b.String(), key.Env+")") || !strings.Contains(b.String(), key.Doc) {
			t.Errorf("%s is not explained", key.Name)
		}
	}
}
