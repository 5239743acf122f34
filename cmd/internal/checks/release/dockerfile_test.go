package release

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerui"
	"github.com/opencontainers/go-digest"
)

const rootPath = "../../../.."

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rootPath, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// noRegistry claims that every image exists.
type noRegistry struct{}

func (noRegistry) ResolveImageConfig(_ context.Context, ref string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	return ref, digest.FromString(ref), []byte(`{"architecture":"amd64","os":"linux","config":{"Env":["PATH=/usr/local/go/bin:/usr/bin:/bin"]}}`), nil
}

// lint returns what `docker build --check` would say.
func lint(t *testing.T, dockerfile []byte) []string {
	t.Helper()
	source := llb.NewSourceMap(nil, "Dockerfile", "dockerfile", dockerfile)
	source.Definition = &llb.Definition{} // how its builder would fetch the file, which is already here
	results, err := dockerfile2llb.DockerfileLint(t.Context(), dockerfile, dockerfile2llb.ConvertOpt{
		Config:       dockerui.Config{LinterConfig: &linter.Config{ExperimentalAll: true}},
		SourceMap:    source,
		MetaResolver: noRegistry{},
	})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	if results.Error != nil {
		said = append(said, results.Error.Message)
	}
	for _, warning := range results.Warnings {
		said = append(said, warning.RuleName+": "+warning.Detail)
	}
	return said
}

func TestDockerfileHasNoFaults(t *testing.T) {
	for _, fault := range lint(t, readFile(t, "Dockerfile")) {
		t.Error(fault)
	}
}

// stages parses the Dockerfile.
func stages(t *testing.T) (all []instructions.Stage, arguments []instructions.ArgCommand) {
	t.Helper()
	parsed, err := parser.Parse(strings.NewReader(string(readFile(t, "Dockerfile"))))
	if err != nil {
		t.Fatal(err)
	}
	if all, arguments, err = instructions.Parse(parsed.AST, nil); err != nil {
		t.Fatal(err)
	}
	return all, arguments
}

// commands returns the commands of a type in a stage.
func commands[T instructions.Command](stage instructions.Stage) []T {
	var found []T
	for _, command := range stage.Commands {
		if typed, ok := command.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}

var aboveRoot = regexp.MustCompile(`^([1-9][0-9]*):[1-9][0-9]*$`)

// TestImageIsSmallAndRunsAsSomebody checks the final stage.
func TestImageIsSmallAndRunsAsSomebody(t *testing.T) {
	all, _ := stages(t)
	last := all[len(all)-1]
	if last.BaseName != "scratch" {
		t.Errorf("the image is built on %s", last.BaseName)
	}
	users := commands[*instructions.UserCommand](last)
	if len(users) != 1 || !aboveRoot.MatchString(users[0].User) {
		t.Fatalf("USER %v: want numbers above 0", users)
	}
	user, _, _ := strings.Cut(users[0].User, ":")
	if !strings.Contains(string(readFile(t, "k8s/base/patches/service.yaml")), "runAsUser: "+user+"\n") {
		t.Errorf("the manifests run as another user than %s", user)
	}
	var copied []string
	for _, command := range commands[*instructions.CopyCommand](last) {
		copied = append(copied, command.DestPath)
	}
	if !slices.Contains(copied, "/usr/local/bin/") || !slices.Contains(copied, "/etc/ssl/certs/ca-certificates.crt") {
		t.Errorf("copied are %v, and not the programs and the certificates", copied)
	}
	if entry := commands[*instructions.EntrypointCommand](last); len(entry) != 1 || entry[0].PrependShell {
		t.Errorf("ENTRYPOINT %v: there is no shell", entry)
	}
}

var patch = regexp.MustCompile(`^1\.([0-9]+)\.[0-9]+$`)

// TestGoIsPinned compares the Go version of the image with that in go.mod, because another one would give other bytes.
func TestGoIsPinned(t *testing.T) {
	_, arguments := stages(t)
	var version string
	for _, argument := range arguments {
		for _, pair := range argument.Args {
			if pair.Key == "GO_VERSION" && pair.Value != nil {
				version = *pair.Value
			}
		}
	}
	minor := patch.FindStringSubmatch(version)
	if minor == nil {
		t.Fatalf("GO_VERSION=%q is no single version", version)
	}
	wanted := regexp.MustCompile(`(?m)^go 1\.([0-9]+)`).FindSubmatch(readFile(t, "go.mod"))
	have, _ := strconv.Atoi(minor[1])
	want, err := strconv.Atoi(string(wanted[1]))
	if err != nil || have < want {
		t.Errorf("the image is built with Go %s, go.mod asks for 1.%d", version, want)
	}
}

// TestVersionsAgree compares the version in the source with the other places that name it.
func TestVersionsAgree(t *testing.T) {
	found := regexp.MustCompile(`(?m)^const release = "([0-9]+\.[0-9]+\.[0-9]+)"$`).FindSubmatch(readFile(t, "cmd/internal/cli/release.go"))
	if found == nil {
		t.Fatal("cmd/internal/cli/release.go names no version")
	}
	version := regexp.QuoteMeta(string(found[1]))
	for name, pattern := range map[string]string{
		"CHANGELOG.md":                `(?m)^## \[` + version + `\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$`,
		"python/src/eerf/__init__.py": `(?m)^__version__ = "` + version + `"$`,
	} {
		if !regexp.MustCompile(pattern).Match(readFile(t, name)) {
			t.Errorf("%s does not have version %s", name, version)
		}
	}
}
