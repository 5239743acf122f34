package config

import (
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Key describes one key of the configuration.
type Key struct {
	Name    string `json:"key"`
	Type    string `json:"type"`
	Unit    string `json:"unit,omitempty"`
	Default string `json:"default"`
	Doc     string `json:"doc"`
	Env     string `json:"env"`
	Secret  bool   `json:"secret,omitempty"`
	Range   string `json:"range,omitempty"` // of a number

	index  []int // of the field in Config, for reflect.Value.FieldByIndex
	bounds *bounds
}

// Keys returns the description of every key, in the order in which [Config.Print] writes them.
func Keys() []Key { return append([]Key(nil), readSchema().keys...) }

// schema holds the contents of the struct tags.
type schema struct {
	keys     []Key
	byName   map[string]*Key
	sections map[string]bool
	byEnv    map[string]*Key // by normalized variable name, see normalEnv
}

var readSchema = sync.OnceValue(func() *schema {
	s := &schema{byName: map[string]*Key{}, sections: map[string]bool{}, byEnv: map[string]*Key{}}
	s.addStruct("", nil, reflect.ValueOf(*Default()))
	for i := range s.keys {
		key := &s.keys[i]
		if s.byName[key.Name] != nil || s.byEnv[normalEnv(key.Env)] != nil {
			panic("config: two fields share the key " + key.Name)
		}
		s.byName[key.Name] = key
		s.byEnv[normalEnv(key.Env)] = key
	}
	return s
})

// addStruct adds the fields of a struct with a prefix ("" or "section.").
func (s *schema) addStruct(prefix string, index []int, defaults reflect.Value) {
	for i := range defaults.NumField() {
		field := defaults.Type().Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("key"), ",")
		at := append(append([]int(nil), index...), i)
		switch {
		case option == "squash":
			s.addStruct(prefix, at, defaults.Field(i))
		case name == "" || name == "-":
		case isSection(field.Type):
			s.sections[prefix+name] = true
			s.addStruct(prefix+name+".", at, defaults.Field(i))
		default:
			s.keys = append(s.keys, newKey(prefix+name, at, field, defaults.Field(i)))
		}
	}
}

func newKey(name string, index []int, field reflect.StructField, defaults reflect.Value) Key {
	unit, doc := field.Tag.Get("unit"), field.Tag.Get("doc")
	if unit == "" && strings.HasSuffix(name, "_bytes") {
		unit = "bytes"
	}
	if named, ok := defaults.Interface().(interface{ Names() []string }); ok {
		doc += ": " + strings.Join(named.Names(), ", ")
	}
	typeName := typeText(field.Type, unit)
	if typeName == "" {
		panic(fmt.Sprintf("config: key %s has type %v, which no text is read into", name, field.Type))
	}
	within := readBounds(name, unit, field)
	if unit == "duration" {
		unit = "" // implied by the type
	}
	key := Key{
		Name: name, Type: typeName, Unit: unit, Default: fieldText(defaults, typeName), Doc: doc,
		Env: envName(name), Secret: field.Tag.Get("secret") == "true" || soundsSecret(name), index: index,
		bounds: within,
	}
	if within != nil {
		key.Range = within.text(typeName)
	}
	return key
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	textReader   = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func readsText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textReader) }

func isSection(t reflect.Type) bool { return t.Kind() == reflect.Struct && !readsText(t) }

// Types that need their own parsing or formatting.
const (
	typeString         = "text"
	typeSize           = "size"
	typeList           = "list of text"
	typeOptionalNumber = "number or null"
	typeNumberOrAuto   = "number or auto"
)

// typeText names a field's type for people; empty means an unsupported type.
func typeText(t reflect.Type, unit string) string {
	switch {
	case readsText(t) && t.Kind() == reflect.Float64:
		return typeNumberOrAuto
	case readsText(t):
		return "name"
	case t == durationType:
		return "duration"
	case unit == "bytes" && isInteger(t.Kind()):
		return typeSize
	case t.Kind() == reflect.String:
		return typeString
	case t.Kind() == reflect.Bool:
		return "true or false"
	case isInteger(t.Kind()):
		return "whole number"
	case t.Kind() == reflect.Float64:
		return "number"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return typeList
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Float64:
		return typeOptionalNumber
	default:
		return ""
	}
}

func isInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }

// secretName matches keys that sound like secrets although their field is not marked: it is better
// to hide one value too many than to show one. The path of a file with a secret is not a secret.
var secretName = regexp.MustCompile(`(password|passwd|secret|token|credential)s?$`)

func soundsSecret(key string) bool { return secretName.MatchString(strings.ToLower(key)) }
