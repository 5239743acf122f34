package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// released is the version in the source.
func released(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^const release = "([0-9]+\.[0-9]+\.[0-9]+)"$`).FindSubmatch(readFile(t, "cmd/internal/cli/release.go"))
	if found == nil {
		t.Fatal("cmd/internal/cli/release.go names no version")
	}
	return string(found[1])
}

// TestVersionsAgree compares it with the other places that name the version.
func TestVersionsAgree(t *testing.T) {
	version := regexp.QuoteMeta(released(t))
	for name, pattern := range map[string]string{
		"CHANGELOG.md":                `(?m)^## \[` + version + `\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$`,
		"python/src/eerf/__init__.py": `(?m)^__version__ = "` + version + `"$`,
	} {
		if !regexp.MustCompile(pattern).Match(readFile(t, name)) {
			t.Errorf("%s does not have version %s", name, version)
		}
	}
}

// makeRelease makes a release of one platform and returns its files.
func makeRelease(t *testing.T, target string) map[string][]byte {
	t.Helper()
	to := t.TempDir()
	command := exec.CommandContext(t.Context(), "go", "run", "-C", filepath.Join(rootPath, "internal/tools"), "./release",
		"-to", to, "-platforms", target, "-wheels=false")
	command.Env = os.Environ()
	for name, value := range stamp {
		command.Env = append(command.Env, name+"="+value)
	}
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	entries, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(to, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = text
	}
	return files
}

// TestTwoReleasesAreTheSame makes a release for one platform twice and compares the bytes.
func TestTwoReleasesAreTheSame(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("looks into a program of Linux")
	}
	target := "linux/" + runtime.GOARCH
	first, second := makeRelease(t, target), makeRelease(t, target)
	if len(first) != 4 || len(second) != len(first) {
		t.Fatalf("%d and %d files, want 4", len(first), len(second))
	}
	for name := range first {
		if !bytes.Equal(first[name], second[name]) {
			t.Errorf("%s: two releases differ", name)
		}
	}
	name := "eerf_1.2.3-test.4_linux_" + runtime.GOARCH
	checkArchive(t, name, first[name+".tar.gz"])
	checkContents(t, first[name+".cdx.json"])
	checkSums(t, first)
}

// checkArchive checks what users unpack.
func checkArchive(t *testing.T, name string, text []byte) {
	t.Helper()
	files := unpack(t, text)
	programs := map[string][]byte{}
	for _, program := range []string{"featurizer", "trainer"} {
		programs[program] = files[name+"/"+program]
	}
	check(t, programs)
	for _, beside := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if !bytes.Equal(files[name+"/"+beside], readFile(t, beside)) {
			t.Errorf("%s is not that of the repository", beside)
		}
	}
	licences := string(files[name+"/THIRD-PARTY-LICENSES"])
	for _, of := range []string{"==== go1.", "==== github.com/apache/arrow/go/", "==== github.com/segmentio/kafka-go "} {
		if !strings.Contains(licences, of) {
			t.Errorf("there is no licence %s", of)
		}
	}
	if len(files) != 6 {
		t.Errorf("the archive has %d files", len(files))
	}
}

func unpack(t *testing.T, text []byte) map[string][]byte {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
		if header.ModTime.UTC().Format("2006-01-02T15:04:05Z") != stamp["DATE"] || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s has a time or an owner of this machine", header.Name)
		}
	}
}

// checkContents looks for the programs and for modules of go.mod in the list of contents.
func checkContents(t *testing.T, text []byte) {
	t.Helper()
	var list struct {
		Format     string `json:"bomFormat"`
		Components []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	modules := string(readFile(t, "go.mod"))
	for _, component := range list.Components {
		names = append(names, component.Name)
		if component.Purl != "" && component.Name != "std" && !strings.Contains(modules, component.Name+" "+component.Version) {
			t.Errorf("%s %s is not in go.mod", component.Name, component.Version)
		}
	}
	for _, want := range []string{"featurizer", "trainer", "std", "github.com/segmentio/kafka-go"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not listed", want)
		}
	}
	if list.Format != "CycloneDX" {
		t.Errorf("the list is %q", list.Format)
	}
}

// checkSums checks the files against SHA256SUMS as users would.
func checkSums(t *testing.T, files map[string][]byte) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
	command.Dir = folder
	if said, err := command.CombinedOutput(); err != nil || bytes.Count(said, []byte(": OK\n")) != len(files)-1 {
		t.Errorf("%v\n%s", err, said)
	}
}
