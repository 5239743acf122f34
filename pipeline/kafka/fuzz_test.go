package kafka

import (
	"bytes"
	"errors"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
)

// FuzzExpand decompresses arbitrary bytes with every codec; the result must stay within the limit.
func FuzzExpand(f *testing.F) {
	for _, c := range compressors {
		for _, n := range []int{0, 100, 5000, 200_000} {
			f.Add(uint8(c.codec), c.compress(f, bytes.Repeat([]byte("record "), n/7)))
		}
	}
	reader := newReader(f)
	f.Fuzz(func(t *testing.T, codec uint8, body []byte) {
		const limit = 64 << 10
		expanded, err := reader.expand(uint16(codec&codecBits), body, &allowance{left: limit, room: limit})
		switch {
		case err != nil && !errors.Is(err, pipeline.ErrOverBudget) && !errors.Is(err, pipeline.ErrCorruptBatch):
			t.Errorf("error %v wraps no known cause", err)
		case err == nil && len(expanded) > max(limit, len(body)):
			t.Errorf("expanded to %d bytes, limit %d", len(expanded), limit)
		}
	})
}

// FuzzFetchResponse reads arbitrary bytes as a fetch response.
func FuzzFetchResponse(f *testing.F) {
	f.Add(encodeParts(part{partition: 3, aborted: 1, set: testBatch{base: 10}.encode()}))
	f.Add(encodeParts(part{partition: 3, code: 3}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		asked := testFetches()
		err := exchange(raw, asked...)
		for _, a := range asked {
			if a.response == nil {
				continue
			}
			if got := a.response; err == nil && (len(got.set) > a.maxSet || len(got.set)+16*len(got.aborted) > len(raw)) {
				t.Errorf("%d bytes of records and %d transactions of %d bytes", len(got.set), len(got.aborted), len(raw))
			}
		}
		if pool := asked[0].memory; pool.peak > pool.limit {
			t.Errorf("peak of %d bytes, limit %d", pool.peak, pool.limit)
		}
	})
}
