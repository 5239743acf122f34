package formats

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/eerf-stream/eerf/arrowio"
)

// marks are the first bytes of other formats that people send by mistake, with their names.
var marks = []struct{ begins, what string }{
	{"\xff\xff\xff\xff", "Arrow"},
	{"ARROW1", "an Arrow file, which is not a stream"},
	{"{", "JSON"}, {"[", "JSON"},
	{`"{`, "JSON within a JSON string"}, {"\xef\xbb\xbf", "text after a byte order mark"},
	{"Obj\x01", "an Avro file, where single records are read"},
	{"PAR1", "a Parquet file"},
	{"\x1f\x8b", "gzip, which brokers do themselves"}, {"\x28\xb5\x2f\xfd", "zstd, which brokers do themselves"},
}

// resembles describes bytes that are not in the expected format.
func resembles(value []byte) string {
	rest := bytes.TrimLeft(value, " \t\r\n")
	for _, m := range marks {
		if bytes.HasPrefix(rest, []byte(m.begins)) {
			return "looks like " + m.what
		}
	}
	shown := value[:min(len(value), 8)]
	switch id, _, framed := frame(value); {
	case len(value) == 0:
		return "is empty"
	case framed:
		return fmt.Sprintf("looks as if it named schema %d of a registry, and none is configured", id)
	case utf8.Valid(shown) && !bytes.ContainsFunc(shown, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' && r != '\r'
	}):
		return "looks like text: it begins with " + arrowio.Quote(shown)
	}
	return "begins with " + arrowio.Quote(shown)
}

// unlike describes the expected format, and the apparent one, of a message that was read as Arrow
// but is not.
func (d *Decoder) unlike(value []byte, err error) error {
	if !errors.Is(err, arrowio.ErrNotArrow) {
		return err
	}
	if d.options.Format == Arrow {
		return &unlikeError{"Arrow is expected, and the message " + resembles(value), arrowio.ErrNotArrow}
	}
	return &unlikeError{"no known format, see events.format: the message " + resembles(value), ErrUnknownFormat}
}

// unlikeError replaces the text of the error that it wraps.
type unlikeError struct {
	text  string
	fault error
}

func (e *unlikeError) Error() string { return e.text }

func (e *unlikeError) Unwrap() error { return e.fault }
