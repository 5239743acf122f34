package k8s

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"
)

// definitionFiles are the sources of resource definitions. Go verifies these modules by its checksum database like any other.
// They are not requirements of this module, because none of their code is used.
var definitionFiles = map[string][]string{
	"github.com/kedacore/keda/v2@v2.21.0": {
		"config/crd/bases/keda.sh_scaledobjects.yaml",
		"config/crd/bases/keda.sh_triggerauthentications.yaml",
	},
	"github.com/prometheus-operator/prometheus-operator@v0.85.0": {
		"example/prometheus-operator-crd/monitoring.coreos.com_alertmanagerconfigs.yaml",
		"example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
		"example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
	},
}

// definition is the schema of one version of a third-party kind.
type definition struct{ *spec.Schema }

func loadDefinitions(t *testing.T) map[schema.GroupVersionKind]*definition {
	t.Helper()
	all := map[schema.GroupVersionKind]*definition{}
	for module, names := range definitionFiles {
		folder := download(t, module)
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if err == nil {
				err = addDefinition(all, text)
			}
			if err != nil {
				t.Fatalf("%s %s: %v", module, name, err)
			}
		}
	}
	strimzi, err := filepath.Glob("testdata/strimzi/*.yaml") // no Go module has them
	if err != nil || len(strimzi) == 0 {
		t.Fatalf("%d definitions of Strimzi: %v", len(strimzi), err)
	}
	for _, name := range strimzi {
		text, err := os.ReadFile(name)
		if err == nil {
			err = addDefinition(all, text)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return all
}

// download returns the folder of a module in Go's cache, downloading it if necessary.
func download(t *testing.T, module string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	command.Dir = t.TempDir() // outside any module
	out, err := command.Output()
	var found struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &found); jsonErr != nil || err != nil || found.Dir == "" {
		t.Fatalf("%s: %v %v %s", module, err, jsonErr, found.Error)
	}
	return found.Dir
}

// addDefinition reads a CustomResourceDefinition.
func addDefinition(to map[schema.GroupVersionKind]*definition, text []byte) error {
	var d struct {
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema *spec.Schema `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &d); err != nil {
		return err
	}
	for _, version := range d.Spec.Versions {
		if version.Schema.OpenAPIV3Schema == nil {
			return fmt.Errorf("version %s has no schema", version.Name)
		}
		kind := schema.GroupVersionKind{Group: d.Spec.Group, Version: version.Name, Kind: d.Spec.Names.Kind}
		to[kind] = &definition{version.Schema.OpenAPIV3Schema}
	}
	return nil
}

// faults lists what the API server would refuse: unknown fields, and values that the definition does not allow.
func (d *definition) faults(m *Manifest) []string {
	faults := unknown("", m.Object, d.Schema)
	for _, err := range validate.NewSchemaValidator(d.Schema, nil, "", strfmt.Default).Validate(m.Object).Errors {
		faults = append(faults, err.Error())
	}
	slices.Sort(faults)
	return faults
}

// unknown lists the fields of a tree that a schema lacks.
func unknown(path string, value any, s *spec.Schema) []string {
	var faults []string
	switch value := value.(type) {
	case map[string]any:
		for name, child := range value {
			switch property, ok := s.Properties[name]; {
			case ok:
				faults = append(faults, unknown(path+"."+name, child, &property)...)
			case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
				faults = append(faults, unknown(path+"."+name, child, s.AdditionalProperties.Schema)...)
			case path == ".metadata" || s.Extensions["x-kubernetes-preserve-unknown-fields"] == true:
			default:
				faults = append(faults, "unknown field "+path+"."+name)
			}
		}
	case []any:
		for i, child := range value {
			if s.Items != nil && s.Items.Schema != nil {
				faults = append(faults, unknown(fmt.Sprintf("%s[%d]", path, i), child, s.Items.Schema)...)
			}
		}
	}
	return faults
}
