package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/internal/outside"
)

// MaxDocumentBytes bounds the JSON of one document. A plan of [MaxPartitions] partitions fits.
const MaxDocumentBytes = 4 << 20

// document is a kind of JSON document: the whole value of a control message, or the metadata of an
// Arrow message.
type document struct {
	key     string // its name: the member "document" of a value, the key of metadata
	version int
	shape   *outside.Shape
}

// documentOf declares a kind of document that values of type T are read from.
func documentOf[T any](key string, version int) *document {
	shape := outside.ShapeOf[T]()
	shape.Fields[memberVersion] = &outside.Shape{Kind: outside.Whole, High: 1 << 20}
	shape.Fields[memberDocument] = &outside.Shape{Kind: outside.Text, Most: outside.MaxWord}
	return &document{key, version, shape}
}

// Members that every control document begins with. Metadata has only the version, because its key
// names it.
const (
	memberDocument = "document"
	memberVersion  = "format_version"
)

// jsonOptions apply to all documents: nil lists become empty lists, and text that is not UTF-8 is
// repaired.
var jsonOptions = json.JoinOptions(
	jsonv1.OmitEmptyWithLegacySemantics(true),
	json.Deterministic(true),
	jsontext.AllowInvalidUTF8(true),
)

// marshal returns the one JSON form of v, a struct: its fields in order, no spaces, floats in the
// shortest form that reads back to the same bits. It is within its bounds, so that a reader accepts
// it.
func (d *document) marshal(head string, v any) ([]byte, error) {
	fields, err := json.Marshal(v, jsonOptions)
	if err != nil {
		return nil, fmt.Errorf("%s as JSON: %w", d.key, err)
	}
	text := append(fmt.Appendf(nil, `{%s"%s":%d,`, head, memberVersion, d.version), fields[1:]...)
	return text, d.check(text)
}

// check bounds the memory that parsing text can allocate.
func (d *document) check(text []byte) error {
	if len(text) > MaxDocumentBytes {
		return fmt.Errorf("%w: %s of %d bytes, at most %d are allowed", ErrMalformed, d.key, len(text), MaxDocumentBytes)
	}
	if err := d.shape.Check(text); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMalformed, d.key, err)
	}
	return nil
}

// unmarshal parses text into v, a pointer. It checks the version before anything else, because this
// build cannot know the fields of another version.
func (d *document) unmarshal(text []byte, v any) error {
	if len(text) > MaxDocumentBytes {
		return fmt.Errorf("%w: %s of %d bytes, at most %d are allowed", ErrMalformed, d.key, len(text), MaxDocumentBytes)
	}
	version := outside.Member(text, memberVersion)
	if _, err := strconv.ParseFloat(string(version), 64); err == nil && string(version) != strconv.Itoa(d.version) {
		return fmt.Errorf(
			"%w %s of %s: this build reads version %d",
			ErrFormatVersion,
			cutText(string(version), 40),
			d.key,
			d.version,
		)
	}
	if err := d.check(text); err != nil {
		return err
	}
	if version == nil {
		return fmt.Errorf("%w: %s has no %s", ErrMalformed, d.key, memberVersion)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrMalformed, d.key, err)
	}
	return nil
}

// encodeMessage returns the stream for one record made of columns, with the document v in the
// schema metadata, followed by the extra metadata entries in the order given.
func (d *document) encodeMessage(v any, extra []entry, columns ...column) ([]byte, error) {
	text, err := d.marshal("", v)
	if err != nil {
		return nil, err
	}
	keys := []string{d.key}
	values := []string{string(text)}
	for _, e := range extra {
		keys = append(keys, e.key)
		values = append(values, e.value)
	}
	meta := arrow.NewMetadata(keys, values)
	rec := newRecord(&meta, columns)
	defer rec.Release()
	return arrowio.EncodeStream(rec.Schema(), rec)
}

