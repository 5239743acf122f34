package importgraph

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const module = "example.org/m"

func TestImportsOfThisModuleFlowOneWay(t *testing.T) {
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	graph, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if graph.Module != "github.com/eerf-stream/eerf" || len(graph.Imports) == 0 {
		t.Fatalf("read %d imports of module %q", len(graph.Imports), graph.Module)
	}
	for _, violation := range Check(graph, ModuleRules()) {
		t.Error(violation)
	}
	// A stage's package without a rule would get that of stages, which may import all of them.
	for _, i := range graph.Imports {
		if strings.HasPrefix(i.From, "stages/") && ModuleRules().place(i.From) == "stages" {
			t.Errorf("%s: %s has no place of its own in the import order", i.File, i.From)
		}
	}
}

func TestCheckOnMadeUpGraphs(t *testing.T) {
	const ok = ""
	tests := []struct {
		name, from, to string
		test           bool
		want           string // part of the violation
	}{
		{"command may import config", "cmd/featurizer", module + "/config", false, ok},
		{"command may skip a step", "cmd/featurizer", module + "/scoring", false, ok},
		{"config may import stages", "config", module + "/stages", false, ok},
		{"stages may import pipeline", "stages", module + "/pipeline/kafka", false, ok},
		{"a package may import its own folder", "scoring", module + "/scoring/internal/kernel", false, ok},
		{"arrowio may import scoring", "arrowio/wire", module + "/scoring", false, ok},
		{"arrowio may import training", "arrowio/wire", module + "/training", false, ok},
		{"everyone may import internal", "scoring", module + "/internal/x", false, ok},
		{"scoring may import gonum", "scoring", "gonum.org/v1/gonum/mat", false, ok},
		{"scoring may import the standard library", "scoring", "math/rand/v2", false, ok},
		{"arrowio may import arrow", "arrowio", "github.com/apache/arrow/go/v15/arrow", false, ok},
		{"pipeline may import kafka-go", "pipeline/kafka", "github.com/segmentio/kafka-go", false, ok},
		{"a test may import sideways", "scoring", module + "/training", true, ok},
		{"a test may import any module", "scoring", "pgregory.net/rapid", true, ok},
		{"compare may import datasets", "compare/report", module + "/datasets", false, ok},
		{"datasets may import arrowio", "datasets", module + "/arrowio/encoder", false, ok},

		{"compare and stages do not know each other", "compare", module + "/stages", false, "side by side"},
		{"datasets do not know compare", "datasets", module + "/compare", false, "imports flow from compare to datasets, not back"},
		{"datasets do not know training", "datasets", module + "/training", false, "side by side"},
		{"stages do not know config", "stages", module + "/config", false, "imports flow from config to stages, not back"},
		{"config does not know commands", "config", module + "/cmd/featurizer", false, "imports flow from cmd to config"},
		{"pipeline does not know stages", "pipeline", module + "/stages", false, "imports flow from stages to pipeline"},
		{"a test goes up neither", "scoring", module + "/stages", true, "imports flow from stages to scoring"},
		{"training does not know scoring", "training", module + "/scoring", false, "side by side"},
		{"scoring does not know arrowio", "scoring", module + "/arrowio", false, "side by side"},
		{"pipeline does not know scoring", "pipeline", module + "/scoring", false, "side by side"},
		{"arrowio does not know pipeline", "arrowio/wire", module + "/pipeline", false, "side by side"},
		{"scoring does not know Kafka", "scoring", "github.com/segmentio/kafka-go", false, "standard library"},
		{"a folder below scoring neither", "scoring/internal/kernel", "github.com/segmentio/kafka-go", false, "standard library"},
		{"training does not know Arrow", "training", "github.com/apache/arrow/go/v15/arrow", false, "standard library"},
		{"pipeline does not know Arrow", "pipeline", "github.com/apache/arrow/go/v15/arrow", false, "not to know"},
		{"pipeline knows no mathematics", "pipeline", "gonum.org/v1/gonum/mat", false, "not to know"},
		{"arrowio does not know Kafka", "arrowio", "github.com/segmentio/kafka-go", false, "not to know"},
		{"telemetry may import stages", "telemetry", module + "/stages", false, ok},
		{"telemetry may import Prometheus", "telemetry", "github.com/prometheus/client_golang/prometheus", false, ok},
		{"stages may start spans", "stages", "go.opentelemetry.io/otel/trace", false, ok},
		{"stages send no spans", "stages", "go.opentelemetry.io/otel/sdk/trace", false, "not to know"},
		{"stages do not know Prometheus", "stages", "github.com/prometheus/client_golang/prometheus", false, "not to know"},
		{"stages do not know telemetry", "stages", module + "/telemetry", false, "imports flow from telemetry to stages, not back"},
		{"config and telemetry do not know each other", "telemetry", module + "/config", false, "side by side"},
		{"stages reach Kafka through pipeline", "stages", "github.com/twmb/franz-go/pkg/kfake", false, "not to know"},
		{"a folder below may have its own place", "internal/crash/soak", module + "/config", false, ok},
		{"others below the same folder keep theirs", "internal/x", module + "/config", false, "imports flow from config to internal, not back"},
		{"stages do not know crash", "stages", module + "/internal/crash", false, "imports flow from internal/crash to stages, not back"},
		{"nobody imports commands sideways", "examples/x", module + "/cmd/featurizer", false, "side by side"},
		{"a new folder is placed first", "util", "fmt", false, "no place"},
		{"an import of a new folder too", "cmd/featurizer", module + "/util", false, "no place"},
		{"a like-named module is not this one", "training", module + "x/scoring", false, "standard library"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			graph := &Graph{Module: module, Imports: []Import{{From: tt.from, To: tt.to, File: "f.go", Line: 3, Test: tt.test}}}
			got := strings.Join(Check(graph, ModuleRules()), "\n")
			if tt.want == ok && got != "" {
				t.Errorf("violation %q, want none", got)
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("violation %q, want one with %q", got, tt.want)
			}
		})
	}
}

