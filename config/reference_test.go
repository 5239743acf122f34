package config_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/config"
)

var update = flag.Bool("update", false, "rewrite docs/configuration.md")

const referencePath = "../docs/configuration.md"

// TestReferenceMatchesKeys compares the page with the struct tags that it is generated from.
func TestReferenceMatchesKeys(t *testing.T) {
	want := reference(config.Keys())
	if *update {
		if err := os.WriteFile(referencePath, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is out of date; rewrite it with: go test ./config -run %s -update", referencePath, t.Name())
	}
}

const referenceHead = `# Configuration

Every key, with its default. The environment variable of ` + "`kafka.tls.ca_file` is `EERF_KAFKA__TLS__CA_FILE`" + `, and so on; [operations](operations.md#configuration)
says how file, environment and flags override each other. ` + "`featurizer config explain`" + ` prints the same, with types. This page is generated:

    go test ./config -run TestReferenceMatchesKeys -update
`

// reference renders the keys as a Markdown page with one table for each section.
func reference(keys []config.Key) []byte {
	var page bytes.Buffer
	page.WriteString(referenceHead)
	section := ""
	for _, key := range keys {
		name, _, _ := strings.Cut(key.Name, ".")
		if name != section {
			section = name
			fmt.Fprintf(&page, "\n## %s\n\n| key | default | meaning |\n| --- | --- | --- |\n", section)
		}
		if env := "EERF_" + strings.ToUpper(strings.ReplaceAll(key.Name, ".", "__")); key.Env != env {
			panic(key.Name + " has the variable " + key.Env + ", and the page says " + env)
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", key.Name, code(key.Default)+unitOf(key), cell(key.Doc))
	}
	return page.Bytes()
}

// unitOf returns the unit of a number, and whether a value is hidden. The types of sizes and
// durations imply theirs.
func unitOf(key config.Key) string {
	switch {
	case key.Secret:
		return ", secret"
	case key.Unit == "" || key.Unit == key.Type || key.Type == "size" || key.Type == "duration":
		return ""
	}
	return " " + key.Unit
}

// code returns a value as code; an empty text is shown as "".
func code(value string) string {
	if value == "" {
		value = `""`
	}
	return "`" + cell(value) + "`"
}

// cell escapes text for a table.
func cell(text string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text) }
