package formats

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/eerf-stream/eerf/arrowio"
)

// avroMembers are the members of a schema's objects that a plan needs. Defaults are dropped,
// because the library expands the defaults of nested records, and a small schema can have
// exponentially many. Documentation is dropped too.
var avroMembers = map[string]bool{
	"type":        true,
	"name":        true,
	"namespace":   true,
	"fields":      true,
	"items":       true,
	"values":      true,
	"symbols":     true,
	"size":        true,
	"aliases":     true,
	"logicalType": true,
	"precision":   true,
	"scale":       true,
}

// maxAvroDepth bounds the nesting of the text: a record takes three levels, a union one.
const maxAvroDepth = 8 * MaxDepth

// bareAvro returns the text of a schema reduced to avroMembers. It bounds nesting and names.
func bareAvro(text string, s *effort) (string, error) {
	in := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true))
	var buffer bytes.Buffer
	out := jsontext.NewEncoder(&buffer, jsontext.AllowDuplicateNames(true))
	for {
		token, err := in.ReadToken()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return buffer.String(), nil
		}
		if err != nil {
			return "", badSchema(err)
		}
		if in.StackDepth() > maxAvroDepth {
			return "", arrowio.Wrap(ErrBadSchema, "nested more than %d deep", maxAvroDepth)
		}
		if err := s.take(tokenSteps); err != nil {
			return "", err
		}
		if token.Kind() == '"' {
			name := token.String()
			if len(name) > maxName {
				return "", arrowio.Wrap(ErrBadSchema, "%s has %d bytes, at most %d", arrowio.Quote(name), len(name), maxName)
			}
			// A name precedes an odd number of values of its object.
			if kind, n := in.StackIndex(in.StackDepth()); kind == '{' && n%2 == 1 && !avroMembers[name] {
				if err := in.SkipValue(); err != nil {
					return "", badSchema(err)
				}
				continue
			}
		}
		if err := out.WriteToken(token); err != nil {
			return "", badSchema(err)
		}
	}
}