// entry is one more schema metadata entry.
type entry struct{ key, value string }

// decodeMessage decodes value into its one record and parses the document in its metadata into v, a
// pointer. The caller releases the record.
func (d *document) decodeMessage(dec *arrowio.Decoder, value []byte, v any) (arrow.Record, error) {
	if IsJSON(value) {
		return nil, fmt.Errorf("%w: a JSON document where an Arrow stream with %s is due", ErrMalformed, d.key)
	}
	recs, err := dec.Decode(value)
	if err != nil {
		return nil, err
	}
	if len(recs) != 1 {
		releaseAll(recs)
		return nil, fmt.Errorf("%w: %d record batches instead of one", ErrMalformed, len(recs))
	}
	text, err := metadataValue(recs[0].Schema(), d.key)
	if err == nil {
		err = d.unmarshal([]byte(text), v)
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

// metadataValue returns the value under key, which must occur once.
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

// IsJSON reports whether a value begins like a control document. No Arrow stream begins like that.
func IsJSON(value []byte) bool { return len(value) > 0 && value[0] == '{' }

// control is a value that is a control document.
type control interface {
	Validate() error
	// describe returns the name of the document in errors, of a nil pointer too.
	describe() string
	// canonical changes times into their one form and cuts texts for people to their bounds.
	canonical()
}

// encodeControl returns the JSON for v. It does not change v.
func encodeControl[T any, P interface {
	*T
	control
}](d *document, v P) ([]byte, error) {
	if v == nil {
		return nil, fmt.Errorf("encode %s: %w", v.describe(), errMissing)
	}
	c := *v
	P(&c).canonical()
	if err := P(&c).Validate(); err != nil {
		return nil, fmt.Errorf("encode %s: %w", v.describe(), err)
	}
	value, err := d.marshal(fmt.Sprintf("%q:%q,", memberDocument, d.key), &c)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", v.describe(), err)
	}
	return value, nil
}

// decodeControl decodes the result of encodeControl. The value is valid.
func decodeControl[T any, P interface {
	*T
	control
}](d *document, value []byte) (P, error) {
	v := P(new(T))
	if err := d.decodeValue(value, v); err != nil {
		return nil, fmt.Errorf("decode %s: %w", v.describe(), err)
	}
	v.canonical()
	if err := v.Validate(); err != nil {
		return nil, fmt.Errorf("decode %s: %w: %w", v.describe(), ErrMalformed, err)
	}
	return v, nil
}

// decodeValue parses a control document, which names itself.
func (d *document) decodeValue(value []byte, v any) error {
	switch {
	case len(value) == 0:
		return fmt.Errorf("%w: empty value where the JSON document %s is due", ErrMalformed, d.key)
	case !IsJSON(value) && arrowio.IsStream(value):
		return fmt.Errorf("%w: an Arrow stream where the JSON document %s is due", ErrFormatVersion, d.key)
	case !IsJSON(value):
		return fmt.Errorf("%w: bytes that are not the JSON document %s", ErrMalformed, d.key)
	}
	name := outside.Member(value, memberDocument)
	if name != nil && !bytes.Equal(name, strconv.AppendQuote(nil, d.key)) {
		return fmt.Errorf("%w: document %.60s where %s is due", ErrMalformed, name, d.key)
	}
	if err := d.unmarshal(value, v); err != nil {
		return err
	}
	if name == nil {
		return fmt.Errorf("%w: a document without a name where %s is due", ErrMalformed, d.key)
	}
	return nil
}

// canonicalTime drops the parts of a time that do not survive JSON: the location and the monotonic
// reading. A time outside the years that documents may hold is unknown.
func canonicalTime(t time.Time) time.Time {
	if t.IsZero() || !outside.ValidTime(t) {
		return time.Time{}
	}
	return t.Round(0).UTC()
}

// errMissing is the error for a nil argument.
var errMissing = errors.New("nothing to encode")