func TestReadSeesEveryBuildTagAndPassesOverTestdata(t *testing.T) {
	root := t.TempDir()
	write(t, root, "go.mod", "module "+module+"\n\ngo 1.26\n")
	write(t, root, "scoring/a_arm64.go", "//go:build arm64 && noasm\n\npackage scoring\n\nimport _ \"github.com/segmentio/kafka-go\"\n")
	write(t, root, "scoring/a_test.go", "package scoring\n\nimport _ \"testing\"\n")
	write(t, root, "scoring/testdata/b.go", "package b\n\nimport _ \"unread/testdata\"\n")
	write(t, root, "_drafts/c.go", "package c\n\nimport _ \"unread/drafts\"\n")
	write(t, root, "nested/go.mod", "module other\n")
	write(t, root, "nested/d.go", "package d\n\nimport _ \"unread/nested\"\n")

	graph, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []Import{
		{From: "scoring", To: "github.com/segmentio/kafka-go", File: "scoring/a_arm64.go", Line: 5},
		{From: "scoring", To: "testing", File: "scoring/a_test.go", Line: 3, Test: true},
	}
	if len(graph.Imports) != len(want) || graph.Imports[0] != want[0] || graph.Imports[1] != want[1] {
		t.Fatalf("imports %+v, want %+v", graph.Imports, want)
	}
	violations := Check(graph, ModuleRules())
	if len(violations) != 1 || !strings.HasPrefix(violations[0], "scoring/a_arm64.go:5: import of github.com/segmentio/kafka-go") {
		t.Errorf("violations %q", violations)
	}
}

func TestReadNamesTheFileThatDoesNotParse(t *testing.T) {
	root := t.TempDir()
	write(t, root, "go.mod", "module "+module+"\n")
	write(t, root, "scoring/broken.go", "package")
	if _, err := Read(root); err == nil || !strings.Contains(err.Error(), "broken.go") {
		t.Errorf("error %v, want one that names broken.go", err)
	}
}

func TestReadOutsideAModuleIsAnError(t *testing.T) {
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("a folder without go.mod was read")
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTheFeaturizerLeavesTheLaboratoryOut: it does not link the comparison of methods, plots, or the download of data sets.
func TestTheFeaturizerLeavesTheLaboratoryOut(t *testing.T) {
	root, err := Root(".")
	if err != nil {
		t.Fatal(err)
	}
	graph, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	seen, queue := map[string]bool{}, []string{"cmd/featurizer"}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		for _, i := range graph.Imports {
			if i.Test || i.From != from || seen[i.To] {
				continue
			}
			seen[i.To] = true
			for _, out := range []string{graph.Module + "/compare", graph.Module + "/datasets", "gonum.org"} {
				if i.To == out || strings.HasPrefix(i.To, out+"/") {
					t.Errorf("%s:%d: import of %s, which is for cmd/trainer alone", i.File, i.Line, i.To)
				}
			}
			if inside, ok := strings.CutPrefix(i.To, graph.Module+"/"); ok {
				queue = append(queue, inside)
			}
		}
	}
	if !seen[graph.Module+"/scoring"] {
		t.Error("the featurizer was not read")
	}
}
