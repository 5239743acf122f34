package formats

import (
	"errors"
	"strings"

	"github.com/eerf-stream/eerf/arrowio"
)

// Faults of a message, in addition to the faults of [arrowio.Reason] and of the formats.
var (
	// ErrUnknownFormat reports that the first bytes match no format.
	ErrUnknownFormat = errors.New("no known format")
	// ErrUnknownSchema reports that the registry has no schema with the ID, or that no schema is
	// configured for the message.
	ErrUnknownSchema = errors.New("unknown schema")
	// ErrBadSchema reports an unusable schema.
	ErrBadSchema = errors.New("unusable schema")
)

// reasons are the words for faults of messages, in a fixed order.
func reasons() (faults []error, words []string) {
	for _, f := range known {
		if f.fault != nil {
			faults, words = append(faults, f.fault), append(words, "bad_"+string(f.name))
		}
	}
	return append(
			faults,
			ErrUnknownFormat,
			ErrUnknownSchema,
			ErrBadSchema,
		), append(
			words,
			"unknown_format",
			"unknown_schema",
			"bad_schema",
		)
}

// Reason returns the short stable word for an error of [Decoder.Decode], including those that
// [arrowio.Reason] names; "" for others.
func Reason(err error) string {
	faults, words := reasons()
	for i, fault := range faults {
		if errors.Is(err, fault) {
			return words[i]
		}
	}
	return arrowio.Reason(err)
}

// Reasons returns the words of [Reason], in a fixed order.
func Reasons() []string {
	_, words := reasons()
	return append(arrowio.Reasons(), words...)
}

func tooLarge(format string, args ...any) error {
	return arrowio.Wrap(arrowio.ErrTooLarge, format, args...)
}

func tooManyColumns(most int) error { return tooLarge("more than %d columns", most) }

// badSchema wraps an error of a schema parser. The text is cut, because it may quote the whole
// schema.
func badSchema(err error) error {
	const shown = 300
	text := err.Error()
	return arrowio.Wrap(ErrBadSchema, "%s", strings.ToValidUTF8(text[:min(len(text), shown)], ""))
}
