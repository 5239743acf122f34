package formats

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Format is the format of the events in a message.
type Format string

// The formats. Auto goes by the first bytes of each message.
const (
	Auto     Format = "auto"
	Arrow    Format = "arrow"
	JSON     Format = "json"
	Avro     Format = "avro"
	Protobuf Format = "protobuf"
)

// format is one format of messages. A new one is a file of its own and a line of [known]; configuration, commands,
// registries and dead letters take it from there.
type format struct {
	name Format
	// fault is what errors of messages that are not in the format wrap; its [Reason] is bad_ and the name.
	fault error
	// registered is the type of its schemas in a registry.
	registered string
	// begins reports whether the first bytes of a message are of the format; nil = they do not tell.
	begins func(value []byte) bool
	// reader returns what reads its messages; nil for Arrow, which [arrowio.Decoder] reads.
	reader func(o *Options, w *wanted) messageReader
	// check returns why a schema cannot be used; nil = a message needs none.
	check func(text string) error
}

var known = []format{{name: Arrow, begins: arrowBegins}, jsonFormat, avroFormat, protobufFormat}

// messageReader reads messages into a table.
type messageReader interface {
	read(t *table, m message) error
}

// message is a message without what frames it.
type message struct {
	body   []byte
	id     uint32  // of its schema
	schema *Schema // from the registry; nil = it names none
}

func lookup(name Format) *format {
	if i := slices.IndexFunc(known, func(f format) bool { return f.name == name }); i >= 0 {
		return &known[i]
	}
	return nil
}

// All lists the formats.
func All() []Format {
	all := []Format{Auto}
	for _, f := range known {
		all = append(all, f.name)
	}
	return all
}

// Check returns an error if f is not a format. Empty means [Auto].
func Check(f Format) error {
	if f == "" || slices.Contains(All(), f) {
		return nil
	}
	return fmt.Errorf("format %q is not one of %s", f, join(All()))
}

// join lists formats in a text.
func join(all []Format) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(all), "[]")), ", ")
}

// OfRegistry returns the format of schemas of a type in a registry; the type itself if there is no such format.
func OfRegistry(registered string) Format {
	for _, f := range known {
		if f.registered == registered && registered != "" {
			return f.name
		}
	}
	return Format(registered)
}

// NeedsSchema reports whether a message cannot be read without its schema.
func (f Format) NeedsSchema() bool {
	found := lookup(f)
	return found != nil && found.check != nil
}

// frameBytes is the length of what precedes a message that names its schema in a registry: a zero byte and the
// schema ID.
const frameBytes = 5

// arrowBegins starts an Arrow stream. Rows replayed from dead letters are Arrow streams whatever the format of the
// others. No message in another format starts like that, except one that is only values of a given schema.
func arrowBegins(value []byte) bool { return bytes.HasPrefix(value, []byte("\xff\xff\xff\xff")) }

// frame returns the schema ID of a message framed as Confluent's serializers do, and what follows it.
func frame(value []byte) (id uint32, rest []byte, ok bool) {
	if len(value) < frameBytes || value[0] != 0 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(value[1:]), value[frameBytes:], true
}
