package kafka

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/pipeline"
)

// fetchExchange is a fetch of partitions of one leader, whose response is read here; see the
// package documentation. Each partition is answered as soon as its part of the response has
// arrived. Reading never waits for memory.
type fetchExchange struct {
	kmsgExchange
	leader     int32
	fetches    map[logPartition]*pendingFetch // no partition twice
	maxAborted int                            // limit of aborted transactions in the response for one partition
}

// logPartition is a partition on the wire.
type logPartition struct {
	log       logUUID
	partition int32
}

var _ protocol.BrokerMessage = (*fetchExchange)(nil)

// fetchVersion is the first version with topic ids (Kafka 3.1): its data comes from the requested
// log.
const fetchVersion = 13

// newFetchExchange makes the request for distinct partitions.
func newFetchExchange(c *Client, leader int32, fetches []*pendingFetch, wait time.Duration) *fetchExchange {
	request := kmsg.NewPtrFetchRequest()
	request.Version = fetchVersion
	request.MaxWaitMillis = int32(wait / time.Millisecond)
	request.MinBytes = 1
	request.MaxBytes = responseMaxBytes
	request.IsolationLevel = readCommitted
	request.SessionEpoch = -1 // no fetch session
	e := &fetchExchange{
		kmsgExchange: c.exchange(request), leader: leader, fetches: make(map[logPartition]*pendingFetch, len(fetches)),
		maxAborted: maxAborted(c.config.FetchMaxBytes),
	}
	at := map[logUUID]int{}
	for _, p := range fetches {
		p.sent()
		id := uuidOf(p.log)
		e.fetches[logPartition{id, int32(p.partition)}] = p
		i, ok := at[id]
		if !ok {
			i = len(request.Topics)
			at[id] = i
			topic := kmsg.NewFetchRequestTopic()
			topic.TopicID = id
			request.Topics = append(request.Topics, topic)
		}
		partition := kmsg.NewFetchRequestTopicPartition()
		partition.Partition = int32(p.partition)
		partition.FetchOffset = p.offset
		partition.PartitionMaxBytes = int32(p.maxBytes)
		request.Topics[i].Partitions = append(request.Topics[i].Partitions, partition)
	}
	return e
}

// maxAborted limits the aborted transactions that a response may list for each partition. One takes
// two batches in the log, of at least about 70 bytes each.
func maxAborted(fetchMaxBytes int) int { return fetchMaxBytes/64 + 64 }

// fetchResponse is the part of a fetch response for one partition.
type fetchResponse struct {
	code    int16
	end     int64 // last stable offset
	aborted []abortedTransaction
	set     []byte
	log     pipeline.LogID // the id by which the partition was requested
}

// fetchDone is the rest of a response whose partitions have been answered.
type fetchDone struct{ code int16 }

// roomError means that there was no memory for a partition's data.
type roomError struct {
	set  int   // bytes
	need int64 // of memory
}

func (r *roomError) Error() string { return fmt.Sprintf("no memory is free for %d bytes", r.need) }

// oversizedSetError means that a record set in the response exceeds maxSet. header is the received
// part of the first batch's header.
type oversizedSetError struct {
	bytes  int
	header []byte
	end    int64 // of the partition
}

func (o *oversizedSetError) Error() string {
	return fmt.Sprintf("batch of %d bytes: %v", o.bytes, pipeline.ErrOverBudget)
}

func (o *oversizedSetError) Unwrap() error { return pipeline.ErrOverBudget }

// ApiKey implements [protocol.Message].
func (*fetchDone) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Broker implements [protocol.BrokerMessage].
func (e *fetchExchange) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	broker, ok := cluster.Brokers[e.leader]
	if !ok {
		return broker, fmt.Errorf("fetch from broker %d: %w", e.leader, protocol.ErrNoLeader)
	}
	return broker, nil
}

