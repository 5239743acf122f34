package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
)

// fetchExchange is a fetch of one partition whose response is read here, see the package documentation.
type fetchExchange struct {
	request     fetch.Request
	clientID    string
	correlation int32
	// maxSet bounds the record set of the response, in bytes. Brokers answer with more than was asked for only
	// where a single batch is larger, so a larger set is an oversized batch.
	maxSet  int
	version int16
}

var (
	_ protocol.BrokerMessage = (*fetchExchange)(nil)
	_ protocol.RawExchanger  = (*fetchExchange)(nil)
)

// fetchResponse is the part of a fetch response that is about the one partition.
type fetchResponse struct {
	code     int16
	end      int64 // last stable offset
	logStart int64
	aborted  []abortedTransaction
	set      []byte
}

// oversizedSetError says that a response's record set is over maxSet; header is the first batch's, as far as it was
// received.
type oversizedSetError struct {
	bytes  int
	header []byte
	end    int64 // of the partition
}

func (o *oversizedSetError) Error() string {
	return fmt.Sprintf("batch of %d bytes: %v", o.bytes, ErrOverBudget)
}

func (o *oversizedSetError) Unwrap() error { return ErrOverBudget }

// Fetch responses read here: from record batches and aborted transactions (0.11) to the newest version
// that kafka-go knows, which all brokers of today still accept.
const (
	minFetchVersion = 4
	maxFetchVersion = 11
)

// ApiKey implements [protocol.Message].
func (*fetchExchange) ApiKey() protocol.ApiKey { return protocol.Fetch }

// ApiKey implements [protocol.Message].
func (*fetchResponse) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Broker implements [protocol.BrokerMessage].
func (e *fetchExchange) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	return e.request.Broker(cluster)
}

// Required implements [protocol.RawExchanger].
func (e *fetchExchange) Required(versions map[protocol.ApiKey]int16) bool {
	e.version = versions[protocol.Fetch]
	return true
}

// RawExchange implements [protocol.RawExchanger]. An error closes the connection, so a response need not be
// read to its end then.
func (e *fetchExchange) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if e.version < minFetchVersion || e.version > maxFetchVersion {
		return nil, fmt.Errorf("broker offers version %d of fetch, %d to %d are understood",
			e.version, minFetchVersion, maxFetchVersion)
	}
	if err := protocol.WriteRequest(rw, e.version, e.correlation, e.clientID, &e.request); err != nil {
		return nil, err
	}
	r := &responseReader{from: rw, left: 4}
	r.left = int(r.int32())
	if id := r.int32(); r.err == nil && id != e.correlation {
		return nil, fmt.Errorf("fetch response has correlation id %d instead of %d", id, e.correlation)
	}
	response := e.read(r)
	if r.err == nil && r.left != 0 {
		r.err = errors.New("fetch response has more than the partition asked for")
	}
	if r.err != nil {
		return nil, r.err
	}
	return response, nil
}

// read reads the body of a fetch response with one topic of one partition, or with an error code and none.
func (e *fetchExchange) read(r *responseReader) *fetchResponse {
	response := &fetchResponse{}
	r.int32() // throttle time
	if e.version >= 7 {
		response.code = r.int16()
		r.int32() // session id
	}
	if topics := r.int32(); topics == 0 && response.code != 0 {
		return response
	} else if topics != 1 {
		r.fail("fetch response has %d topics instead of one", topics)
	}
	r.skip(int(r.int16())) // topic name
	if partitions := r.int32(); partitions != 1 {
		r.fail("fetch response has %d partitions instead of one", partitions)
	}
	r.int32() // partition
	if code := r.int16(); code != 0 {
		response.code = code
	}
	r.int64()                // high watermark
	response.end = r.int64() // last stable offset
	if e.version >= 5 {
		response.logStart = r.int64()
	}
	response.aborted = e.readAborted(r)
	if e.version >= 11 {
		r.int32() // preferred read replica
	}
	response.set = e.readSet(r, response.end)
	return response
}

func (e *fetchExchange) readAborted(r *responseReader) []abortedTransaction {
	n := int(r.int32())
	if n <= 0 {
		return nil // -1 is null
	}
	if n > min(r.left, e.maxSet)/16 {
		r.fail("fetch response has %d aborted transactions in %d bytes", n, r.left)
		return nil
	}
	const usual = 64 // what is left of the response is its own claim, so the list grows with what has been read
	aborted := make([]abortedTransaction, 0, min(n, usual))
	for len(aborted) < n && r.err == nil {
		aborted = append(aborted, abortedTransaction{producer: r.int64(), first: r.int64()})
	}
	return aborted
}

func (e *fetchExchange) readSet(r *responseReader, end int64) []byte {
	size := int(r.int32())
	switch {
	case size <= 0 || r.err != nil:
		return nil // -1 is null
	case size > r.left:
		r.fail("fetch response has a record set of %d bytes in %d", size, r.left)
		return nil
	case size > e.maxSet:
		header := r.bytes(min(size, batchHeaderBytes))
		if r.err == nil {
			r.err = &oversizedSetError{bytes: size, header: header, end: end}
		}
		return nil
	}
	return r.bytes(size)
}

// responseReader reads the big-endian fields of one response and never beyond its length. After an error every
// field reads as zero.
type responseReader struct {
	from    io.Reader
	left    int
	scratch [8]byte
	err     error
}

func (r *responseReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *responseReader) full(into []byte) {
	if r.err == nil && len(into) > r.left {
		r.fail("fetch response ends early")
	}
	if r.err == nil {
		_, err := io.ReadFull(r.from, into)
		r.left -= len(into)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		r.err = err
	}
	if r.err != nil {
		clear(into)
	}
}

func (r *responseReader) int16() int16 {
	r.full(r.scratch[:2])
	return int16(binary.BigEndian.Uint16(r.scratch[:]))
}

func (r *responseReader) int32() int32 {
	r.full(r.scratch[:4])
	return int32(binary.BigEndian.Uint32(r.scratch[:]))
}

func (r *responseReader) int64() int64 {
	r.full(r.scratch[:8])
	return int64(binary.BigEndian.Uint64(r.scratch[:]))
}

func (r *responseReader) bytes(n int) []byte {
	b := make([]byte, n)
	r.full(b)
	return b
}

// skip moves past a name; names have at most 32 KiB.
func (r *responseReader) skip(n int) {
	if n > 0 && r.err == nil {
		r.bytes(n)
	}
}
