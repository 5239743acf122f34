package docs

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/config"
)

// keyLike matches text that begins like a key of the configuration.
var keyLike = regexp.MustCompile(`^([a-z]+)\.([a-z_]+)(\.[a-z_]+)*`)

// Configuration keys in code spans must exist.
func TestKeysNamedOnPagesExist(t *testing.T) {
	known, sections := map[string]bool{}, map[string]bool{}
	for _, key := range config.Keys() {
		for name := key.Name; name != "."; name = strings.TrimSuffix(path.Dir(strings.ReplaceAll(name, ".", "/")), "/") {
			name = strings.ReplaceAll(name, "/", ".")
			known[name] = true
		}
		section, _, _ := strings.Cut(key.Name, ".")
		sections[section] = true
	}
	found := 0
	for _, p := range readPages(t) {
		for _, span := range p.spans {
			parts := keyLike.FindStringSubmatch(span)
			if parts == nil || !sections[parts[1]] || isFile(parts[0]) || p.path == "docs/reliability.md" ||
				p.path == "CHANGELOG.md" {
				continue // points in code have the same form; the other matches are removed keys
			}
			found++
			if !known[parts[0]] {
				t.Errorf("%s: `%s` names no key of the configuration", p.path, span)
			}
		}
	}
	if found < 50 {
		t.Errorf("%d keys found on all pages", found)
	}
}

func isFile(name string) bool {
	return slices.Contains([]string{".go", ".md", ".sh", ".yaml", ".json", ".arrow", ".csv"}, path.Ext(name))
}

// commandName is the part of a usage line before arguments and flags.
var commandName = regexp.MustCompile(`^[a-z-]+( [a-z-]+)*`)

// commandLine is a call of a program in a code block.
var commandLine = regexp.MustCompile(`^(?:\$ )?(?:go run \./cmd/)?((?:featurizer|trainer) .*)$`)

// Commands and flags in code blocks must be in docs/cli.md, which other tests compare with the
// programs.
func TestCommandsCalledOnPagesExist(t *testing.T) {
	pages := readPages(t)
	help := map[string]string{} // by command
	for _, b := range pages["docs/cli.md"].blocks {
		line, _, _ := strings.Cut(b.text, "\n")
		if name := commandName.FindString(line); strings.Contains(name, " ") {
			help[name] = b.text
		}
	}
	if len(help) < 15 {
		t.Fatalf("docs/cli.md has %d commands", len(help))
	}
	found := 0
	for _, p := range pages {
		for _, b := range p.blocks {
			if p.path == "docs/cli.md" {
				continue
			}
			for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", " ")) {
				if call := commandLine.FindStringSubmatch(strings.TrimSpace(line)); call != nil {
					found++
					if fault := checkCall(help, call[1]); fault != "" {
						t.Errorf("%s: %s: %s", p.path, call[1], fault)
					}
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("%d calls found on all pages", found)
	}
}

// checkCall returns the fault of a call; empty if there is none.
func checkCall(help map[string]string, call string) string {
	words := strings.Fields(call)
	if output := regexp.MustCompile(`^[a-z -]+: `).MatchString(call); output || len(words) < 2 ||
		strings.HasPrefix(words[1], "-") {
		return "" // or a flag of the program itself
	}
	n := len(words)
	for n > 1 && help[strings.Join(words[:n], " ")] == "" {
		n--
	}
	text, rest := help[strings.Join(words[:n], " ")], words[n:]
	if text == "" {
		return "no such command"
	}
	for _, word := range rest {
		if slices.Contains([]string{"#", "|", ">", "&", "&&", ";", "||"}, word) {
			break
		}
		flag, _, _ := strings.Cut(strings.TrimRight(word, ";)"), "=")
		if strings.HasPrefix(flag, "--") && !regexp.MustCompile(regexp.QuoteMeta(flag)+`\b`).MatchString(text) {
			return "no flag " + flag
		}
	}
	return ""
}
