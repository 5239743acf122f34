package failpoint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, point := range All() {
		want := []Trigger{{point, 3, Kill}, {PlanAfter, 1, Stop}}
		got, err := Parse(want[0].String() + "," + want[1].String())
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	if got, err := Parse(""); err != nil || len(got) != 0 || (Trigger{}).String() != "" {
		t.Errorf("no trigger gave %v, %v", got, err)
	}
	for _, bad := range []string{"plan.after", "plan.after@0=kill", "plan.after@1=", "plan.after@x=kill", "no.such@1=kill", "plan.after@1=end"} {
		if got, err := Parse(bad); err == nil {
			t.Errorf("%q gave %v", bad, got)
		}
	}
}

// TestEveryPointIsPassedOnce compares the list with the calls in the stages: a point that nobody passes would look like
// one that every crash survives.
func TestEveryPointIsPassedOnce(t *testing.T) {
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
