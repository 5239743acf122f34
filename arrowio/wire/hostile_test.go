package wire

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/internal/hostile"
)

// wantError checks that err is, or wraps, want.
func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

// rewrite decodes a message, lets change edit its metadata and columns, and encodes it again.
func rewrite(
	value []byte,
	change func(meta map[string]string, fields []arrow.Field, columns []arrow.Array) ([]arrow.Field, []arrow.Array),
) []byte {
	recs := must(newDecoder().Decode(value))
	schema := recs[0].Schema()
	meta := schema.Metadata().ToMap()
	fields, columns := change(
		meta,
		append([]arrow.Field(nil), schema.Fields()...),
		append([]arrow.Array(nil), recs[0].Columns()...),
	)
	md := arrow.MetadataFrom(meta)
	rec := array.NewRecord(arrow.NewSchema(fields, &md), columns, int64(columns[0].Len()))
	return must(arrowio.EncodeStream(rec.Schema(), rec))
}

// replaceColumn replaces a column by another, or drops it.
func replaceColumn(value []byte, name string, with *column) []byte {
	return rewrite(value, func(_ map[string]string, f []arrow.Field, c []arrow.Array) ([]arrow.Field, []arrow.Array) {
		for i := range f {
			if f[i].Name != name {
				continue
			}
			if with == nil {
				return append(f[:i], f[i+1:]...), append(c[:i], c[i+1:]...)
			}
			f[i], c[i] = arrow.Field{Name: with.name, Type: with.arr.DataType()}, with.arr
			return f, c
		}
		panic("no column " + name)
	})
}

// errUnstable marks a value that decodes but does not survive being encoded again.
var errUnstable = errors.New("encoding is not stable")

// message is one of the messages with a document: the name of the document, an example, and its
// decoder.
type message struct {
	key    string
	value  []byte
	decode func(*arrowio.Decoder, []byte) error
	// stable decodes and checks that accepted values are encoded to bytes that decode and encode to
	// themselves.
	stable func(*arrowio.Decoder, []byte) error
}

// arrowMessage returns the Arrow message with this example.
func arrowMessage[T any](
	key string,
	value []byte,
	decode func(*arrowio.Decoder, []byte) (T, error),
	encode func(T) ([]byte, error),
) message {
	plain := func(dec *arrowio.Decoder, value []byte) error {
		_, err := decode(dec, value)
		return err
	}
	return message{key, value, plain, func(dec *arrowio.Decoder, value []byte) error {
		v, err := decode(dec, value)
		if err != nil {
			return err
		}
		first, err := encode(v)
		if err != nil {
			return fmt.Errorf("%w: a decoded value does not encode: %w", errUnstable, err)
		}
		if v, err = decode(dec, first); err != nil {
			return fmt.Errorf("%w: an encoded value does not decode: %w", errUnstable, err)
		}
		second, err := encode(v)
		if err != nil || !bytes.Equal(first, second) {
			return fmt.Errorf("%w: encoded twice, two results (%w)", errUnstable, err)
		}
		return nil
	}}
}

// controlMessage returns the control document with this example.
func controlMessage[T any](
	key string,
	value []byte,
	decode func([]byte) (T, error),
	encode func(T) ([]byte, error),
) message {
	return arrowMessage(key, value, func(_ *arrowio.Decoder, value []byte) (T, error) { return decode(value) }, encode)
}

// text is the document under a key in the example.
func (m message) text(key string) string {
	if IsJSON(m.value) {
		return string(m.value)
	}
	recs := must(newDecoder().Decode(m.value))
	defer releaseAll(recs)
	return must(metadataValue(recs[0].Schema(), key))
}

// edit replaces a text in the document under a key, which must contain it, by another.
func (m message) edit(key, was, is string) []byte {
	text := m.text(key)
	if !strings.Contains(text, was) {
		panic(fmt.Sprintf("%s has no %s: %s", key, was, text))
	}
	return m.with(key, strings.Replace(text, was, is, 1))
}

