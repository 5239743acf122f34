package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// Bounds on one metadata document. An element of a JSON list takes two or three bytes there and up to a
// hundred in memory, so both the size and the number of objects are bounded before parsing.
const (
	// MaxDocumentBytes is the size of its JSON.
	MaxDocumentBytes   = 2 << 20
	maxDocumentObjects = 1 << 16
)

// encodeMessage returns the stream for one record made of columns, with doc as JSON under key in
// the schema metadata, followed by the extra metadata entries in the order given.
func encodeMessage(key string, doc any, extra []entry, columns ...column) ([]byte, error) {
	text, err := marshalDocument(key, doc)
	if err != nil {
		return nil, err
	}
	keys, values := []string{key}, []string{string(text)}
	for _, e := range extra {
		keys, values = append(keys, e.key), append(values, e.value)
	}
	meta := arrow.NewMetadata(keys, values)
	rec := newRecord(&meta, columns)
	defer rec.Release()
	return arrowio.EncodeStream(rec.Schema(), rec)
}

// entry is one more schema metadata entry.
type entry struct{ key, value string }

// marshalDocument returns the canonical JSON of doc, a struct: the format version of the key, then its fields in order,
// no spaces, floats in the shortest form that reads back to the same bits.
func marshalDocument(key string, doc any) ([]byte, error) {
	fields, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	text := append(fmt.Appendf(nil, `{"format_version":%d,`, writtenVersion(key, doc)), fields[1:]...)
	if err := checkDocumentSize(text); err != nil {
		return nil, err
	}
	return text, nil
}

// checkDocumentSize bounds what parsing text can allocate.
func checkDocumentSize(text []byte) error {
	if len(text) > MaxDocumentBytes {
		return fmt.Errorf("%w: metadata of %d bytes, at most %d are allowed", ErrMalformed, len(text), MaxDocumentBytes)
	}
	if n := bytes.Count(text, []byte("{")); n > maxDocumentObjects {
		return fmt.Errorf("%w: metadata of %d objects, at most %d are allowed", ErrMalformed, n, maxDocumentObjects)
	}
	return nil
}

// decodeMessage decodes value into its one record and parses the document under key into doc, a pointer.
// The caller releases the record.
func decodeMessage(dec *arrowio.Decoder, value []byte, key string, doc any) (arrow.Record, error) {
	recs, err := dec.Decode(value)
	if err != nil {
		return nil, err
	}
	if len(recs) != 1 {
		releaseAll(recs)
		return nil, fmt.Errorf("%w: %d record batches instead of one", ErrMalformed, len(recs))
	}
	text, err := metadataValue(recs[0].Schema(), key)
	if err == nil {
		err = unmarshalDocument(key, text, doc)
	}
	if err != nil {
		releaseAll(recs)
		return nil, err
	}
	return recs[0], nil
}

// releaseAll releases every record.
func releaseAll(recs []arrow.Record) {
	for _, r := range recs {
		r.Release()
	}
}

// metadataValue returns the value under key, which must be there once.
func metadataValue(schema *arrow.Schema, key string) (string, error) {
	meta := schema.Metadata()
	at := -1
	for i, k := range meta.Keys() {
		if k != key {
			continue
		}
		if at >= 0 {
			return "", fmt.Errorf("%w: duplicate schema metadata %q", ErrMalformed, key)
		}
		at = i
	}
	if at < 0 {
		return "", fmt.Errorf("%w: schema metadata %q is missing", ErrMalformed, key)
	}
	return meta.Values()[at], nil
}

// unmarshalDocument parses text into doc. It first checks the size, then the format version, because
// this build cannot know what the fields of an unknown version mean.
func unmarshalDocument(key, text string, doc any) error {
	raw := []byte(text)
	if err := checkDocumentSize(raw); err != nil {
		return err
	}
	var head struct {
		FormatVersion *json.Number `json:"format_version"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return fmt.Errorf("%w: metadata: %w", ErrMalformed, err)
	}
	if head.FormatVersion == nil {
		return fmt.Errorf("%w: metadata has no format_version", ErrMalformed)
	}
	if v := head.FormatVersion.String(); !reads(key, v) {
		return fmt.Errorf("%w %s: this build reads version %d", ErrFormatVersion, cutText(v, 40), versionOf(key))
	}
	if err := json.Unmarshal(raw, doc); err != nil {
		return fmt.Errorf("%w: metadata: %w", ErrMalformed, err)
	}
	return nil
}

// note is a message that is only metadata.
type note interface {
	Validate() error
	// describe returns what the message is called in errors, its id, and its time.
	describe() (what, id string, at *time.Time)
}

// encodeNote encodes a note. Its one row holds the id, so that SQL engines, which refuse tables without columns, can read
// it too.
func encodeNote[T any, P interface {
	*T
	note
}](key string, v P) ([]byte, error) {
	c := *v
	what, id, at := P(&c).describe()
	if err := v.Validate(); err != nil {
		return nil, fmt.Errorf("encode %s: %w", what, err)
	}
	*at = canonicalTime(*at)
	return encodeMessage(key, &c, nil, textColumn("id", []string{id}))
}

// decodeNote decodes the result of encodeNote. The value is valid.
func decodeNote[T any, P interface {
	*T
	note
}](dec *arrowio.Decoder, value []byte, key string) (P, error) {
	v := P(new(T))
	what, _, _ := v.describe()
	rec, err := decodeMessage(dec, value, key, v)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", what, err)
	}
	defer rec.Release()
	r := &reader{rec: rec}
	ids := r.texts("id")
	_, id, at := v.describe()
	if r.err == nil && (len(ids) != 1 || ids[0] != id) {
		r.fail("id column says %.200q, metadata %q", ids, cutText(id, maxNameBytes))
	}
	if err := cmp.Or(r.err, readTimes(at)); err != nil {
		return nil, fmt.Errorf("decode %s: %w", what, err)
	}
	if err := v.Validate(); err != nil {
		return nil, fmt.Errorf("decode %s: %w: %w", what, ErrMalformed, err)
	}
	return v, nil
}

// canonicalTime drops what does not survive JSON: the location and the monotonic reading.
func canonicalTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Round(0).UTC()
}

// readTimes converts decoded times to canonical form. An offset from UTC can move a time out of the
// years that JSON can represent.
func readTimes(times ...*time.Time) error {
	for _, t := range times {
		*t = canonicalTime(*t)
		if y := t.Year(); y < 0 || y > 9999 {
			return fmt.Errorf("%w: a time in year %d", ErrMalformed, y)
		}
	}
	return nil
}

// errMissing is the error for a nil argument.
var errMissing = errors.New("nothing to encode")
