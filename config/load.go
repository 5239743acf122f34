package config

import (
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
)

// maxFileBytes is far beyond any configuration; a larger file was given by mistake.
const maxFileBytes = 1 << 20

// Load reads the file at path (empty = none), the environment and the overrides over the defaults,
// each replacing the ones before. Overrides are dotted keys; text values are read like those of
// environment variables. defaults replaces some defaults, for a command that needs other values.
//
// A file that cannot be read is an error of its own. All faults of the contents are one error of
// type [Faults].
func Load(defaults map[string]any, path string, overrides map[string]any) (*Config, error) {
	var data []byte
	if path != "" {
		var err error
		if data, err = readFile(path); err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
	}
	return loadOver(defaults, data, path, os.Environ(), overrides)
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFileBytes)
	}
	return data, err
}

// loadOver is [Load] for bytes and a given environment.
func loadOver(
	defaults map[string]any,
	data []byte,
	name string,
	environ []string,
	overrides map[string]any,
) (*Config, error) {
	s := readSchema()
	commands, commandFaults := overrideLayer(s, defaults, "default of the command")
	file, fileFaults := fileLayer(s, data, name)
	variables, variableFaults := environmentLayer(s, environ)
	flags, flagFaults := overrideLayer(s, overrides, "command line")

	given := map[string]value{}
	for _, layer := range []map[string]value{commands, file, variables, flags} {
		maps.Copy(given, layer)
	}
	check := newChecker(unnamed(), slices.Concat(commandFaults, fileFaults, variableFaults, flagFaults))
	config := reflect.ValueOf(check.config).Elem()
	for i := range s.keys {
		key := &s.keys[i]
		v, ok := given[key.Name]
		if !ok {
			continue
		}
		check.sources[key.Name] = v.Source
		if err := assign(config.FieldByIndex(key.index), key.Unit, v); err != nil {
			check.add(Fault{Key: key.Name, Value: shown(v.String(), key.Secret), Bound: err.Error(), Source: v.Source})
		}
	}
	check.config.nameTopics()
	if _, named := given["exploration.criterion"]; !named {
		check.config.Stages.Exploration.SettleCriterion()
	}
	check.all()
	if len(check.faults) > 0 {
		return nil, check.faults
	}
	return check.config, nil
}

// unnamed returns the configuration of an empty file, without the names of topics, which follow
// from the pipeline's name.
func unnamed() *Config {
	c := Default()
	c.Stages.Topics = c.Stages.Topics.Unnamed()
	return c
}

// nameTopics names the topics that have no name yet.
func (c *Config) nameTopics() {
	valid := func(name string) string {
		if !pipelineName.MatchString(name) { // already a fault; avoid eight more
			return Default().Stages.Pipeline.Name
		}
		return name
	}
	name, setsFrom := valid(c.Stages.Pipeline.Name), c.Stages.Featurize.SetsFrom
	if setsFrom != "" {
		c.Stages.Topics = c.Stages.Topics.Reading(name, valid(setsFrom))
		return
	}
	c.Stages.Topics = c.Stages.Topics.Named(name)
}

// overrideLayer turns the settings of a command into values; source is used in faults.
func overrideLayer(s *schema, overrides map[string]any, source string) (map[string]value, Faults) {
	out := map[string]value{}
	var faults Faults
	for _, name := range slices.Sorted(maps.Keys(overrides)) {
		key := s.byName[name]
		given := reflect.ValueOf(overrides[name])
		switch {
		case key == nil:
			faults = append(faults, s.unknown(name, source))
		case !given.IsValid():
			out[name] = value{Source: source}
		case given.Kind() == reflect.String:
			out[name] = textValue(key, given.String(), source)
		default:
			v, err := renderAny(given)
			if err != nil {
				faults = append(faults, Fault{Key: name, Bound: err.Error(), Source: source})
				continue
			}
			v.Source = source
			out[name] = v
		}
	}
	return out, faults
}

// renderAny returns the value of an override that is not text.
func renderAny(given reflect.Value) (value, error) {
	if typeText(given.Type(), "") == "" {
		return value{}, fmt.Errorf("the value has type %v; want text, a number, a list of text or the key's own type",
			given.Type())
	}
	return render(given), nil
}
