package arrowio

import "testing"

// FuzzDecode is [TestMutants] on bytes chosen by the fuzzer. Its seeds are the streams of
// testdata/pyarrow and testdata/fuzz.
func FuzzDecode(f *testing.F) {
	for _, stream := range streams(f) {
		if len(stream) <= 6000 {
			f.Add(stream)
		}
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0x7f})
	f.Add(join(dictionarySchema(), dictionaryBatch(0, 3, false), indexBatch(2)))
	f.Add(join(simpleSchema(typeUtf8View, typeNull), forgedBatch{length: 1, nodes: []int64{1, 0, 1, 1},
		buffers: []int64{0, 0, 0, 16, 16, 24}, views: []int64{1}, codec: uncompressed, body: make([]byte, 40)}.bytes()))
	f.Fuzz(func(t *testing.T, value []byte) {
		d := NewDecoder(small)
		if reason, err := tryMutant(d, value); err != nil || reason == "" {
			t.Errorf("reason %q, %v", reason, err)
		}
	})
}
