package arrowio

import (
	"errors"
	"slices"
	"testing"
)

// A stream ends at its end mark, or where the bytes do.
func TestStreamLength(t *testing.T) {
	stream := readFile(t, "pyarrow", "flat.arrows")
	d := NewDecoder(Limits{})
	value := write(t, mustDecode(t, d, stream)[0].Schema(), mustDecode(t, d, stream))
	other := []byte("anything else")
	for name, c := range map[string]struct {
		value []byte
		want  int
	}{
		"alone":               {value, len(value)},
		"before another":      {slices.Concat(value, value), len(value)},
		"before other bytes":  {slices.Concat(value, other), len(value)},
		"without an end mark": {value[:len(value)-8], len(value) - 8},
	} {
		if n, err := StreamLength(c.value); err != nil || n != c.want {
			t.Errorf("%s: %d bytes, %v; want %d", name, n, err, c.want)
		}
	}
	for name, c := range map[string]struct {
		value []byte
		want  error
	}{
		"nothing":         {nil, ErrNotArrow},
		"text":            {other, ErrNotArrow},
		"cut in a body":   {value[:len(value)-20], ErrTruncated},
		"cut in a schema": {value[:60], ErrTruncated},
	} {
		if n, err := StreamLength(c.value); !errors.Is(err, c.want) || n != 0 {
			t.Errorf("%s: %d bytes, %v; want %v", name, n, err, c.want)
		}
	}
	if _, err := NewDecoder(Limits{}).Decode(slices.Concat(value, value)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("two streams as one message: %v", err)
	}
}
