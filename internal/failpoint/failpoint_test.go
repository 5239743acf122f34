package failpoint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A point without a call would look like one where every crash is survived.
func TestEveryPointHasOneCall(t *testing.T) {
	names := constants(t)
	if len(names) != len(All()) {
		t.Errorf("%d constants, All has %d", len(names), len(All()))
	}
	calls := map[string]int{}
	files, err := filepath.Glob("../../stages/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name := range names {
			calls[name] += strings.Count(string(text), "failpoint.Hit(failpoint."+name+")")
		}
	}
	for name := range names {
		if calls[name] != 1 {
			t.Errorf("%s is passed at %d places", name, calls[name])
		}
	}
}

func constants(t *testing.T) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "point.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			names[spec.Names[0].Name] = true
		}
		return true
	})
	return names
}
