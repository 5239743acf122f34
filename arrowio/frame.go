package arrowio

import (
	"bytes"
	"encoding/binary"
)

// continuation starts every message of an IPC stream; the length of its metadata follows.
var continuation = []byte{0xff, 0xff, 0xff, 0xff}

const prefixBytes = 8

// IsStream reports whether value begins like an Arrow IPC stream.
func IsStream(value []byte) bool { return bytes.HasPrefix(value, continuation) }

// headerType is the content of an IPC message; the numbers are those of the format.
type headerType byte

const (
	headerSchema     headerType = 1
	headerDictionary headerType = 2
	headerRecords    headerType = 3
	headerTensor     headerType = 4
	headerSparse     headerType = 5
)

// Metadata versions that are read: V4 (Arrow 0.8) and V5 (1.0) differ only in unions, which are
// refused.
const metadataV4, metadataV5 = 3, 4

// frame is one IPC message; its framing and its outer flatbuffer have been checked.
type frame struct {
	metadata []byte // the flatbuffer
	fb       *flatbuffer
	kind     headerType
	header   table
	body     []byte
}

// frames walks the IPC messages in a byte slice.
type frames struct {
	rest    []byte
	first   bool // nothing has been read yet
	several bool // other bytes may follow the stream
}

// next returns the next message; ok is false at the end of the stream.
func (w *frames) next() (f frame, ok bool, err error) {
	metadata, ok, err := w.metadata()
	if err != nil || !ok {
		return frame{}, false, err
	}
	f = frame{metadata: metadata, fb: &flatbuffer{buf: metadata}}
	body, err := f.open()
	if err != nil {
		return frame{}, false, err
	}
	if body < 0 {
		return frame{}, false, corrupt("body length %d", body)
	}
	if body > int64(len(w.rest)) {
		return frame{}, false, truncated("body of %d bytes claimed, %d left", body, len(w.rest))
	}
	f.body, w.rest = w.rest[:body:body], w.rest[body:]
	return f, true, nil
}

// metadata cuts off the next message's prefix and flatbuffer; ok is false at
// the end of the stream, with or without an end mark.
func (w *frames) metadata() (m []byte, ok bool, err error) {
	first := w.first
	w.first = false
	switch {
	case first && !bytes.HasPrefix(w.rest, continuation):
		return nil, false, notArrow("begins with %s", begins(w.rest))
	case len(w.rest) == 0:
		return nil, false, nil
	case len(w.rest) < prefixBytes:
		return nil, false, truncated("%d bytes where a message should begin", len(w.rest))
	case !bytes.HasPrefix(w.rest, continuation):
		return nil, false, corrupt("a message begins with %s", begins(w.rest))
	}
	size := binary.LittleEndian.Uint32(w.rest[len(continuation):])
	w.rest = w.rest[prefixBytes:]
	if size == 0 {
		return nil, false, w.end(first)
	}
	if int64(size) > int64(len(w.rest)) {
		return nil, false, truncated("metadata of %d bytes claimed, %d left", size, len(w.rest))
	}
	m, w.rest = w.rest[:size:size], w.rest[size:]
	return m, true, nil
}

// StreamLength returns the length in bytes of the IPC stream at the start of value, including its
// end mark. It reads only the stream's framing, and nothing after the stream.
func StreamLength(value []byte) (int, error) {
	w := frames{rest: value, first: true, several: true}
	for {
		if _, ok, err := w.next(); err != nil {
			return 0, err
		} else if !ok {
			return len(value) - len(w.rest), nil
		}
	}
}

// end is called after the end mark. Rows that follow it would be lost silently, so anything but
// padding is a fault.
func (w *frames) end(first bool) error {
	if first {
		return notArrow("no schema before the end mark")
	}
	if !w.several && len(bytes.Trim(w.rest, "\x00")) != 0 {
		return corrupt("%d bytes follow the end of the stream", len(w.rest))
	}
	return nil
}

// begins describes the first bytes of something that is not a stream.
func begins(rest []byte) string {
	if bytes.HasPrefix(rest, []byte("ARROW1")) {
		return "the mark of an arrow file, which is not a stream"
	}
	return Quote(rest[:min(len(rest), 8)])
}

// open reads the outer flatbuffer and returns the claimed body length.
func (f *frame) open() (bodyLength int64, err error) {
	msg := f.fb.root()
	version := msg.int16(0, 0)
	f.kind = headerType(msg.uint8(1))
	header, ok := msg.sub(2)
	bodyLength = msg.int64(3)
	switch {
	case f.fb.err != nil:
		return 0, f.fb.err
	case version != metadataV4 && version != metadataV5:
		return 0, unsupported("metadata version V%d, V4 and V5 are read", version+1)
	case !ok:
		return 0, corrupt("message without a header")
	}
	f.header = header
	return bodyLength, nil
}
