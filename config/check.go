package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/internal/printable"
)

// checker collects the faults of a configuration. A key that is already faulty takes part in no
// further rule: one mistake is one fault.
type checker struct {
	config  *Config
	schema  *schema
	faults  Faults
	wrong   map[string]bool
	sources map[string]string // source of each given key; nil if unknown
}

func newChecker(c *Config, faults Faults) *checker {
	k := &checker{config: c, schema: readSchema(), wrong: map[string]bool{}, sources: map[string]string{}}
	for _, fault := range faults {
		k.add(fault)
	}
	return k
}

// add records a fault. All faults pass through here.
func (k *checker) add(fault Fault) {
	fault.Value, fault.Bound = printable.URLs(fault.Value), printable.URLs(fault.Bound)
	k.faults = append(k.faults, fault)
	k.wrong[fault.Key] = true
}

// all applies every rule. Faults of rules follow the existing ones, in the order of the keys.
func (k *checker) all() {
	first := len(k.faults)
	k.bounds()
	k.kafka()
	k.adopt("registry", k.config.Registry.Validate())
	k.pipeline()
	k.topics()
	k.adopt("events", k.config.Stages.Events.Options().Validate())
	k.formats()
	k.exploration()
	k.featurize()
	k.train()
	k.limits()
	k.process()
	k.admin()
	k.traces()
	k.serve()
	k.sizes()

	position := map[string]int{}
	for i := range k.schema.keys {
		position[k.schema.keys[i].Name] = i
	}
	slices.SortStableFunc(k.faults[first:], func(a, b Fault) int { return position[a.Key] - position[b.Key] })
}

// rule adds a fault at key unless ok holds, or key or one of the other keys of the rule is already
// faulty.
func (k *checker) rule(ok bool, key, bound string, others ...string) {
	if ok || k.wrong[key] || slices.ContainsFunc(others, func(other string) bool { return k.wrong[other] }) {
		return
	}
	k.add(k.fault(key, bound))
}

// oneOf is the rule that a text must be one of those given.
func (k *checker) oneOf(text, key string, accepted ...string) {
	k.rule(slices.Contains(accepted, text), key, "want one of "+strings.Join(accepted, ", "))
}

// fault makes a fault of a known key.
func (k *checker) fault(key, bound string) Fault {
	known := k.schema.byName[key]
	if known == nil {
		return Fault{Key: key, Bound: bound}
	}
	text := fieldText(reflect.ValueOf(k.config).Elem().FieldByIndex(known.index), known.Type)
	return Fault{Key: key, Value: shown(text, known.Secret), Bound: bound, Source: k.source(key)}
}

func (k *checker) source(key string) string {
	if source, given := k.sources[key]; given {
		return source
	}
	if len(k.sources) > 0 {
		return "default"
	}
	return ""
}

// keyLike finds the words in a text that may be names of keys.
var keyLike = regexp.MustCompile(`[a-z][a-z0-9_.]*[a-z0-9]`)

// adopt adds the faults that the owner of a section found in it, so that a rule is written once,
// next to the code that needs it. An error is assigned to the first key of the section that its
// text names; it is dropped if a key that it names is already faulty.
func (k *checker) adopt(section string, err error) {
	before := make(map[string]bool, len(k.wrong))
	for key := range k.wrong {
		before[key] = true
	}
	for _, one := range flatten(err) {
		text := one.Error()
		about, skip := "", false
		for _, word := range keyLike.FindAllString(text, -1) {
			key := section + "." + word
			if k.schema.byName[key] == nil {
				continue
			}
			skip = skip || before[key]
			if about == "" {
				about = key
			}
		}
		if skip {
			continue
		}
		if about == "" {
			about = section
		}
		k.add(k.fault(about, strings.TrimPrefix(text, strings.TrimPrefix(about, section+".")+": ")))
	}
}

// flatten lists the errors joined in one.
func flatten(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, flatten(one)...)
	}
	return all
}
