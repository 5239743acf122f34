package k8s

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Manifest is one rendered object, as text and as a tree.
type Manifest struct {
	Text []byte // YAML
	unstructured.Unstructured
}

// String names the object as kubectl does.
func (m *Manifest) String() string { return m.GetKind() + "/" + m.GetName() }

// Render builds a folder of a file system like `kubectl kustomize`, in the order of application.
func Render(files filesys.FileSystem, folder string) ([]*Manifest, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(files, folder)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", folder, err)
	}
	var rendered []*Manifest
	for _, resource := range resources.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			return nil, fmt.Errorf("render %s: %w", folder, err)
		}
		m := &Manifest{Text: text}
		if err := yaml.Unmarshal(text, &m.Object); err != nil {
			return nil, fmt.Errorf("render %s: %w", folder, err)
		}
		rendered = append(rendered, m)
	}
	return rendered, nil
}

// Files is a file system in memory with a copy of a folder on disk, which can be changed.
type Files struct{ filesys.FileSystem }

// CopyFiles copies a folder on disk, which becomes the root.
func CopyFiles(folder string) (*Files, error) {
	disk, memory := filesys.MakeFsOnDisk(), filesys.MakeFsInMemory()
	err := disk.Walk(folder, func(name string, info fs.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := disk.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, name)
		if err != nil {
			return err
		}
		return memory.WriteFile("/"+filepath.ToSlash(relative), text)
	})
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", folder, err)
	}
	return &Files{memory}, nil
}

// Replace replaces a text in a file. The text must exist.
func (f *Files) Replace(name, old, replacement string) error {
	text, err := f.FileSystem.ReadFile(name)
	if err != nil {
		return fmt.Errorf("replace in %s: %w", name, err)
	}
	changed := strings.Replace(string(text), old, replacement, 1)
	if changed == string(text) {
		return fmt.Errorf("replace in %s: %q not found", name, old)
	}
	return f.WriteFile(name, []byte(changed))
}
