package release

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const rootPath = "../../../.."

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rootPath, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestProgramsAreStaticAndStamped builds the programs as releases have them. They need no other
// files, contain nothing of the build machine, so that the same commit gives the same bytes
// anywhere, and report their stamp.
func TestProgramsAreStaticAndStamped(t *testing.T) {
	out := t.TempDir()
	command := exec.CommandContext(t.Context(), filepath.Join(rootPath, "scripts/build.sh"), out)
	command.Env = append(os.Environ(), "GOOS=linux", "VERSION=v1.2.3-test.4", "COMMIT=0123456789abcdef",
		"DATE=2026-11-21T10:11:12Z")
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	here, err := filepath.Abs(rootPath)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"featurizer", "trainer"} {
		program := filepath.Join(out, name)
		text, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		file, err := elf.NewFile(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range file.Progs {
			if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
				t.Errorf("%s is not static", name)
			}
		}
		if bytes.Contains(text, []byte(here)) || bytes.Contains(text, []byte(out)) {
			t.Errorf("%s contains paths of this machine", name)
		}
		command := exec.CommandContext(t.Context(), program, "--version")
		command.Env = []string{} // as in the image: not even PATH
		said, err := command.Output()
		if err != nil || string(said) != name+" version v1.2.3-test.4 (commit 0123456789abcdef, 2026-11-21T10:11:12Z)\n" {
			t.Errorf("%s --version: %v, %q", name, err, said)
		}
	}
}

// TestStampsAreChecked uses a stamp that would become a linker flag.
func TestStampsAreChecked(t *testing.T) {
	command := exec.CommandContext(t.Context(), filepath.Join(rootPath, "scripts/build.sh"), "stamp")
	command.Env = append(os.Environ(), "VERSION=v1 -X main.a=b")
	said, err := command.CombinedOutput()
	if err == nil || command.ProcessState.ExitCode() != 2 || !strings.Contains(string(said), "VERSION") {
		t.Errorf("exit %v: %s", err, said)
	}
}

// TestImageRunsAsUserOfManifests compares the user of the image with that of the manifests.
func TestImageRunsAsUserOfManifests(t *testing.T) {
	user := regexp.MustCompile(`(?m)^const user = "([1-9][0-9]*):[1-9][0-9]*"$`).
		FindStringSubmatch(readFile(t, "internal/tools/image/image.go"))
	if user == nil || !strings.Contains(readFile(t, "k8s/base/patches/service.yaml"), "runAsUser: "+user[1]+"\n") {
		t.Errorf("the image runs as %q, the manifests as another user", user)
	}
}

// TestVersionsAgree compares the version in the source with the other places that name it.
func TestVersionsAgree(t *testing.T) {
	found := regexp.MustCompile(`(?m)^const release = "([0-9]+\.[0-9]+\.[0-9]+)"$`).
		FindStringSubmatch(readFile(t, "cmd/internal/cli/release.go"))
	if found == nil {
		t.Fatal("cmd/internal/cli/release.go names no version")
	}
	version := regexp.QuoteMeta(found[1])
	for name, pattern := range map[string]string{
		"CHANGELOG.md":                `(?m)^## \[` + version + `\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$`,
		"python/src/eerf/__init__.py": `(?m)^__version__ = "` + version + `"$`,
		"k8s/chart/Chart.yaml":        `(?m)^version: ` + version + `( |$)[^\n]*\nappVersion: v` + version + `$`,
	} {
		if !regexp.MustCompile(pattern).MatchString(readFile(t, name)) {
			t.Errorf("%s does not have version %s", name, version)
		}
	}
}
