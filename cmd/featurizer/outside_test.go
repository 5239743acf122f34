package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/admin"
	"github.com/eerf-stream/eerf/cmd/internal/serve"
	"github.com/eerf-stream/eerf/internal/outside"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/oauth"
	"github.com/eerf-stream/eerf/pipeline/registry"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/topics"
)

// outsideSources are all values from outside.
func outsideSources() []outside.Source {
	return slices.Concat(
		wire.Outside(),
		arrowio.Outside(),
		pipeline.Outside(),
		meter.Outside(),
		events.Outside(),
		registry.Outside(),
		oauth.Outside(),
		serve.Outside(),
		admin.Outside(),
	)
}

// TestReferenceOfOutsideValues compares docs/outside-values.md with the declarations in the code.
func TestReferenceOfOutsideValues(t *testing.T) {
	const path = "../../docs/outside-values.md"
	var page bytes.Buffer
	page.WriteString(`# Values from outside

Every value that reaches a process from a topic, a header, a request or a server that it asks, with its bound, its writers, and what happens beyond the bound. The page is generated from the declarations in the code, which decoders and validators use: ` + "`go test ./cmd/featurizer -run Reference -update`" + `.

Fields of documents are named by path; ` + "`[]`" + ` stands for the elements of a list. Formats of events have further bounds ([data and formats](formats.md#events)).
`)
	for _, s := range outsideSources() {
		fmt.Fprintf(&page, "\n## %s\n\n%s. Writer: %s. Beyond a bound: %s.\n\n| value | bound |\n| --- | --- |\n",
			strings.ToUpper(s.Name[:1])+s.Name[1:], s.Where, s.Writer, s.Beyond)
		for _, v := range s.Values {
			name := "`" + v.Name + "`"
			if strings.ContainsAny(v.Name, "` ") && !regexp.MustCompile("^(GET|POST) /").MatchString(v.Name) {
				name = v.Name
			}
			fmt.Fprintf(&page, "| %s | %s |\n", name, v.Shape.Bound())
		}
	}
	if *update {
		if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, page.Bytes()) {
		t.Errorf("%s is out of date (%v); rewrite it with: go test ./cmd/featurizer -run %s -update", path, err, t.Name())
	}
}

// TestEveryTopicIsDeclared lists the topics of a pipeline: each must be the origin of a value from outside.
func TestEveryTopicIsDeclared(t *testing.T) {
	for _, spec := range topics.Default().Named("p").Specs(1) {
		name := "`" + strings.TrimPrefix(spec.Name, "p.") + "`"
		if !slices.ContainsFunc(outsideSources(), func(s outside.Source) bool { return strings.Contains(s.Where, name) }) {
			t.Errorf("no source names the topic %s", name)
		}
	}
}

// TestEveryEndpointIsDeclared reads the patterns of handlers in the source: each must be a value from outside.
func TestEveryEndpointIsDeclared(t *testing.T) {
	declared := map[string]bool{}
	for _, s := range outsideSources() {
		for _, v := range s.Values {
			declared[v.Name] = true
		}
	}
	found := 0
	for _, dir := range []string{"../internal/admin", "../internal/serve", "../internal/status"} {
		eachText(t, dir, func(text string) {
			if !regexp.MustCompile(`^(GET|POST|PUT|DELETE) /\S*$`).MatchString(text) {
				return
			}
			found++
			if !declared[text] {
				t.Errorf("%s: endpoint %q is not declared in Outside of its package", dir, text)
			}
		})
	}
	if found < 20 {
		t.Errorf("only %d endpoints found", found)
	}
}

// TestEveryHeaderIsDeclared reads the names of our headers in the source: each must be a value from outside.
func TestEveryHeaderIsDeclared(t *testing.T) {
	declared := map[string]bool{}
	for _, s := range outsideSources() {
		for _, v := range s.Values {
			declared[v.Name] = true
		}
	}
	found := 0
	for _, dir := range []string{
		"../../arrowio/wire",
		"../../stages/featurize",
		"../../stages/meter",
		"../../stages/deadletter",
		"../../stages/train",
	} {
		eachText(t, dir, func(text string) {
			if !regexp.MustCompile(`^eerf-[a-z-]+[a-z]$`).MatchString(text) {
				return
			}
			found++
			if !declared[text] {
				t.Errorf("%s: header %q is not declared in Outside of its package", dir, text)
			}
		})
	}
	if found < 14 {
		t.Errorf("only %d headers found", found)
	}
}

// eachText calls visit for every text in the code of a folder, without its tests.
func eachText(t *testing.T, dir string, visit func(text string)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					visit(text)
				}
			}
			return true
		})
	}
}