// RawExchange implements [protocol.RawExchanger]. An error closes the connection, so the rest of
// the response need not be read.
func (e *fetchExchange) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if _, err := rw.Write(e.formatter.AppendRequest(nil, e.request, e.correlation)); err != nil {
		return nil, err
	}
	r := readResponse(rw, e.correlation)
	code := e.read(r)
	if r.err == nil && r.left != 0 {
		r.err = errors.New("fetch response is longer than its partitions")
	}
	if r.err != nil {
		return nil, r.err
	}
	return &fetchDone{code}, nil
}

// read reads the body of a fetch response and answers the partitions.
func (e *fetchExchange) read(r *responseReader) (code int16) {
	r.int32() // throttle time
	code = r.int16()
	r.int32() // session id
	for range r.count(len(e.fetches), "topics") {
		var id logUUID
		r.full(id[:])
		for range r.count(len(e.fetches), "partitions") {
			if r.err == nil {
				e.readPartition(r, id)
			}
		}
		r.tags()
	}
	r.tags()
	return code
}

// readPartition reads one partition of the response. It skips unusable data, so that the other
// partitions get theirs.
func (e *fetchExchange) readPartition(r *responseReader, id logUUID) {
	key := logPartition{id, r.int32()}
	p := e.fetches[key]
	if p == nil && r.err == nil {
		r.fail("fetch response has partition %d of log %x, which was not requested or is repeated", key.partition, id)
	}
	if r.err != nil {
		return
	}
	delete(e.fetches, key)
	wanted := p.begin()
	response, err := e.readResponse(r, p, wanted)
	r.tags()
	response.log = p.log
	switch {
	case !wanted:
	case r.err != nil:
		p.finish(nil, r.err)
	case err != nil || response.code != 0 || len(response.set) > 0:
		p.finish(response, err)
	default:
		p.empty(response)
	}
}

// readResponse reads the part of one partition. err concerns that partition alone; errors that end
// the response are in r.
func (e *fetchExchange) readResponse(r *responseReader, p *pendingFetch, wanted bool) (*fetchResponse, error) {
	response := &fetchResponse{code: r.int16()}
	r.int64()                // high watermark
	response.end = r.int64() // last stable offset
	r.int64()                // first offset of the log
	aborted, err := e.readAborted(r)
	response.aborted = aborted
	r.int32()          // preferred read replica
	size := r.length() // -1 is null
	if size > r.left {
		r.fail("fetch response has a record set of %d bytes in %d", size, r.left)
	}
	if size <= 0 || r.err != nil {
		return response, err
	}
	if need := p.need(size, len(aborted)); err == nil && wanted {
		switch {
		case size > p.maxSet:
			header := r.bytes(min(size, batchHeaderBytes))
			r.discard(size - len(header))
			return response, &oversizedSetError{bytes: size, header: header, end: response.end}
		case !p.fund(need):
			err = &roomError{set: size, need: need}
		default:
			response.set = r.bytes(size)
			return response, nil
		}
	}
	r.discard(size)
	return response, err
}

// readAborted reads a list of aborted transactions, or skips it if it is too long.
func (e *fetchExchange) readAborted(r *responseReader) ([]abortedTransaction, error) {
	n := r.length()
	if n <= 0 || r.err != nil {
		return nil, nil // -1 is null
	}
	if n > r.left/16 {
		r.fail("fetch response has %d aborted transactions in %d bytes", n, r.left)
		return nil, nil
	}
	if n > e.maxAborted {
		for i := 0; i < n && r.err == nil; i++ {
			r.discard(16)
			r.tags()
		}
		return nil, fmt.Errorf("response lists %d aborted transactions, more than %d", n, e.maxAborted)
	}
	const usual = 64 // the stated length is not trusted, so the list grows as it is read
	aborted := make([]abortedTransaction, 0, min(n, usual))
	for len(aborted) < n && r.err == nil {
		aborted = append(aborted, abortedTransaction{producer: r.int64(), first: r.int64()})
		r.tags()
	}
	return aborted, nil
}
