package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// EnvPrefix starts the name of every environment variable that is read.
const EnvPrefix = "EERF_"

const envSeparator = "__" // between section and key; key names have single underscores

// envName returns the variable for a key.
func envName(key string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", envSeparator))
}

// normalEnv makes names equal that differ only in case or in the number of underscores.
func normalEnv(name string) string {
	return strings.ToUpper(strings.ReplaceAll(name, envSeparator, "_"))
}

// environmentLayer reads the variables named after keys. If a variable occurs twice, the last value
// counts.
func environmentLayer(s *schema, environ []string) (map[string]value, Faults) {
	out := map[string]value{}
	var faults Faults
	for _, variable := range environ {
		name, text, _ := strings.Cut(variable, "=")
		rest, ours := strings.CutPrefix(name, EnvPrefix)
		if !ours {
			continue
		}
		dotted := strings.ToLower(strings.ReplaceAll(rest, envSeparator, "."))
		if key := s.byName[dotted]; key != nil {
			out[key.Name] = textValue(key, text, name)
		} else if near := s.byEnv[normalEnv(name)]; near != nil {
			faults = append(faults, Fault{Key: near.Name, Value: shown(text, near.Secret), Source: name,
				Bound: "unknown variable; did you mean " + near.Env + "? (two underscores between section and key)"})
		} else if strings.Contains(rest, envSeparator) {
			faults = append(faults, s.unknown(dotted, name))
		}
	}
	return out, faults
}

// textValue is a value given outside a file. A key that takes a list accepts commas, or a YAML list
// if an entry contains a comma.
func textValue(key *Key, text, source string) value {
	v := value{Kind: valueText, Text: text, Source: source}
	trimmed := strings.TrimSpace(text)
	switch {
	case key.Type == typeOptionalNumber && (trimmed == "" || trimmed == "null"):
		v.Kind = valueNull
	case key.Type != typeList:
	case trimmed == "":
		v.Kind = valueList
	case strings.HasPrefix(trimmed, "["):
		if list, ok := yamlList(trimmed); ok {
			v.Kind, v.List = valueList, list
		}
	default:
		v.Kind = valueList
		for item := range strings.SplitSeq(text, ",") {
			v.List = append(v.List, strings.TrimSpace(item))
		}
	}
	return v
}

// yamlList reads a flow sequence of scalars.
func yamlList(text string) ([]string, bool) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil || len(document.Content) != 1 {
		return nil, false
	}
	sequence := document.Content[0]
	if sequence.Kind != yaml.SequenceNode {
		return nil, false
	}
	var list []string
	for _, item := range sequence.Content {
		if item.Kind != yaml.ScalarNode {
			return nil, false
		}
		list = append(list, item.Value)
	}
	return list, true
}
