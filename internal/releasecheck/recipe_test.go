package releasecheck

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

func recipe(t *testing.T) config.Project {
	t.Helper()
	// It refuses unknown keys and wrong types.
	project, err := config.Load(filepath.Join(rootPath, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// TestRecipeHasLists looks for lists of what is in each thing that is released, and for the files that go with the programs.
func TestRecipeHasLists(t *testing.T) {
	project := recipe(t)
	var listed []string
	for _, sbom := range project.SBOMs {
		listed = append(listed, sbom.Artifacts)
	}
	slices.Sort(listed)
	if !slices.Equal(listed, []string{"archive", "source"}) {
		t.Errorf("there are lists of %v", listed)
	}
	if len(project.Archives) != 1 || !project.Source.Enabled || project.Checksum.NameTemplate == "" {
		t.Errorf("want one kind of archive, the source, and checksums")
	}
	for _, archive := range project.Archives {
		for _, file := range archive.Files {
			readFile(t, file.Source)
		}
	}
}

// values are what the templates of the recipe stand for.
var values = strings.NewReplacer("{{ .Tag }}", stamp["VERSION"], "{{ .FullCommit }}", stamp["COMMIT"], "{{ .CommitDate }}", stamp["DATE"])

// TestRecipeBuildsAsTheScript compares flags and environment with those that scripts/build.sh gives to a go that notes them.
func TestRecipeBuildsAsTheScript(t *testing.T) {
	arguments, environment := noted(t)
	project := recipe(t)
	var mains []string
	for _, build := range project.Builds {
		mains = append(mains, build.Main)
		flags := append(slices.Clone(build.Flags), "-ldflags", values.Replace(strings.Join(build.Ldflags, " ")))
		if want := arguments[1 : 1+len(flags)]; arguments[0] != "build" || !slices.Equal(flags, want) {
			t.Errorf("%s is built with\n%q\nby the script with\n%q", build.ID, flags, want)
		}
		variables := append(slices.Clone(build.Env), "GOAMD64="+strings.Join(build.Goamd64, ","), "GOARM64="+strings.Join(build.Goarm64, ","))
		for _, variable := range variables {
			if !slices.Contains(environment, variable) {
				t.Errorf("%s is built with %s, by the script without", build.ID, variable)
			}
		}
		if len(variables) != 6 {
			t.Errorf("%s is built with %v", build.ID, variables)
		}
		if build.ModTimestamp != "{{ .CommitTimestamp }}" {
			t.Errorf("%s: the time of the file is that of the build", build.ID)
		}
	}
	if want := arguments[len(arguments)-2:]; !slices.Equal(mains, want) {
		t.Errorf("built are %v, by the script %v", mains, want)
	}
}

// noted runs scripts/build.sh with a go that writes down how it was called.
func noted(t *testing.T) (arguments, environment []string) {
	t.Helper()
	folder := t.TempDir()
	fake := "#!/bin/sh\nprintf '%s\\n' \"$@\" >" + folder + "/arguments\nenv >" + folder + "/environment\n"
	if err := os.WriteFile(filepath.Join(folder, "go"), []byte(fake), 0o700); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "bash", filepath.Join(rootPath, "scripts/build.sh"), filepath.Join(folder, "out"))
	command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
	for name, value := range stamp {
		command.Env = append(command.Env, name+"="+value)
	}
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	read := func(name string) []string {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	return read("arguments"), read("environment")
}
