package release

import (
	"bytes"
	"debug/elf"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// stamp is what the programs should report.
var stamp = map[string]string{"VERSION": "v1.2.3-test.4", "COMMIT": "0123456789abcdef0123456789abcdef01234567", "DATE": "2026-11-21T10:11:12Z"}

const wantVersion = " version v1.2.3-test.4 (commit 0123456789abcdef0123456789abcdef01234567, 2026-11-21T10:11:12Z)\n"

// copyContext copies the files of the repository that .dockerignore leaves, which COPY . . sees.
func copyContext(t *testing.T, to string) {
	t.Helper()
	patterns, err := ignorefile.ReadAll(bytes.NewReader(readFile(t, ".dockerignore")))
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	copied := 0
	err = filepath.WalkDir(rootPath, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(rootPath, name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if relative == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		skip, err := ignored.MatchesOrParentMatches(filepath.ToSlash(relative))
		if err != nil || skip {
			return err
		}
		copied++
		return copyFile(name, filepath.Join(to, relative))
	})
	if err != nil {
		t.Fatal(err)
	}
	if copied < 100 {
		t.Fatalf("the context has %d files", copied)
	}
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// buildStep is the build command of the Dockerfile.
func buildStep(t *testing.T) string {
	t.Helper()
	all, _ := stages(t)
	for _, run := range commands[*instructions.RunCommand](all[0]) {
		if line := strings.Join(run.CmdLine, " "); strings.Contains(line, "scripts/build.sh") {
			return line
		}
	}
	t.Fatal("the Dockerfile does not call scripts/build.sh")
	return ""
}

// build runs the step in a folder and returns the programs. Without a cache everything is recompiled.
func build(t *testing.T, context string, withCache bool) map[string][]byte {
	t.Helper()
	copyContext(t, context)
	out := t.TempDir()
	command := exec.CommandContext(t.Context(), "bash", "-c", strings.Replace(buildStep(t), "scripts/build.sh /out", "scripts/build.sh "+out, 1))
	command.Dir = context
	command.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH="+runtime.GOARCH)
	for name, value := range stamp {
		command.Env = append(command.Env, name+"="+value)
	}
	if !withCache {
		command.Env = append(command.Env, "GOCACHE="+t.TempDir())
	}
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", buildStep(t), err, said)
	}
	built := map[string][]byte{}
	for _, name := range []string{"featurizer", "trainer"} {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		built[name] = text
	}
	return built
}

// TestTwoBuildsAreTheSame builds as the Dockerfile does, in two folders, the second time with an empty cache, and compares the
// bytes.
func TestTwoBuildsAreTheSame(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the image is one of Linux")
	}
	first := build(t, filepath.Join(t.TempDir(), "one"), true)
	second := build(t, filepath.Join(t.TempDir(), "another", "place"), testing.Short())
	for name := range first {
		if !bytes.Equal(first[name], second[name]) {
			t.Errorf("%s: two builds differ", name)
		}
	}
	check(t, first)
}

// check checks what the programs report, and that they need no other files.
func check(t *testing.T, programs map[string][]byte) {
	t.Helper()
	here, err := filepath.Abs(rootPath)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range programs {
		file, err := elf.NewFile(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range file.Progs {
			if part.Type == elf.PT_INTERP || part.Type == elf.PT_DYNAMIC {
				t.Errorf("%s is not static", name)
			}
		}
		if bytes.Contains(text, []byte(here)) || bytes.Contains(text, []byte(os.TempDir()+"/Test")) {
			t.Errorf("%s has paths of this machine in it", name)
		}
		program := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(program, text, 0o700); err != nil {
			t.Fatal(err)
		}
		command := exec.CommandContext(t.Context(), program, "--version")
		command.Env = []string{} // as in the image: not even PATH
		said, err := command.Output()
		if err != nil || string(said) != name+wantVersion {
			t.Errorf("%s --version: %v, %q", name, err, said)
		}
	}
}

// TestStampsAreChecked uses a stamp that would become a linker flag.
func TestStampsAreChecked(t *testing.T) {
	command := exec.CommandContext(t.Context(), "bash", filepath.Join(rootPath, "scripts/build.sh"), "stamp")
	command.Env = append(os.Environ(), "VERSION=v1 -X main.a=b")
	said, err := command.CombinedOutput()
	if err == nil || command.ProcessState.ExitCode() != 2 || !strings.Contains(string(said), "VERSION") {
		t.Errorf("exit %v: %s", err, said)
	}
}
