package config

import (
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/eerf-stream/eerf/stages/train"
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

	index []int // of the field in Config, for reflect.Value.FieldByIndex
}

// Keys returns the description of every key, in the order in which [Config.Print] writes them.
func Keys() []Key { return append([]Key(nil), readSchema().keys...) }

// schema is the contents of the struct tags.
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
	if doc == "" {
		doc = untagged[name]
	}
	if named, ok := defaults.Interface().(interface{ Names() []string }); ok {
		doc += ": " + strings.Join(named.Names(), ", ")
	}
	typeName := typeText(field.Type, unit)
	if typeName == "" {
		panic(fmt.Sprintf("config: key %s has type %v, which no text is read into", name, field.Type))
	}
	if unit == "duration" {
		unit = "" // the type implies it
	}
	return Key{
		Name: name, Type: typeName, Unit: unit, Default: fieldText(defaults, typeName), Doc: doc,
		Env: envName(name), Secret: field.Tag.Get("secret") == "true" || soundsSecret(name), index: index,
	}
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
	typeWindow         = "all, number of rows or duration"
)

// typeText names a field's type for people; empty means a type that is not supported.
func typeText(t reflect.Type, unit string) string {
	switch {
	case readsText(t) && t.Kind() == reflect.Float64:
		return typeNumberOrAuto
	case t == reflect.TypeFor[train.Window]():
		return typeWindow
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

// secretName matches keys that hold secrets although their field does not say so: it is better to hide
// one value too many than to show one. The path of a file with a secret is not a secret.
var secretName = regexp.MustCompile(`(password|passwd|passwrod|secret|token|credential)s?$`)

func soundsSecret(key string) bool { return secretName.MatchString(strings.ToLower(key)) }

// untagged is the reference text of keys whose structs are documented for Go callers and have no doc tag:
// package pipeline/kafka can be used without this one. A test checks that every key has a text.
var untagged = map[string]string{
	"kafka.brokers":                  "bootstrap addresses, host:port each; the others of the cluster are found through them",
	"kafka.client_id":                "name that brokers log and apply quotas to",
	"kafka.tls.enabled":              "encrypt the connections",
	"kafka.tls.ca_file":              "PEM file of the authorities that sign the brokers' certificates; empty = those of the system",
	"kafka.tls.cert_file":            "PEM file of the client's own certificate; empty = none",
	"kafka.tls.key_file":             "PEM file of the client's own key; set together with cert_file",
	"kafka.tls.server_name":          "name that the brokers' certificates must carry; empty = the host dialed",
	"kafka.sasl.mechanism":           "plain, scram-sha-256 or scram-sha-512; empty = no authentication",
	"kafka.sasl.user":                "name to authenticate as",
	"kafka.sasl.password":            "the password; password_file keeps it out of the configuration and the environment",
	"kafka.sasl.password_file":       "file that holds the password; a newline at its end is not part of it",
	"kafka.sasl.allow_plaintext":     "let mechanism plain send the password over a connection that is not encrypted",
	"kafka.dial_timeout":             "time to open a connection, with TLS and authentication",
	"kafka.request_timeout":          "time from a request to its answer; a fetch gets fetch_max_wait on top",
	"kafka.fetch_max_bytes":          "what one fetch asks for, as stored; a larger batch is returned alone",
	"kafka.fetch_max_wait":           "how long a fetch waits at the broker for a first record",
	"kafka.batch_budget_bytes":       "memory of one fetch once decompressed; a batch over it is refused and dead-lettered by its coordinates",
	"kafka.fetch_memory":             "memory of all fetches together, compressed and decoded, until their records are handled; two of the largest must fit: four and a half batch_budget_bytes",
	"kafka.compression":              "compression of what is produced: none, gzip, snappy, lz4 or zstd",
	"kafka.idempotence":              "auto: brokers refuse repeated requests and late writes by an owner that was presumed dead, where their version and the rights allow it; off: they do not, and only readers drop duplicates",
	"kafka.session_timeout":          "time without a heartbeat after which a member's partitions go to others; brokers ask for 6s or more",
	"kafka.heartbeat_interval":       "how often a member reports, and how soon it notices a rebalance; at most a third of session_timeout",
	"kafka.rebalance_timeout":        "how long a rebalance waits for members to finish their work; more than shutdown.drain_timeout",
	"kafka.partition_watch_interval": "how often a member looks for partitions added to its topic",
	"kafka.leave_timeout":            "time for an orderly exit from a consumer group; after it the connections are cut",
}
