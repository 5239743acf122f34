package wire

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

// fromBytes splits bytes into headers: key, value, key, value, with zero bytes between.
func fromBytes(raw []byte) (headers []Header) {
	parts := bytes.Split(raw, []byte{0})
	for i := 0; i+1 < len(parts); i += 2 {
		headers = append(headers, Header{Key: string(parts[i]), Value: parts[i+1]})
	}
	return headers
}

// toBytes is the inverse of fromBytes, for headers without zero bytes.
func toBytes(headers []Header) []byte {
	var parts [][]byte
	for _, h := range headers {
		parts = append(parts, []byte(h.Key), h.Value)
	}
	return bytes.Join(parts, []byte{0})
}

// checkHeaders wants a refusal with a known error, or a value whose own headers are read as the
// same value.
func checkHeaders[T interface{ Headers() []Header }](t *testing.T, parse func([]Header) (T, error), headers []Header) {
	t.Helper()
	first, err := parse(headers)
	if err != nil {
		if !errors.Is(err, ErrHeaders) {
			t.Fatalf("error %v is not ErrHeaders", err)
		}
		return
	}
	second, err := parse(first.Headers()) // long texts are cut when they are written
	if err != nil {
		t.Fatalf("the headers of %+v are refused: %v", first, err)
	}
	if third, err := parse(second.Headers()); err != nil || !reflect.DeepEqual(third, second) {
		t.Fatalf("%+v is read as %+v, %v", second, third, err)
	}
}

// liveHeaders are those of sums, none without any.
type liveHeaders struct{ sums *LiveSums }

func (l liveHeaders) Headers() []Header {
	if l.sums == nil {
		return nil
	}
	return []Header{LiveHeader(l.sums)}
}

func parseLiveHeaders(headers []Header) (liveHeaders, error) {
	sums, err := ParseLive(headers)
	return liveHeaders{sums}, err
}

// FuzzHeaders reads any headers as those of features and dead letters.
func FuzzHeaders(f *testing.F) {
	for _, headers := range [][]Header{
		FeatureBatch{
			FeatureSetID:    "fs-1",
			SourceTopic:     "events",
			SourcePartition: 2,
			SourceOffset:    9,
			RowCount:        4,
			SourceRows:      4,
		}.Headers(),
		{LiveHeader(exampleLive())},
		DeadLetter{
			Stage:  "subsample",
			Reason: "corrupt",
			Detail: "arrow message 1",
			Topic:  "events",
			Offset: 9,
			Time:   noon,
		}.Headers(),
	} {
		f.Add(toBytes(headers))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		headers := fromBytes(raw)
		checkHeaders(t, ParseFeatureHeaders, headers)
		checkHeaders(t, ParseDeadLetterHeaders, headers)
		checkHeaders(t, parseLiveHeaders, headers)
	})
}
