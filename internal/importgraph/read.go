package importgraph

import (
	"bufio"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Import is one import clause.
type Import struct {
	From string // folder of the importing file, relative to the module, with slashes; "." is the module's root
	To   string // import path
	File string // the importing file, relative to the module
	Line int
	Test bool // the importing file is a test
}

// Graph is a module and the imports of all its files.
type Graph struct {
	Module  string
	Imports []Import
}

// Root returns the folder of the go.mod that dir belongs to.
func Root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find module of %q: %w", dir, err)
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("find module of %q: no go.mod in it or above it", dir)
		}
	}
}

// Read parses the import clauses of the module at root. Folders that the go command ignores (testdata,
// names that begin with a dot or an underscore) and nested modules are left out.
func Read(root string) (*Graph, error) {
	module, err := moduleName(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	g := &Graph{Module: module}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != root && passedOver(name, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		return g.addFile(root, name)
	})
	if err != nil {
		return nil, fmt.Errorf("read imports of %s: %w", module, err)
	}
	return g, nil
}

func passedOver(dir, base string) bool {
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func (g *Graph) addFile(root, name string) error {
	relative, err := filepath.Rel(root, name)
	if err != nil {
		return err
	}
	relative = filepath.ToSlash(relative)
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, spec := range file.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return fmt.Errorf("%s: import path %s: %w", relative, spec.Path.Value, err)
		}
		g.Imports = append(g.Imports, Import{
			From: path.Dir(relative), To: to, File: relative,
			Line: files.Position(spec.Pos()).Line, Test: strings.HasSuffix(relative, "_test.go"),
		})
	}
	return nil
}

// moduleName reads the module directive of a go.mod.
func moduleName(goMod string) (string, error) {
	f, err := os.Open(goMod)
	if err != nil {
		return "", fmt.Errorf("read module name: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), "module "); ok {
			return strings.Trim(strings.TrimSpace(name), `"`), nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("read module name: %w", err)
	}
	return "", fmt.Errorf("read module name: %s has no module directive", goMod)
}
