package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// project is the part of GoReleaser's configuration that the recipe uses, after its reference
// (https://goreleaser.com/customization): GoReleaser's own package would bring some hundred modules.
type project struct {
	Version  int            `yaml:"version"`
	Name     string         `yaml:"project_name"`
	Builds   []programBuild `yaml:"builds"`
	Archives []struct {
		Formats    []string `yaml:"formats"`
		Name       string   `yaml:"name_template"`
		BuildsInfo fileInfo `yaml:"builds_info"`
		Files      []struct {
			Source string   `yaml:"src"`
			Info   fileInfo `yaml:"info"`
		} `yaml:"files"`
	} `yaml:"archives"`
	Source struct {
		Enabled bool `yaml:"enabled"`
	} `yaml:"source"`
	SBOMs []struct {
		ID        string   `yaml:"id"`
		Artifacts string   `yaml:"artifacts"`
		Documents []string `yaml:"documents"`
	} `yaml:"sboms"`
	Checksum struct {
		Name string `yaml:"name_template"`
	} `yaml:"checksum"`
	Release struct {
		Draft bool `yaml:"draft"`
	} `yaml:"release"`
	Changelog struct {
		Disable bool `yaml:"disable"`
	} `yaml:"changelog"`
}

// programBuild is how one program is built.
type programBuild struct {
	ID           string   `yaml:"id"`
	Main         string   `yaml:"main"`
	Binary       string   `yaml:"binary"`
	Env          []string `yaml:"env"`
	Flags        []string `yaml:"flags"`
	Ldflags      []string `yaml:"ldflags"`
	Goos         []string `yaml:"goos"`
	Goarch       []string `yaml:"goarch"`
	Goamd64      []string `yaml:"goamd64"`
	Goarm64      []string `yaml:"goarm64"`
	ModTimestamp string   `yaml:"mod_timestamp"`
}

type fileInfo struct {
	MTime string `yaml:"mtime"`
}

// recipe reads the recipe; an unknown key and a wrong type are faults.
func recipe(t *testing.T) project {
	t.Helper()
	file, err := os.Open(filepath.Join(rootPath, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	var read project
	if err := decoder.Decode(&read); err != nil {
		t.Fatal(err)
	}
	return read
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
	if len(project.Archives) != 1 || !project.Source.Enabled || project.Checksum.Name == "" {
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
