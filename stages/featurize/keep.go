package featurize

import "github.com/eerf-stream/eerf/pipeline"

// copies is one allocation for all copies from a fetch.
type copies []byte

// keep copies the memory of fetched records that parts refer to, so that the records can be
// released while the request is in progress. If the copies exceed a number of bytes, it leaves the
// parts unchanged and returns false.
func keep(parts []outgoing, most int) bool {
	size := 0
	for i := range parts {
		size += keptBytes(parts, i)
		if size > most {
			return false
		}
	}
	k := make(copies, 0, size)
	var fetched, kept []byte // the source value of the previous part
	for i := range parts {
		part := &parts[i]
		if newSource(parts, i) {
			fetched, kept = part.source.Value, k.of(part.source.Value)
		}
		part.source.Value = kept
		k.own(&part.source)
		if part.Output != nil {
			k.own(part.Output)
		}
		if letter := part.DeadLetter; letter != nil {
			k.own(&letter.Record)
			if same(letter.Value, fetched) {
				letter.Value = kept
			}
		}
	}
	return true
}

// newSource reports whether a part comes from another message than the previous part.
func newSource(parts []outgoing, i int) bool {
	return i == 0 || parts[i].source.Offset != parts[i-1].source.Offset
}

// keptBytes is the size of the copies of a part.
func keptBytes(parts []outgoing, i int) int {
	part := &parts[i]
	size := besides(&part.source)
	if newSource(parts, i) {
		size += len(part.source.Value)
	}
	if part.Output != nil {
		size += besides(part.Output)
	}
	if part.DeadLetter != nil {
		size += besides(&part.DeadLetter.Record)
	}
	return size
}

// besides is the memory of a record in addition to its value.
func besides(r *pipeline.Record) int { return r.Memory() - cap(r.Value) }

// own copies the key and the headers of a record.
func (k *copies) own(r *pipeline.Record) {
	r.Key = k.of(r.Key)
	headers := make([]pipeline.Header, len(r.Headers))
	for i, h := range r.Headers {
		headers[i] = pipeline.Header{Key: h.Key, Value: k.of(h.Value)}
	}
	r.Headers = headers
}

func (k *copies) of(b []byte) []byte {
	if b == nil {
		return nil
	}
	first := len(*k)
	*k = append(*k, b...)
	return (*k)[first:len(*k):len(*k)]
}

// same reports whether two slices are the same memory.
func same(a, b []byte) bool { return len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] }
