package formats

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Format is how the events in a message are written.
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

// Check reports a name that is not a format. Empty stands for [Auto].
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

// frameBytes is what stands before a message that names its schema in a registry: a zero byte and the schema's id.
const frameBytes = 5

// containerMagic begins an Avro object container file.
const containerMagic = "Obj\x01"

// frame returns the schema id of a message framed as Confluent's serializers do, and what follows it.
func frame(value []byte) (id uint32, rest []byte, ok bool) {
	if len(value) < frameBytes || value[0] != 0 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(value[1:]), value[frameBytes:], true
}

// appendFrame begins a framed message.
func appendFrame(dst []byte, id int) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 0), uint32(id))
}

// looksLikeJSON reports whether the first byte that is no space opens an object or an array. No stream of Arrow begins so:
// spaces stand for lengths that are no multiple of eight, or are followed by a zero.
func looksLikeJSON(value []byte) bool {
	rest := bytes.TrimLeft(value, " \t\r\n")
	return len(rest) > 0 && (rest[0] == '{' || rest[0] == '[')
}

// detect tells the format of a message; a framed one is whatever its schema says.
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
