package kafka

import (
	"encoding/binary"
	"io"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// newestVersion asks a broker for the newest version of a request that it supports; 0 = none.
func newestVersion(rw io.ReadWriter, of protocol.ApiKey, clientID string, correlation int32) (int16, error) {
	if _, err := rw.Write(framed(appendHeader(nil, protocol.ApiVersions, 0, correlation, clientID))); err != nil {
		return 0, err
	}
	r := readResponse(rw, correlation)
	if code := r.int16(); code != 0 {
		r.fail("%w", kafkago.Error(code))
	}
	newest := int16(0)
	for n := r.int32(); n > 0 && r.err == nil; n-- {
		key, _, most := r.int16(), r.int16(), r.int16()
		if key == int16(of) {
			newest = most
		}
	}
	return newest, r.finish()
}

// appendHeader appends a request header of version 1. One of version 2 begins with the same fields.
func appendHeader(to []byte, key protocol.ApiKey, version int16, correlation int32, clientID string) []byte {
	to = binary.BigEndian.AppendUint16(to, uint16(key))
	to = binary.BigEndian.AppendUint16(to, uint16(version))
	to = binary.BigEndian.AppendUint32(to, uint32(correlation))
	to = binary.BigEndian.AppendUint16(to, uint16(len(clientID)))
	return append(to, clientID...)
}

// framed returns a request after its length.
func framed(request []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(request))), request...)
}
