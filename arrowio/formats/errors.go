package formats

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/eerf-stream/eerf/arrowio"
)

// What can be wrong with a message, beside what [arrowio.Reason] names.
var (
	// ErrJSON: the bytes are not JSON, or not rows in JSON.
	ErrJSON = errors.New("not rows of JSON")
	// ErrAvro: the bytes do not follow their Avro schema.
	ErrAvro = errors.New("not Avro of its schema")
	// ErrProtobuf: the bytes do not follow their Protobuf schema.
	ErrProtobuf = errors.New("not Protobuf of its schema")
	// ErrUnknownSchema: the registry has no schema with that ID, or there is no schema to read the
	// message with.
	ErrUnknownSchema = errors.New("unknown schema")
	// ErrBadSchema: the schema itself cannot be used.
	ErrBadSchema = errors.New("unusable schema")
)

var reasons = []struct {
	err  error
	word string
}{
	{ErrJSON, "bad_json"},
	{ErrAvro, "bad_avro"},
	{ErrProtobuf, "bad_protobuf"},
	{ErrUnknownSchema, "unknown_schema"},
	{ErrBadSchema, "bad_schema"},
}

// Reason returns the short stable word for an error of [Decoder.Decode], including those that [arrowio.Reason] names;
// "" for others.
func Reason(err error) string {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.word
		}
	}
	return arrowio.Reason(err)
}

// Reasons returns the words of [Reason], in a fixed order.
func Reasons() []string {
	words := arrowio.Reasons()
	for _, r := range reasons {
		words = append(words, r.word)
	}
	return words
}

func wrap(sentinel error, format string, args ...any) error {
	return fmt.Errorf("%w: %s", sentinel, fmt.Sprintf(format, args...))
}

func tooLarge(format string, args ...any) error { return wrap(arrowio.ErrTooLarge, format, args...) }

// quote renders a name from a message for an error text, at bounded length.
func quote[S ~string | ~[]byte](name S) string {
	const shown = 64
	if len(name) > shown {
		return strconv.Quote(string(name[:shown])) + "..."
	}
	return strconv.Quote(string(name))
}
