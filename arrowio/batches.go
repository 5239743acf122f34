package arrowio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Batches reads a sequence of IPC streams, as a pipe carries them, and cuts it into messages of one
// record batch: each is a stream with the schema and the dictionaries that its batch needs, for
// [Decoder.Decode]. It reads no byte beyond the current batch, so that the other end may wait for
// the answer. Contents are left to the decoder.
//
// It holds one message, and allocates only for bytes that have arrived.
type Batches struct {
	from   io.Reader
	most   int64             // bytes of a message
	value  []byte            // schema and dictionaries of the current stream, then a batch
	kept   int               // length of schema and dictionaries; 0 = between streams
	schema int               // length of the schema
	dicts  []dictionaryPlace // in the order of their places
	stale  int               // bytes of replaced dictionaries
	index  int               // number of the IPC message, from 0
}

// dictionaryPlace is where an IPC message with a dictionary is in Batches.value.
type dictionaryPlace struct {
	id          int64
	start, next int
}

// NewBatches returns a reader whose messages have at most this many bytes.
func NewBatches(from io.Reader, maxMessageBytes int64) *Batches {
	return &Batches{from: from, most: maxMessageBytes}
}

// Next returns the message of the next batch. It is valid until the next call. The error is
// [io.EOF] at the end of the input, which may lack the last stream's end mark.
func (b *Batches) Next() ([]byte, error) {
	b.value = b.value[:b.kept]
	for ; ; b.index++ {
		kind, err := b.message()
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, fmt.Errorf("arrow message %d: %w", b.index, err)
		}
		if kind == headerRecords {
			b.index++
			return b.value, nil
		}
		b.kept = len(b.value)
	}
}

// message appends the next IPC message to the value, or removes all at the end of a stream.
func (b *Batches) message() (headerType, error) {
	start := len(b.value)
	if err := b.read(prefixBytes); err != nil {
		return 0, err
	}
	prefix := b.value[start:]
	switch {
	case string(prefix[:len(continuation)]) == string(continuation):
	case start == 0:
		return 0, notArrow("begins with %s", begins(prefix))
	default:
		return 0, corrupt("a message begins with %s", begins(prefix))
	}
	size := int64(binary.LittleEndian.Uint32(prefix[len(continuation):]))
	if size == 0 {
		return 0, b.end(start == 0)
	}
	if err := b.read(size); err != nil {
		return 0, noEOF(err)
	}
	metadata := b.value[start+prefixBytes:]
	f := frame{metadata: metadata, fb: &flatbuffer{buf: metadata}}
	body, err := f.open()
	switch {
	case err != nil:
		return 0, err
	case body < 0:
		return 0, corrupt("body length %d", body)
	case (f.kind == headerSchema) != (start == 0):
		return 0, corrupt("message of type %d where the stream has %d bytes; a schema comes first and once", f.kind, start)
	}
	id := f.header.int64(0)
	if f.fb.err != nil {
		return 0, f.fb.err
	}
	if err := b.read(body); err != nil {
		return 0, noEOF(err)
	}
	switch f.kind {
	case headerSchema:
		b.schema = len(b.value)
	case headerDictionary:
		b.replace(dictionaryPlace{id, start, len(b.value)})
	case headerRecords:
	default:
		return 0, unsupported("message of type %d", f.kind)
	}
	return f.kind, nil
}

// end ends a stream, whose schema and dictionaries are forgotten.
func (b *Batches) end(first bool) error {
	if first {
		return notArrow("no schema before the end mark")
	}
	b.value, b.kept, b.dicts, b.stale = b.value[:0], 0, b.dicts[:0], 0
	return nil
}

// noEOF makes an end of input within a message an error.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return truncated("the input ends within a message")
	}
	return err
}

// readStep bounds the memory that is allocated before its bytes arrive.
const readStep = 1 << 20

// read appends n bytes of the input. Without a single byte it returns io.EOF.
func (b *Batches) read(n int64) error {
	if left := b.most - int64(len(b.value)); n > left {
		return tooLarge("message of more than %d bytes, at most %d", int64(len(b.value))+n, b.most)
	}
	for begun := false; n > 0; begun = true {
		at, step := len(b.value), int(min(n, readStep))
		b.value = slices.Grow(b.value, step)[:at+step]
		read, err := io.ReadFull(b.from, b.value[at:])
		switch {
		case errors.Is(err, io.EOF) && !begun:
			b.value = b.value[:at]
			return io.EOF
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return truncated("the input ends within a message, %d bytes before its end", n-int64(read))
		case err != nil:
			return fmt.Errorf("read arrow stream: %w", err)
		}
		n -= int64(step)
	}
	return nil
}

// replace notes a new dictionary. Replaced ones are removed once they are half of the bytes, so
// that removing them costs no more than reading them did.
func (b *Batches) replace(place dictionaryPlace) {
	old := slices.IndexFunc(b.dicts, func(d dictionaryPlace) bool { return d.id == place.id })
	if old < 0 {
		b.dicts = append(b.dicts, place)
		return
	}
	b.stale += b.dicts[old].next - b.dicts[old].start
	b.dicts = append(slices.Delete(b.dicts, old, old+1), place)
	if b.stale > len(b.value)/2 {
		b.compact()
	}
}

// compact removes the replaced dictionaries.
func (b *Batches) compact() {
	end := b.schema
	for i, d := range b.dicts {
		n := copy(b.value[end:], b.value[d.start:d.next])
		b.dicts[i] = dictionaryPlace{d.id, end, end + n}
		end += n
	}
	b.value, b.stale = b.value[:end], 0
}
