package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Names of files that must go with a module, and the text that shows that a README contains the licence.
var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)
	readmeFile  = regexp.MustCompile(`(?i)^readme(\..*)?$`)
	licenceText = regexp.MustCompile(`(?i)permission is (hereby )?granted|redistribution and use`)
)

// licences returns the licence texts of Go and of every linked module. A module without one is an error, because it must not be
// distributed.
func (r *release) licences(ctx context.Context, linked modules) ([]byte, error) {
	folders, err := r.moduleFolders(ctx, linked)
	if err != nil {
		return nil, err
	}
	goRoot, err := output(ctx, r.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := appendLicences(&text, linked.goVersion, strings.TrimSpace(string(goRoot))); err != nil {
		return nil, err
	}
	for _, module := range linked.sorted() {
		if err := appendLicences(&text, module.Path+" "+module.Version, folders[module.Path]); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// moduleFolders returns the folder of each module in the module cache, by path.
func (r *release) moduleFolders(ctx context.Context, linked modules) (map[string]string, error) {
	args := []string{"list", "-m", "-json"}
	for _, module := range linked.sorted() {
		args = append(args, module.Path)
	}
	out, err := output(ctx, r.root, []string{"GOFLAGS=-mod=readonly"}, "go", args...)
	if err != nil {
		return nil, err
	}
	folders := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var module struct{ Path, Dir string }
		err := decoder.Decode(&module)
		if errors.Is(err, io.EOF) {
			return folders, nil
		}
		if err != nil {
			return nil, err
		}
		folders[module.Path] = module.Dir
	}
}

// appendLicences appends the licence files in a folder, under the given name. If there are none, the licence may be in the
// README.
func appendLicences(to *bytes.Buffer, name, folder string) error {
	texts, err := matching(folder, licenceFile)
	if err == nil && len(texts) == 0 {
		texts, err = matching(folder, readmeFile)
		texts = slices.DeleteFunc(texts, func(f file) bool { return !licenceText.Match(f.text) })
	}
	if err != nil {
		return fmt.Errorf("licence of %s: %w", name, err)
	}
	if len(texts) == 0 {
		return fmt.Errorf("%s has no licence", name)
	}
	for _, f := range texts {
		fmt.Fprintf(to, "==== %s: %s\n\n%s\n\n", name, f.name, bytes.TrimSpace(f.text))
	}
	return nil
}

// matching reads the files in a folder whose names match.
func matching(folder string, name *regexp.Regexp) ([]file, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, entry := range entries {
		if entry.IsDir() || !name.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: entry.Name(), text: text})
	}
	return files, nil
}
