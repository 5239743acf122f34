package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/internal/hostile"
	"github.com/eerf-stream/eerf/internal/outside"
)

// Every field of every document, with every extreme value: beyond its bound it is refused, within
// it the message is refused for a reason, or read and written unchanged.
func TestExtremesOfDocuments(t *testing.T) {
	tried, accepted := 0, 0
	covered := map[string]bool{}
	for name, m := range decoders {
		texts := map[string]*outside.Shape{m.key: shapeOfDocument(m.key)}
		if m.key == KeyFeatureSet {
			texts[KeyEncoder] = encoderMetadata.shape
		}
		for key, shape := range texts {
			covered[key] = true
			document := hostile.Parsed(m.text(key))
			for _, v := range outside.Document(shape) {
				for _, e := range hostile.Extremes(v.Shape) {
					changed := hostile.WithValue(document, v.Name, e.Value)
					if changed == nil {
						t.Errorf("%s: no place for %s", name, v.Name)
						continue
					}
					tried++
					reason, err := documentReason(m.stable(newDecoder(), m.with(key, hostile.JSON(changed))))
					switch {
					case err != nil:
						t.Errorf("%s: %s %s: %v", name, v.Name, e.Name, err)
					case reason == "accepted" && e.Beyond:
						t.Errorf("%s: %s %s is accepted beyond the bound %s", name, v.Name, e.Name, v.Shape.Bound())
					case reason == "accepted":
						accepted++
					}
				}
			}
		}
	}
	t.Logf("%d values, %d accepted", tried, accepted)
	for _, d := range documents {
		if d != featuresMetadata && d != rejectedRowsMetadata && !covered[d.key] { // those two have tests of their own
			t.Errorf("no example of %s", d.key)
		}
	}
}

// shapeOfDocument is the shape of a document by name.
func shapeOfDocument(key string) *outside.Shape {
	at := slices.IndexFunc(documents, func(d *document) bool { return d.key == key })
	return documents[at].shape
}

// Values that are valid alone must not overflow together.
func TestExtremesAddUp(t *testing.T) {
	s := bigSpec(MaxPartitions)
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	if rows := s.LabelledRows(); rows != MaxPartitions*outside.MaxCount {
		t.Errorf("%d labelled rows", rows)
	}
	if s.Sampled(s.LabelledRows()) < 0 {
		t.Error("a negative sample")
	}
	b := exampleBlock()
	b.Models = nil
	for i := range 1024 {
		sums := exampleBlock().Models[0]
		sums.Model = fmt.Sprint("m-", i)
		sums.Rows = 1e9
		sums.Loss = 1e90
		sums.Squares = 1e170
		b.Models = append(b.Models, sums)
	}
	found := must(DecodeBlock(must(EncodeBlock(b))))
	if found.Rows() != 1024e9 {
		t.Errorf("%d rows", found.Rows())
	}
	whole := found.Models[0].Clone()
	for range 100 {
		for i := range found.Models {
			whole.Merge(&found.Models[i])
		}
	}
	if math.IsInf(whole.Squares, 0) || whole.Rows < 0 {
		t.Errorf("sums of blocks overflow: %+v", whole)
	}
	b.Models[0].Loss = math.MaxFloat64
	if _, err := EncodeBlock(b); err == nil {
		t.Error("a loss that overflows together with another is accepted")
	}
	counts := Counts{Rows: math.MinInt64, Scored: math.MaxInt64, NotSampled: 1}
	if counts.Validate() == nil {
		t.Error("counts that overflow are valid")
	}
	counts = Counts{Rows: 2, Scored: math.MaxInt64, NotSampled: math.MaxInt64, Unlabelled: 4}
	if counts.Validate() == nil {
		t.Error("outcomes that overflow add up")
	}
}

// Every header, with every extreme text.
func TestExtremesOfHeaders(t *testing.T) {
	live := LiveHeader(exampleLive())
	_, samples, _ := EncodeSamples(exampleSamples(true))
	base := slices.Concat(
		FeatureBatch{
			"fs-1",
			"events",
			3,
			9,
			0,
			5,
			9,
			"log.1",
			BatchMark{7, 8},
		}.Headers(),
		[]Header{live, ModelHeader("m-1"), {HeaderEventTime, []byte("5")}},
		samples,
		DeadLetter{Stage: "subsample", Reason: "corrupt", Topic: "events", Time: noon}.Headers(),
	)
	tried := 0
	for key, shape := range headerShapes {
		if !slices.ContainsFunc(base, func(h Header) bool { return h.Key == key }) {
			t.Errorf("header %s has no example", key)
		}
		for _, text := range hostile.Texts(shape) {
			tried++
			headers := slices.Clone(base)
			for i := range headers {
				if headers[i].Key == key {
					headers[i].Value = []byte(text)
				}
			}
			checkHeaders(t, ParseFeatureHeaders, headers)
			checkHeaders(t, ParseDeadLetterHeaders, headers)
			checkHeaders(t, parseLiveHeaders, headers)
			if _, err := DecodeSamples(newDecoder(), samplesValue(exampleSamples(true)), headers); err != nil &&
				!errors.Is(err, ErrHeaders) &&
				!errors.Is(err, ErrMalformed) {
				t.Errorf("%s %.40q: %v", key, text, err)
			}
			SamplesOf(headers, exampleSpec().Hash(), 2)
			if at, ok := ParseEventTime([]byte(text)); ok && !outside.ValidTime(at) {
				t.Errorf("%s %.40q is the time %v", key, text, at)
			}
		}
	}
	t.Logf("%d values", tried)
}

// Every column of our own messages is declared, and extreme numbers in it are refused for a reason,
// or read and written unchanged.
func TestExtremesOfColumns(t *testing.T) {
	declared := map[string]*outside.Shape{}
	for _, s := range columnSources {
		for _, v := range s.Values {
			declared[v.Name] = v.Shape
		}
	}
	tried := 0
	for name, m := range decoders {
		if IsJSON(m.value) {
			continue
		}
		recs := must(newDecoder().Decode(m.value))
		for i, field := range recs[0].Schema().Fields() {
			if declared[field.Name] == nil {
				t.Errorf("column %s of %s is not declared", field.Name, name)
			}
			for _, bits := range hostile.Words() {
				value := withBits(m.value, i, bits)
				if value == nil {
					continue
				}
				tried++
				if _, err := documentReason(m.stable(newDecoder(), value)); err != nil {
					t.Errorf("%s: column %s with %x: %v", name, field.Name, bits, err)
				}
			}
		}
		releaseAll(recs)
	}
	t.Logf("%d values", tried)
}

// withBits is a message whose column i begins with other bytes; nil if the column holds no numbers.
func withBits(value []byte, i int, bits [8]byte) []byte {
	changed := false
	out := rewrite(
		bytes.Clone(value),
		func(_ map[string]string, f []arrow.Field, c []arrow.Array) ([]arrow.Field, []arrow.Array) {
			data := c[i].Data()
			for len(data.Children()) > 0 {
				data = data.Children()[0]
			}
			if arr := array.MakeFromData(data); arrow.IsFloating(arr.DataType().ID()) || arrow.IsInteger(arr.DataType().ID()) {
				if raw := data.Buffers()[1].Bytes(); len(raw) >= 4 {
					copy(raw, bits[:])
					changed = true
				}
			}
			return f, c
		},
	)
	if !changed {
		return nil
	}
	return out
}
