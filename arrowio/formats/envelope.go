package formats

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// SchemaID identifies a schema of a registry: by its number, or by its GUID if that is not zero.
type SchemaID struct {
	Number uint32
	GUID   [16]byte
}

// String returns the number, or the GUID in its usual form.
func (id SchemaID) String() string {
	if id.GUID == ([16]byte{}) {
		return strconv.FormatUint(uint64(id.Number), 10)
	}
	text := hex.EncodeToString(id.GUID[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// Envelope is the information in the headers of a message about its value.
type Envelope struct {
	Arrow   bool // the value is an Arrow stream, whatever the configured format
	Named   bool // a header names the schema, and the value is bare
	Schema  SchemaID
	Indexes []byte // encoded message indexes of Protobuf, after the schema in its header
}

// SchemaHeader is the header in which Confluent's serializers name the schema of a value.
const SchemaHeader = "__value_schema_id"

// Name adds the schema in the value of a [SchemaHeader]: a zero byte and an ID, or a one and a
// GUID. It ignores other values.
func (e *Envelope) Name(header []byte) {
	const guidBytes = 1 + len(SchemaID{}.GUID)
	switch {
	case len(header) >= frameBytes && header[0] == 0:
		e.Schema, e.Indexes = SchemaID{Number: binary.BigEndian.Uint32(header[1:])}, header[frameBytes:]
	case len(header) >= guidBytes && header[0] == 1:
		e.Schema, e.Indexes = SchemaID{GUID: [16]byte(header[1:guidBytes])}, header[guidBytes:]
	default:
		return
	}
	e.Named = true
}
