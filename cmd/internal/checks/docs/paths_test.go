package docs

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pathLike matches texts that can be a path in the repository, or a pattern of paths.
var pathLike = regexp.MustCompile(`^(\./)?[A-Za-z0-9_*.-]+(/[A-Za-z0-9_*.-]+)*/?$`)

// sourceEndings lists endings of names that can only mean files of the repository. Others, such as
// config.yaml or report.html, may be the reader's own.
var sourceEndings = []string{".go", ".s", ".md", ".sh", ".css", ".js", ".mod"}

// tree lists the contents of the repository.
type tree struct {
	top   map[string]bool // folders at the root
	names map[string]bool // of files, without folders
}

func readTree(t *testing.T) tree {
	t.Helper()
	r := tree{top: map[string]bool{}, names: map[string]bool{}}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin"):
			return filepath.SkipDir
		case !entry.IsDir():
			r.names[entry.Name()] = true
		case filepath.Dir(name) == filepath.Clean(root):
			r.top[entry.Name()] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// missing reports whether a text on a page in a folder names a missing file or folder. A text
// without a slash is a name if it ends like a source file; that file may be anywhere.
func (r tree) missing(folder, text string) (isPath, missing bool) {
	if !pathLike.MatchString(text) {
		return false, false
	}
	name := strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/...")
	first, _, deep := strings.Cut(name, "/")
	source := slices.Contains(sourceEndings, path.Ext(name)) && path.Base(name) != path.Ext(name)
	switch {
	case !deep && source && !strings.Contains(name, "*"):
		return true, !r.names[name]
	case !deep || !r.top[first] && !source:
		return false, false
	}
	for _, from := range []string{"", folder} {
		if found, err := filepath.Glob(filepath.Join(root, from, name)); err == nil && len(found) > 0 {
			return true, false
		}
	}
	return true, true
}

// Files and folders that pages name must exist. CHANGELOG.md names old ones, and some pages files
// of other projects.
func TestPathsNamedOnPagesExist(t *testing.T) {
	repository, found := readTree(t), 0
	for _, p := range readPages(t) {
		if p.path == "CHANGELOG.md" || strings.Contains(p.path, "/vendor/") {
			continue
		}
		words := slices.Clone(p.spans)
		for _, span := range p.spans {
			words = append(words, strings.Fields(span)...)
		}
		for _, b := range p.blocks {
			words = append(words, strings.Fields(b.text)...)
		}
		for word := range strings.FieldsSeq(p.text) {
			word = strings.TrimRight(word, ".,:;)")
			if slices.Contains(sourceEndings, path.Ext(word)) {
				words = append(words, word)
			}
		}
		slices.Sort(words)
		for _, word := range slices.Compact(words) {
			isPath, missing := repository.missing(path.Dir(p.path), word)
			if isPath {
				found++
			}
			if missing {
				t.Errorf("%s: %s does not exist", p.path, word)
			}
		}
	}
	if found < 50 {
		t.Errorf("%d paths found on all pages", found)
	}
}
