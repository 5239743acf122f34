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

// The formats. Auto detects the format from the first bytes of each message.
const (
	Auto     Format = "auto"
	Arrow    Format = "arrow"
	JSON     Format = "json"
	Avro     Format = "avro"
	Protobuf Format = "protobuf"
)

// format is one format of messages. A new format is a new file and a line of [known];
// configuration, commands, registries and dead letters follow from that line.
type format struct {
	name Format
	// fault is wrapped by errors of malformed messages; its [Reason] is bad_ and the name.
	fault error
	// registered is the type of its schemas in a registry.
	registered string
	// begins reports whether the first bytes of a message identify the format; nil = the first
	// bytes do not tell.
	begins func(value []byte) bool
	// reader returns a reader of messages; nil for Arrow, which [arrowio.Decoder] reads.
	reader func(o *Options, w *wanted) messageReader
	// check returns the fault of an unusable schema; nil = messages need no schema.
	check func(text string) error
}

var known = []format{{name: Arrow, begins: arrowBegins}, jsonFormat, avroFormat, protobufFormat}

// messageReader reads messages into a table.
type messageReader interface {
	read(t *table, m message) error
}

// message is a message without its frame.
type message struct {
	body   []byte
	id     SchemaID
	schema *Schema // from the registry; nil = the message names no schema
	// inHeader means that a header names the schema, with the message indexes of Protobuf.
	inHeader bool
	indexes  []byte
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

// OfRegistry returns the format for a schema type of a registry, or the type itself if the format
// is unknown.
func OfRegistry(registered string) Format {
	for _, f := range known {
		if f.registered == registered && registered != "" {
			return f.name
		}
	}
	return Format(registered)
}

// NeedsSchema reports whether messages can only be read with their schema.
func (f Format) NeedsSchema() bool {
	found := lookup(f)
	return found != nil && found.check != nil
}

// format detects the format of a message; it returns nil for a message whose named schema decides.
// A configured schema leaves nothing to detect: a message begins with any bytes.
func (d *Decoder) format(value []byte, e Envelope) (f *format, named bool) {
	if e.Arrow {
		return lookup(Arrow), false
	}
	_, _, framed := frame(value)
	configured := lookup(d.options.Format)
	switch named := e.Named && d.options.Registry != nil; {
	case configured == nil && named:
		return nil, true
	case configured == nil:
		return d.detect(value, framed)
	case configured.reader == nil || arrowBegins(value) && d.options.Schema == "" && !named:
		return lookup(Arrow), false
	case configured.check == nil: // JSON needs no schema
		return configured, framed && !named
	case named:
		return configured, true
	}
	return configured, framed && d.options.Registry != nil && d.options.Schema == ""
}

func (d *Decoder) detect(value []byte, framed bool) (*format, bool) {
	for i := range known {
		if f := &known[i]; f.begins != nil && f.begins(value) {
			return f, false
		}
	}
	if framed && d.options.Registry != nil {
		return nil, true
	}
	return lookup(Arrow), false
}

// frameBytes is the length of the frame of a message that names its schema in a registry: a zero
// byte and the schema ID.
const frameBytes = 5

// arrowBegins reports whether a message starts like an Arrow stream. Only bare messages of a
// configured schema could start with these bytes by chance.
func arrowBegins(value []byte) bool { return bytes.HasPrefix(value, []byte("\xff\xff\xff\xff")) }

// unwrap returns the message that a header or a frame names the schema of.
func unwrap(value []byte, e Envelope) message {
	if e.Named {
		return message{body: value, id: e.Schema, inHeader: true, indexes: e.Indexes}
	}
	id, body, _ := frame(value)
	return message{body: body, id: SchemaID{Number: id}}
}

// frame returns the schema ID and the body of a message with the frame of Confluent's serializers.
func frame(value []byte) (id uint32, rest []byte, ok bool) {
	if len(value) < frameBytes || value[0] != 0 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(value[1:]), value[frameBytes:], true
}