// with is the example with another document under a key.
func (m message) with(key, text string) []byte {
	if IsJSON(m.value) {
		return []byte(text)
	}
	return rewrite(m.value, func(meta map[string]string, f []arrow.Field, c []arrow.Array) ([]arrow.Field, []arrow.Array) {
		meta[key] = text
		return f, c
	})
}

// version is the version in the example.
func (m message) version() string {
	return regexp.MustCompile(`"format_version":[0-9]+`).FindString(m.text(m.key))
}

// decoders are the decoders of all messages with a document.
var decoders = map[string]message{
	"spec":     controlMessage(KeySpec, must(EncodeSpec(exampleSpec())), DecodeSpec, EncodeSpec),
	"refusal":  controlMessage(KeyRefusal, must(EncodeRefusal(exampleRefusal())), DecodeRefusal, EncodeRefusal),
	"progress": controlMessage(KeyProgress, must(EncodeProgress(learnedProgress())), DecodeProgress, EncodeProgress),
	"block":    controlMessage(KeyBlock, must(EncodeBlock(exampleBlock())), DecodeBlock, EncodeBlock),
	"request":  controlMessage(KeyRequest, must(EncodeRequest(exampleRequest())), DecodeRequest, EncodeRequest),
	"current":  controlMessage(KeyCurrent, must(EncodeCurrent(exampleCurrent())), DecodeCurrent, EncodeCurrent),

	"samples": arrowMessage(KeySamples, samplesValue(exampleSamples(true)), decodeSamples, encodeSamplesValue),
	"outputs": arrowMessage(KeySamples, samplesValue(exampleSamples(false)), decodeSamples, encodeSamplesValue),
	"checkpoint": arrowMessage(
		KeyCheckpoint,
		must(EncodeCheckpoint(exampleCheckpoint())),
		DecodeCheckpoint,
		EncodeCheckpoint,
	),
	"learned set": arrowMessage(
		KeyFeatureSet,
		must(EncodeFeatureSet(learnedFeatureSet())),
		DecodeFeatureSet,
		EncodeFeatureSet,
	),
	"mixed set": arrowMessage(
		KeyFeatureSet,
		must(EncodeFeatureSet(mixedFeatureSet())),
		DecodeFeatureSet,
		EncodeFeatureSet,
	),
	"feature set": arrowMessage(
		KeyFeatureSet,
		must(EncodeFeatureSet(exampleFeatureSet())),
		DecodeFeatureSet,
		EncodeFeatureSet,
	),
	"model":      arrowMessage(KeyModel, must(EncodeModel(exampleModel())), DecodeModel, EncodeModel),
	"challenger": arrowMessage(KeyModel, must(EncodeModel(exampleChallenger())), DecodeModel, EncodeModel),
}

func encodeSamplesValue(s *Samples) ([]byte, error) {
	value, _, err := EncodeSamples(s)
	return value, err
}

