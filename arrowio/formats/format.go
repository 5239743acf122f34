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

// All lists the formats.
func All() []Format { return []Format{Auto, Arrow, JSON, Avro, Protobuf} }

// Check returns an error if f is not a format. Empty means [Auto].
func Check(f Format) error {
	if f == "" || slices.Contains(All(), f) {
		return nil
	}
	names := make([]string, len(All()))
	for i, known := range All() {
		names[i] = string(known)
	}
	return fmt.Errorf("format %q is not one of %s", f, strings.Join(names, ", "))
}

// frameBytes is the length of what precedes a message that names its schema in a registry: a zero byte and the
// schema ID.
const frameBytes = 5

// containerMagic starts an Avro object container file.
const containerMagic = "Obj\x01"

// continuation starts an Arrow stream. Rows replayed from dead letters are Arrow streams whatever the format of the
// others. No message in another format starts like that, except one that is only values of a given schema.
const continuation = "\xff\xff\xff\xff"

// frame returns the schema ID of a message framed as Confluent's serializers do, and what follows it.
func frame(value []byte) (id uint32, rest []byte, ok bool) {
	if len(value) < frameBytes || value[0] != 0 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(value[1:]), value[frameBytes:], true
}

// appendFrame starts a framed message.
func appendFrame(dst []byte, id int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 0), uint32(id))
}

// looksLikeJSON reports whether the first byte that is not a space opens an object or an array. No Arrow stream starts
// like that: the spaces would be a length that is not a multiple of eight, or be followed by a zero.
func looksLikeJSON(value []byte) bool {
	rest := bytes.TrimLeft(value, " \t\r\n")
	return len(rest) > 0 && (rest[0] == '{' || rest[0] == '[')
}

// detect detects the format of a message; the format of a framed one depends on its schema.
func detect(value []byte, registry bool) (f Format, framed bool) {
	switch {
	case looksLikeJSON(value):
		return JSON, false
	case bytes.HasPrefix(value, []byte(containerMagic)):
		return Avro, false
	case registry && len(value) >= frameBytes && value[0] == 0:
		return Auto, true
	}
	return Arrow, false
}
