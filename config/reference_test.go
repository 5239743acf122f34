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

// TestReferenceIsWhatTheKeysSay compares the page that people read with the struct tags that it is made
// from.
func TestReferenceIsWhatTheKeysSay(t *testing.T) {
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

const referenceHead = `# Configuration reference

Every key, in the order in which ` + "`featurizer config print`" + ` writes them. This page is generated from the struct tags in the
code, and a test keeps it equal to them; the same text is printed by ` + "`featurizer config explain`" + ` (` + "`--json`" + ` for
machines). How the layers work, and which keys matter when, is in [operations.md](operations.md#configuration).

After a key was added or changed, rewrite this page with:

    go test ./config -run TestReferenceIsWhatTheKeysSay -update
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
			fmt.Fprintf(&page, "\n## %s\n\n| key | type | default | environment variable | meaning |\n| --- | --- | --- | --- | --- |\n", section)
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | `%s` | %s |\n",
			key.Name, cell(typeOf(key)), code(key.Default), key.Env, cell(key.Doc))
	}
	return page.Bytes()
}

// typeOf is a key's type with its unit and whether its value is hidden.
func typeOf(key config.Key) string {
	text := key.Type
	if key.Unit != "" && key.Unit != key.Type && !(key.Type == "size" && key.Unit == "bytes") {
		text += ", " + key.Unit
	}
	if key.Secret {
		text += ", secret"
	}
	return text
}

// code is a value as code; an empty text is shown as "".
func code(value string) string {
	if value == "" {
		value = `""`
	}
	return "`" + cell(value) + "`"
}

// cell escapes text for a table.
func cell(text string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text) }