func TestDecodersRefuseOtherDocuments(t *testing.T) {
	for name, m := range decoders {
		t.Run(name, func(t *testing.T) {
			dec := newDecoder()
			version := m.version()
			refuses := func(want error, was, is string) {
				t.Helper()
				err := m.decode(
					dec,
					m.edit(m.key, strings.ReplaceAll(was, "VERSION", version), strings.ReplaceAll(is, "VERSION", version)),
				)
				wantError(t, err, want)
			}
			refuses(ErrFormatVersion, "VERSION", `"format_version":77`)
			refuses(ErrFormatVersion, "VERSION", `"format_version":1.5`)
			refuses(ErrMalformed, "VERSION,", ``)
			refuses(ErrMalformed, "VERSION", `"format_version":"one"`)
			refuses(ErrMalformed, "VERSION", "VERSION,VERSION")
			refuses(ErrMalformed, "VERSION", `VERSION,"x":{"y":1,"y":2}`)
			refuses(ErrMalformed, `{`, `[`)
			refuses(ErrMalformed, "VERSION", `VERSION,"x":`+strings.Repeat("[", 20)+strings.Repeat("]", 20))
			refuses(ErrMalformed, "VERSION", `VERSION,"x":[`+strings.Repeat("null,", 2000)+`null]`)
			refuses(ErrMalformed, "VERSION", `VERSION,"x":"`+strings.Repeat("a", MaxDocumentBytes)+`"`)
			if err := m.decode(dec, nil); err == nil {
				t.Error("no error for an empty value")
			}
			if err := m.decode(dec, m.value[:len(m.value)/2]); arrowio.Reason(err) == "" && !errors.Is(err, ErrMalformed) {
				t.Errorf("error %v for a truncated value has no reason", err)
			}
			if err := m.decode(dec, m.edit(m.key, version, version+`,"added_later":[1,{}]`)); err != nil {
				t.Errorf("a field that it does not know: %v", err)
			}
			for other, o := range decoders {
				if o.key != m.key && m.decode(dec, o.value) == nil {
					t.Errorf("a %s is accepted", other)
				}
			}
			if err := m.decode(dec, m.value); err != nil {
				t.Errorf("the same decoder then refuses the message itself: %v", err)
			}
		})
	}
}

func TestArrowMessagesHaveOneBatchAndOneDocument(t *testing.T) {
	for name, m := range decoders {
		if IsJSON(m.value) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dec := newDecoder()
			wantError(t, m.decode(dec, rewriteKey(m.value, m.key, "other")), ErrMalformed)
			recs := must(newDecoder().Decode(m.value))
			defer releaseAll(recs)
			wantError(t, m.decode(dec, must(arrowio.EncodeStream(recs[0].Schema()))), ErrMalformed)
			wantError(t, m.decode(dec, must(arrowio.EncodeStream(recs[0].Schema(), recs[0], recs[0]))), ErrMalformed)
		})
	}
}

// Refusing a document costs little memory, whatever its lists hold. A list of nulls used to take a
// hundred times its text.
func TestListsAreBoundedBeforeTheyAreRead(t *testing.T) {
	if hostile.RaceDetector {
		t.Skip("the race detector allocates too")
	}
	const size = 2 << 20
	for _, c := range []struct{ message, key, list string }{
		{"block", KeyBlock, `"models":[`}, {"spec", KeySpec, `"partitions":[`}, {"spec", KeySpec, `"notes":[`},
		{"progress", KeyProgress, `"points":[`}, {"feature set", KeyFeatureSet, `"partitions":[`},
		{"feature set", KeyEncoder, `"columns":[`}, {"model", KeyModel, `"ranges":[`}, {"model", KeyModel, `"lambda_path":[`},
	} {
		for _, element := range []string{"null,", "{},", "[],", "0,"} {
			m := decoders[c.message]
			value := m.edit(c.key, c.list, c.list+strings.Repeat(element, size/len(element)))
			dec := newDecoder()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := m.decode(dec, value)
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; err == nil || allocated > 8*size {
				t.Errorf("%s, %s of %q: %d bytes allocated, %v", c.message, c.list, element, allocated, err)
			}
		}
	}
}

