package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/eerf-stream/eerf/config"
)

const schemaPath = "eerf.schema.json"

// TestSchemaIsWhatTheKeysSay compares the file that editors read with the struct tags that it is made
// from.
func TestSchemaIsWhatTheKeysSay(t *testing.T) {
	want := schemaText(t)
	if *update {
		if err := os.WriteFile(schemaPath, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("config/%s is out of date; rewrite it with: go test ./config -run %s -update", schemaPath, t.Name())
	}
}

func schemaText(t *testing.T) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := config.JSONSchema(&text); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// compiled is the compiled schema. Compiling also validates it against its metaschema.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaText(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("eerf.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("eerf.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if schema.DraftVersion != 7 {
		t.Errorf("draft %d, want 7", schema.DraftVersion)
	}
	return schema
}

// validate checks a YAML file as an editor would.
func validate(t *testing.T, schema *jsonschema.Schema, text []byte) error {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	// Converted through JSON, so that numbers have the types of JSON.
	again, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(again))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(document)
}

func TestSchemaAcceptsWhatIsValid(t *testing.T) {
	schema := compiled(t)
	var printed bytes.Buffer
	if err := config.Default().Print(&printed, true); err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{"what config print writes": printed.Bytes(), "an empty file": nil, "an empty section": []byte("kafka:\n")}
	files := []string{filepath.Join("testdata", "full.yaml")}
	for _, pattern := range []string{"../k8s/*/eerf.yaml", "../k8s/*/*/eerf.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 2 {
		t.Errorf("the configurations of k8s are not where they were: %v", files)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = text
	}
	for name, text := range texts {
		if err := validate(t, schema, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each of these is a fault for Load too.
func TestSchemaRefusesFaults(t *testing.T) {
	schema := compiled(t)
	for text, about := range map[string]string{
		"train: {intervall: 1m}":                     "intervall",
		"sheep: {}":                                  "sheep",
		"kafka: {tls: {enable: true}}":               "enable",
		"kafka: [a]":                                 "/kafka",
		"kafka: {brokers: localhost:9092}":           "/kafka/brokers",
		"train: {interval: 60}":                      "/train/interval",
		"train: {interval: soon}":                    "/train/interval",
		"exploration: {map: sine}":                   "/exploration/map",
		"exploration: {from: never}":                 "/exploration/from",
		"exploration: {features: some}":              "/exploration/features",
		"exploration: {bandwidth_mix: [a]}":          "/exploration/bandwidth_mix",
		"topics: {max_message_bytes: 8 potatoes}":    "/topics/max_message_bytes",
		"topics: {max_message_bytes: -1}":            "/topics/max_message_bytes",
		"events: {task: guess}":                      "/events/task",
		"events: {label_min: low}":                   "/events/label_min",
		"admin: {pprof: perhaps}":                    "/admin/pprof",
		"kafka: {sasl: {mechanism: GSSAPI}}":         "/kafka/sasl/mechanism",
		"log: {level: loud}":                         "/log/level",
		"exploration: {sample_rate: half}":           "/exploration/sample_rate",
		"featurize: {commit_interval: [1s]}":         "/featurize/commit_interval",
		"events: {features: [[a]]}":                  "/events/features",
		"exploration: {criterion: {name: residual}}": "/exploration/criterion",
	} {
		err := validate(t, schema, []byte(text))
		if err == nil || !strings.Contains(err.Error(), about) {
			t.Errorf("%s: %v, want a fault at %s", text, err, about)
		}
		path := filepath.Join(t.TempDir(), "eerf.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := config.Load(path, nil); !errors.As(err, new(config.Faults)) {
			t.Errorf("%s: Load says %v, want faults", text, err)
		}
	}
}

// Every word that the schema offers is accepted for its key, and no other.
func TestSchemaOffersTheWordsThatAreAccepted(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(schemaText(t), &root); err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	for _, key := range config.Keys() {
		docs[key.Name] = key.Doc
	}
	found := 0
	for key, words := range enums("", root) {
		found++
		for _, word := range words {
			if !strings.Contains(docs[key], word.(string)) {
				t.Errorf("%s: the text does not name %q", key, word)
			}
			if faultAt(key, word.(string)) {
				t.Errorf("%s: the schema offers %q, which is a fault", key, word)
			}
		}
		if !faultAt(key, "no such word") {
			t.Errorf("%s: the schema offers %v, and every word is accepted", key, words)
		}
	}
	if found < 12 {
		t.Errorf("%d keys with a list of words", found)
	}
}

// enums are the lists of words in a schema by key.
func enums(key string, node map[string]any) map[string][]any {
	if words, ok := node["enum"].([]any); ok {
		return map[string][]any{key: words}
	}
	found := map[string][]any{}
	properties, _ := node["properties"].(map[string]any)
	for name, child := range properties {
		for k, words := range enums(strings.TrimPrefix(key+"."+name, "."), child.(map[string]any)) {
			found[k] = words
		}
	}
	return found
}

// companions are other values that some words need.
var companions = map[string]map[string]any{
	"linear": {"exploration.distribution": "uniform"},
	"plain":  {"kafka.tls.enabled": true},
}

// faultAt reports whether Load finds a fault in this value of a key.
func faultAt(key, word string) bool {
	overrides := map[string]any{key: word}
	for name, value := range companions[word] {
		overrides[name] = value
	}
	_, err := config.Load("", overrides)
	var faults config.Faults
	if !errors.As(err, &faults) {
		return false
	}
	for _, fault := range faults {
		if fault.Key == key && fault.Value == word {
			return true
		}
	}
	return false
}
