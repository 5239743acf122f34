package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// root is the root of the repository.
const root = "../../../.."

// page is a Markdown file.
type page struct {
	path    string // from the root, with slashes
	links   []string
	anchors map[string]bool
	spans   []string // inline code
	text    string   // without code and link targets
	blocks  []block
}

// block is a code block.
type block struct {
	info string // after the fence; empty for an indented block
	text string
}

// readPages reads every Markdown file of the repository by its path.
func readPages(t *testing.T) map[string]*page {
	t.Helper()
	pages := map[string]*page{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (strings.HasPrefix(name, ".") && name != ".." && path != root || name == "testdata" ||
			name == "bin" || name == "node_modules") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".md" {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		p := parsePage(filepath.ToSlash(relative), source)
		pages[p.path] = p
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 15 {
		t.Fatalf("%d pages found below %s", len(pages), root)
	}
	return pages
}

// parsePage extracts the parts that the tests check.
func parsePage(path string, source []byte) *page {
	p := &page{path: path, anchors: map[string]bool{}}
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if node.Type() == ast.TypeBlock {
			p.text += "\n"
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.Text:
			p.text += string(n.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				p.text += "\n"
			}
		case *ast.Link:
			p.links = append(p.links, string(n.Destination))
		case *ast.Image:
			p.links = append(p.links, string(n.Destination))
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				segment := n.Segments.At(i)
				p.addSources(segment.Value(source))
			}
		case *ast.HTMLBlock:
			p.addSources(n.Lines().Value(source))
		case *ast.Heading:
			p.addAnchor(plain(n, source))
		case *ast.CodeSpan:
			p.spans = append(p.spans, plain(n, source))
		case *ast.FencedCodeBlock:
			b := block{text: string(n.Lines().Value(source))}
			if n.Info != nil {
				b.info = string(n.Info.Value(source))
			}
			p.blocks = append(p.blocks, b)
		case *ast.CodeBlock:
			p.blocks = append(p.blocks, block{text: string(n.Lines().Value(source))})
		}
		return ast.WalkContinue, nil
	})
	return p
}

// pictureSource matches the source of a picture in HTML, which is used because Markdown cannot set
// a width.
var pictureSource = regexp.MustCompile(`<img [^>]*\bsrc="([^"]+)"`)

func (p *page) addSources(html []byte) {
	for _, match := range pictureSource.FindAllSubmatch(html, -1) {
		p.links = append(p.links, string(match[1]))
	}
}

// plain returns the text of a node without markup.
func plain(node ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(source))
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// addAnchor adds the anchor that GitHub makes for a heading: lower case, spaces as hyphens, no
// punctuation, and a number for repeated ones.
func (p *page) addAnchor(heading string) {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, heading)
	for i, base := 1, name; p.anchors[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	p.anchors[name] = true
}

// Every link to a file and every #anchor must exist.
func TestLinksResolve(t *testing.T) {
	pages := readPages(t)
	for _, p := range pages {
		for _, link := range p.links {
			if fault := follow(pages, p, link); fault != "" {
				t.Errorf("%s: %s: %s", p.path, link, fault)
			}
		}
	}
}

// follow returns the fault of a link; empty if there is none or the link leaves the repository.
func follow(pages map[string]*page, from *page, link string) string {
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return ""
	}
	target, anchor, hasAnchor := strings.Cut(link, "#")
	path := from.path
	if target != "" {
		path = filepath.ToSlash(filepath.Join(filepath.Dir(from.path), target))
	}
	if strings.HasPrefix(path, "..") {
		return "leaves the repository"
	}
	if _, err := os.Stat(filepath.Join(root, path)); err != nil {
		return "no such file"
	}
	switch to := pages[path]; {
	case !hasAnchor:
		return ""
	case to == nil:
		return "no page with headings"
	case !to.anchors[anchor]:
		return "no such heading"
	}
	return ""
}

// Every page must be reachable from the README.
func TestEveryPageIsReachable(t *testing.T) {
	pages := readPages(t)
	reached := map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		p := pages[path]
		if p == nil || reached[path] {
			return
		}
		reached[path] = true
		for _, link := range p.links {
			target, _, _ := strings.Cut(link, "#")
			if target != "" && !strings.Contains(link, "://") {
				visit(filepath.ToSlash(filepath.Join(filepath.Dir(path), target)))
			}
		}
	}
	visit("README.md")
	for path := range pages {
		if !reached[path] && !slices.Contains(strings.Split(path, "/"), "internal") {
			t.Errorf("%s is not reachable from README.md", path)
		}
	}
}