// A process that expects one format refuses the other by name.
func TestDecodersRefuseTheOtherFormatByName(t *testing.T) {
	stream := must(EncodeModel(exampleModel()))
	pointer := must(EncodeCurrent(exampleCurrent()))
	for name, m := range decoders {
		other, want := pointer, "a JSON document where an Arrow stream with "+m.key+" is due"
		if IsJSON(m.value) {
			other, want = stream, "an Arrow stream where the JSON document "+m.key+" is due"
		}
		if err := m.decode(newDecoder(), other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	wantError(t, decoders["spec"].decode(nil, pointer), ErrMalformed)
	wantError(t, decoders["spec"].decode(nil, stream), ErrFormatVersion)
	wantError(t, decoders["spec"].decode(nil, []byte("hello")), ErrMalformed)
	if found, err := DecodeScores(newDecoder(), must(EncodeRefusal(exampleRefusal()))); err != nil ||
		found.Refusal == nil {
		t.Errorf("a refusal among scores: %+v, %v", found, err)
	}
	if found, err := DecodeScores(newDecoder(), must(EncodeCheckpoint(exampleCheckpoint()))); err != nil ||
		found.Checkpoint == nil {
		t.Errorf("a checkpoint among scores: %+v, %v", found, err)
	}
}

// rewriteKey moves a metadata entry to another key.
func rewriteKey(value []byte, from, to string) []byte {
	return rewrite(value, func(meta map[string]string, f []arrow.Field, c []arrow.Array) ([]arrow.Field, []arrow.Array) {
		meta[to] = meta[from]
		delete(meta, from)
		return f, c
	})
}

func TestDecodersCheckColumns(t *testing.T) {
	cases := []struct{ message, column string }{
		{"samples", "ordinal"}, {"samples", "x"}, {"samples", "class"}, {"outputs", "y"},
		{"checkpoint", "phi"}, {"checkpoint", "phi_sq"}, {"checkpoint", "y_phi"},
		{"feature set", "index"}, {"feature set", "omega"}, {"feature set", "phase"},
		{"feature set", "weight"}, {"feature set", "score"}, {"feature set", "s"},
		{"mixed set", "kind"}, {"mixed set", "omega"}, {"mixed set", "phase"},
		{"mixed set", "coordinate"}, {"mixed set", "sign"}, {"mixed set", "threshold"},
		{"model", "feature"}, {"model", "theta"},
	}
	for _, c := range cases {
		t.Run(c.message+" "+c.column, func(t *testing.T) {
			d, dec := decoders[c.message], newDecoder()
			value := d.value
			recs := must(newDecoder().Decode(value))
			rows := int(recs[0].NumRows())
			releaseAll(recs)
			extra := numbers("extra", ordinals(rows))
			value = rewrite(
				value,
				func(_ map[string]string, f []arrow.Field, cols []arrow.Array) ([]arrow.Field, []arrow.Array) {
					return append(f, arrow.Field{Name: extra.name, Type: extra.arr.DataType()}), append(cols, extra.arr)
				},
			)
			if err := d.decode(dec, value); err != nil {
				t.Fatalf("an extra column is refused: %v", err)
			}
			wantError(t, d.decode(dec, replaceColumn(value, c.column, nil)), ErrMalformed)
			float16 := column{name: c.column, arr: array.MakeArrayOfNull(defaultAllocator, arrow.FixedWidthTypes.Float16, rows)}
			wantError(t, d.decode(dec, replaceColumn(value, c.column, &float16)), ErrMalformed)
			twice := column{name: c.column, arr: extra.arr}
			wantError(t, d.decode(dec, replaceColumn(value, "extra", &twice)), ErrMalformed)
			wantError(t, d.decode(dec, withNull(value, c.column)), ErrMalformed)
		})
	}
}

// withNull makes the first value of a column null.
func withNull(value []byte, name string) []byte {
	return rewrite(value, func(_ map[string]string, f []arrow.Field, c []arrow.Array) ([]arrow.Field, []arrow.Array) {
		for i := range f {
			if f[i].Name != name {
				continue
			}
			old := c[i].Data()
			buffers := append(old.Buffers()[:0:0], old.Buffers()...)
			buffers[0] = nullBitmap(old.Len())
			c[i] = array.MakeFromData(array.NewData(old.DataType(), old.Len(), buffers, old.Children(), 1, 0))
			f[i].Nullable = true
		}
		return f, c
	})
}

func TestDecodersValidateDocuments(t *testing.T) {
	cases := []struct {
		message, key, was, is string
		want                  error
	}{
		{
			"spec",
			KeySpec,
			`"planned_at":"2026-11-03T12:30:00.00000025Z"`,
			`"planned_at":"1969-12-31T23:59:59Z"`,
			ErrMalformed,
		},
		{
			"checkpoint",
			KeyCheckpoint,
			`"written_at":"2026-11-03T12:30:00.00000025Z"`,
			`"written_at":"yesterday"`,
			ErrMalformed,
		},
		{"spec", KeySpec, `"status":"running"`, `"status":"walking"`, ErrMalformed},
		{"spec", KeySpec, `"sample_rate":0.1`, `"sample_rate":-1`, ErrMalformed},
		{"spec", KeySpec, `"sigma":2.5`, `"sigma":0`, ErrMalformed},
		{"spec", KeySpec, `"dim":7,"count":16`, `"dim":8,"count":16`, ErrMalformed},
		{"spec", KeySpec, `"features":4`, `"features":17`, ErrMalformed},
		{"spec", KeySpec, `"criterion":"correlation"`, `"criterion":"luck"`, ErrMalformed},
		{"spec", KeySpec, `"clip":5`, `"clip":-5`, ErrMalformed},
		{"spec", KeySpec, `"pipeline":"income"`, `"pipeline":"a/b"`, ErrMalformed},
		{"request", KeyRequest, `"action":"start"`, `"action":"sing"`, ErrMalformed},
		{"request", KeyRequest, `"from":"next"`, `"from":"now"`, ErrMalformed},
		{"spec", KeySpec, `"end_offset":80`, `"end_offset":9223372036854775807`, ErrMalformed},
		{"spec", KeySpec, `"end_offset":80`, `"end_offset":4`, ErrMalformed},
		{"spec", KeySpec, `"seed":"18446744073709551615"`, `"seed":18446744073709551615`, ErrMalformed},
		{"spec", KeySpec, `"seed":"18446744073709551615"`, `"seed":"18446744073709551616"`, ErrMalformed},
		{"spec", KeySpec, `"partition":2,"start`, `"partition":0,"start`, ErrMalformed},
		{"spec", KeySpec, `"partitions":[{`, `"partitions":[null,{`, ErrMalformed},
		{"spec", KeySpec, `"partitions":[{`, `"partitions":[{},{`, ErrMalformed},
		{"spec", KeySpec, `"sequence":7`, `"sequence":9223372036854775807`, ErrMalformed},
		{"spec", KeySpec, `"handled_offset":12`, `"handled_offset":9223372036854775807`, ErrMalformed},
		{"spec", KeySpec, `"encoder":{`, `"encoder":null,"was":{`, ErrMalformed},
		{"spec", KeySpec, `"reported_to":40`, `"reported_to":4`, ErrMalformed},
		{"spec", KeySpec, `"notes":[{`, `"notes":[{"partition":0},{`, ErrMalformed},
		{"request", KeyRequest, `"id":"rq-1"`, `"id":"rq-1","ID":"rq-2"`, nil},
		{"request", KeyRequest, `"id":"rq-1"`, `"id":"rq-1","id":"rq-1"`, ErrMalformed},
		{"request", KeyRequest, `"id":"rq-1"`, `"ID":"rq-1"`, ErrMalformed},
		{"request", KeyRequest, `"id":"rq-1"`, `"id":"rq-1/2"`, ErrMalformed},
		{"current", KeyCurrent, `"sequence":7`, `"sequence":-7`, ErrMalformed},
		{"checkpoint", KeyCheckpoint, `"next_offset":77`, `"next_offset":-77`, ErrMalformed},
		{"checkpoint", KeyCheckpoint, `"next_offset":77`, `"next_offset":1e99`, ErrMalformed},
		{"checkpoint", KeyCheckpoint, `"scored":90`, `"scored":91`, ErrMalformed},
		{"checkpoint", KeyCheckpoint, `"rows":1000`, `"rows":999`, ErrMalformed},
		{"checkpoint", KeyCheckpoint, `"closed":true`, `"closed":false`, ErrMalformed},
		{"checkpoint", KeyCheckpoint, `"close_reason":"quota"`, `"close_reason":"tired"`, ErrMalformed},
		{"checkpoint", KeyCheckpoint, `"y_min":`, `"y_min":null,"was":`, ErrMalformed},
		{"checkpoint", KeyCheckpoint, `"outputs":[`, `"outputs":[{},`, ErrMalformed},
		{"feature set", KeyFeatureSet, `"features":4`, `"features":5`, ErrMalformed},
		{"feature set", KeyFeatureSet, `"width":7`, `"width":6`, ErrMalformed},
		{"feature set", KeyFeatureSet, `"scale":0.5`, `"scale":0.25`, ErrHashMismatch},
		{"feature set", KeyFeatureSet, `"scale":0.5`, `"scale":-1`, ErrMalformed},
		{"feature set", KeyFeatureSet, `"id":"fs-`, `"id":"fs-0`, ErrHashMismatch},
		{"feature set", KeyFeatureSet, `"count":16`, `"count":15`, ErrMalformed},
		{"feature set", KeyFeatureSet, `"gain":[1,`, `"gain":[`, ErrMalformed},
		{"feature set", KeyEncoder, `"clip":5`, `"clip":4`, ErrHashMismatch},
		{"feature set", KeyFeatureSet, `"outputs":3`, `"outputs":3,"kinds":{"cosine":4}`, ErrMalformed},
		{"mixed set", KeyFeatureSet, `"cosine":2`, `"cosine":1`, ErrMalformed},
		{"mixed set", KeyFeatureSet, `"cosine":2,"ramp":1`, `"cosine":1,"ramp":2`, ErrMalformed},
		{"mixed set", KeyFeatureSet, `"cosine":2,"ramp":1`, `"cosine":4,"ramp":-1`, ErrMalformed},
		{"mixed set", KeyFeatureSet, `"box":2`, `"box":9007199254740993`, ErrMalformed},
		{"mixed set", KeyFeatureSet, `"map":"cosine"`, `"map":"arccos1"`, ErrMalformed},
		{"mixed set", KeyFeatureSet, `"kinds":{`, `"was":{`, ErrMalformed},
		{"feature set", KeyEncoder, `"clip":5`, `"clip":5.0`, ErrHashMismatch},
		{"feature set", KeyEncoder, `"dim":7`, `"dim":8`, ErrMalformed},
		{"feature set", KeyEncoder, `{`, ``, ErrMalformed},
		{"model", KeyModel, `"features":4`, `"features":3`, ErrMalformed},
		{"model", KeyModel, `"id":"m-`, `"id":"m-0`, ErrHashMismatch},
		{"model", KeyModel, `"intercept":[0.1`, `"intercept":[0.2`, ErrHashMismatch},
		{"model", KeyModel, `"intercept":[0.1,`, `"intercept":[`, ErrMalformed},
		{"model", KeyModel, `"feature_set":"fs-`, `"feature_set":"fs-0`, ErrHashMismatch},
		{"model", KeyModel, `"lambda":`, `"lambda":-1,"was":`, ErrMalformed},
		{"model", KeyModel, `"loss":"squared"`, `"loss":""`, ErrMalformed},
		{"model", KeyModel, `"next_offset":99`, `"next_offset":4`, ErrMalformed},
		{"model", KeyModel, `"held_out_fraction":0.1`, `"held_out_fraction":1`, ErrMalformed},
		{"challenger", KeyModel, `"judged_intercept":[0.2,`, `"judged_intercept":[`, ErrMalformed},
		{"challenger", KeyModel, `"verdict":"not_better"`, `"verdict":"fine"`, ErrMalformed},
	}
	for _, c := range cases {
		t.Run(c.message+" "+c.is, func(t *testing.T) {
			d := decoders[c.message]
			wantError(t, d.decode(newDecoder(), d.edit(c.key, c.was, c.is)), c.want)
		})
	}
}

func TestFeatureSetRefusesInvalidColumns(t *testing.T) {
	nan := numbers("weight", []float32{1, 1, 1, inf32()})
	value := replaceColumn(must(EncodeFeatureSet(exampleFeatureSet())), "weight", &nan)
	_, err := DecodeFeatureSet(newDecoder(), value)
	wantError(t, err, ErrMalformed)
	index := numbers("index", []int32{3, 3, 0, 8})
	_, err = DecodeFeatureSet(newDecoder(), replaceColumn(must(EncodeFeatureSet(exampleFeatureSet())), "index", &index))
	wantError(t, err, ErrMalformed)
	omega := numbers("omega", []float32{1, 2, 3, 4})
	_, err = DecodeFeatureSet(newDecoder(), replaceColumn(must(EncodeFeatureSet(exampleFeatureSet())), "omega", &omega))
	wantError(t, err, ErrMalformed)
}

func TestMixedSetRefusesImpossibleFeatures(t *testing.T) {
	value := must(EncodeFeatureSet(mixedFeatureSet()))
	float := func(name string, lengths []int, v ...float32) column { return raggedColumn(numbers(name, v), lengths) }
	whole := func(lengths []int, v ...int32) column { return raggedColumn(numbers("coordinate", v), lengths) }
	orders := []int{0, 0, 0, 1, 2, 1, 3}
	seven := []float32{1, 1, -1, 1, 1, 1, -1}
	for name, with := range map[string]column{
		"an omega too short":      float("omega", []int{7, 7, 6, 0, 0, 0, 0}, make([]float32, 20)...),
		"an omega of a hinge":     float("omega", []int{7, 7, 0, 7, 0, 0, 0}, make([]float32, 21)...),
		"an infinite omega":       float("omega", []int{7, 7, 7, 0, 0, 0, 0}, append(make([]float32, 20), inf32())...),
		"a phase of a box":        numbers("phase", []float32{1, 1, 1, 0, 0, 0, 1}),
		"a phase beyond a turn":   numbers("phase", []float32{7, 1, 1, 0, 0, 0, 0}),
		"kinds out of order":      textColumn("kind", []string{"cosine", "ramp", "cosine", "hinge", "hinge", "box", "box"}),
		"a kind of another name":  textColumn("kind", []string{"cosine", "cosine", "ramp", "hinge", "hinge", "box", "step"}),
		"four factors":            whole([]int{0, 0, 0, 1, 2, 1, 4}, 1, 2, 3, 4, 0, 1, 2, 3),
		"no factor":               whole([]int{0, 0, 0, 0, 3, 1, 3}, 1, 2, 3, 4, 0, 1, 2),
		"factors of a cosine":     whole([]int{1, 0, 0, 1, 1, 1, 3}, 1, 2, 3, 4, 0, 1, 2),
		"a coordinate twice":      whole(orders, 1, 2, 2, 4, 0, 1, 2),
		"a coordinate beyond x":   whole(orders, 1, 2, 3, 7, 0, 1, 2),
		"a coordinate below 0":    whole(orders, 1, 2, 3, -1, 0, 1, 2),
		"a coordinate that wraps": whole(orders, 1, 2, 3, 1<<16, 0, 1, 2),
		"a sign of 2":             float("sign", orders, append([]float32{2}, seven[1:]...)...),
		"too few signs":           float("sign", []int{0, 0, 0, 1, 1, 1, 3}, seven[1:]...),
		"a threshold of infinity": float("threshold", orders, append([]float32{inf32()}, seven[1:]...)...),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeFeatureSet(newDecoder(), replaceColumn(value, with.name, &with))
			wantError(t, err, ErrMalformed)
		})
	}
	threshold := float("threshold", orders, seven...)
	_, err := DecodeFeatureSet(newDecoder(), replaceColumn(value, "threshold", &threshold))
	wantError(t, err, ErrHashMismatch)
}
