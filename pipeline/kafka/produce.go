package kafka

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/produce"

	"github.com/eerf-stream/eerf/pipeline"
)

// requestMaxBytes is the largest request that brokers accept (the default of socket.request.max.bytes). On a larger one
// they cut the connection, which would look like an absent broker.
const requestMaxBytes = 100 << 20

// Produce implements [pipeline.Producer]. A record without a time gets the current one. After any error but
// [pipeline.ErrMessageTooLarge] the records may have been written; see the package documentation.
func (c *Client) Produce(ctx context.Context, topic string, partition int, records []pipeline.Record) (firstOffset int64, err error) {
	return c.produce(ctx, topic, partition, records, unsequenced, anyConnection)
}

// anyConnection allows every connection.
const anyConnection = math.MaxInt64

// errNewConnection means that nothing was sent.
var errNewConnection = errors.New("the connection is another one")

// produce sends numbered records on connections up to the given number; on a later one it fails with [errNewConnection].
func (c *Client) produce(ctx context.Context, topic string, partition int, records []pipeline.Record, as sequence,
	connection int64) (firstOffset int64, err error) {
	at := place{"produce to", topic, partition}
	if len(records) == 0 {
		return 0, pipeline.Permanent(fmt.Errorf("%v: no records", at))
	}
	size := 0
	for i := range records {
		size += records[i].Size()
	}
	if size > requestMaxBytes {
		return 0, fmt.Errorf("%v: %d bytes in one request: %w", at, size, pipeline.ErrMessageTooLarge)
	}
	batch, batchBytes, err := encodeBatch(records, time.Now(), c.config.Compression, as)
	if err != nil {
		return 0, pipeline.Permanent(fmt.Errorf("%v: %w", at, err))
	}
	err = c.call(ctx, at, c.config.RequestTimeout, func(ctx context.Context) error {
		message, err := c.transport.RoundTrip(ctx, c.requests.Addr, &produceExchange{
			topic: topic, partition: int32(partition), clientID: c.config.ClientID, correlation: c.correlation.Add(1),
			timeout: int32(c.config.RequestTimeout / 2 / time.Millisecond), batch: batch, batchBytes: batchBytes,
			allows: func(conn ended) bool { return connection == anyConnection || c.conns.number(conn) <= connection },
		})
		if err != nil {
			return err
		}
		response := message.(*produceResponse)
		firstOffset = response.firstOffset
		return response.err
	})
	if errors.Is(err, pipeline.ErrMessageTooLarge) {
		err = fmt.Errorf("%w (%d bytes)", err, size)
	}
	if err != nil {
		return 0, err
	}
	return firstOffset, nil
}

// produceExchange is a produce request of one batch to one partition, encoded here because kafka-go would copy the
// batch before sending it.
type produceExchange struct {
	topic       string
	partition   int32
	clientID    string
	correlation int32
	timeout     int32    // for replication, in milliseconds
	batch       [][]byte // pieces
	batchBytes  int
	version     int16
	allows      func(ended) bool // whether to send on a connection
}

var (
	_ protocol.BrokerMessage = (*produceExchange)(nil)
	_ protocol.RawExchanger  = (*produceExchange)(nil)
)

// produceResponse is the part of a produce response about the partition.
type produceResponse struct {
	firstOffset int64
	err         error
}

// Versions of produce requests written here: from record batches (0.11) to the newest that kafka-go knows, which all
// current brokers still accept.
const (
	minProduceVersion = 3
	maxProduceVersion = 8
)

// ApiKey implements [protocol.Message].
func (*produceExchange) ApiKey() protocol.ApiKey { return protocol.Produce }

// ApiKey implements [protocol.Message].
func (*produceResponse) ApiKey() protocol.ApiKey { return protocol.Produce }

// Broker implements [protocol.BrokerMessage].
func (e *produceExchange) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	same := produce.Request{Topics: []produce.RequestTopic{{
		Topic: e.topic, Partitions: []produce.RequestPartition{{Partition: e.partition}},
	}}}
	return same.Broker(cluster)
}

// Required implements [protocol.RawExchanger].
func (e *produceExchange) Required(versions map[protocol.ApiKey]int16) bool {
	e.version = versions[protocol.Produce]
	return true
}

// RawExchange implements [protocol.RawExchanger]. An error closes the connection, so the response need not be read to
// its end.
func (e *produceExchange) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if e.version < minProduceVersion || e.version > maxProduceVersion {
		return nil, fmt.Errorf("broker offers version %d of produce, %d to %d are understood",
			e.version, minProduceVersion, maxProduceVersion)
	}
	if conn, ok := rw.(ended); ok && !e.allows(conn) {
		return &produceResponse{err: errNewConnection}, nil
	}
	if err := e.write(rw); err != nil {
		return nil, err
	}
	r := readResponse(rw, e.correlation)
	response := e.read(r)
	if r.err == nil && r.left != 0 {
		r.fail("produce response has more than the partition written to")
	}
	if r.err != nil {
		return nil, r.err
	}
	return response, nil
}

// write sends the request: the head with the first piece of the batch, then the other pieces from where they lie.
func (e *produceExchange) write(to io.Writer) error {
	be := binary.BigEndian
	head := be.AppendUint32(nil, 0) // length, filled in later
	head = appendHeader(head, protocol.Produce, e.version, e.correlation, e.clientID)
	head = be.AppendUint16(head, ^uint16(0)) // no transactional id
	head = be.AppendUint16(head, ^uint16(0)) // acknowledged by all in-sync replicas
	head = be.AppendUint32(head, uint32(e.timeout))
	head = be.AppendUint16(be.AppendUint32(head, 1), uint16(len(e.topic)))
	head = append(head, e.topic...)
	head = be.AppendUint32(be.AppendUint32(head, 1), uint32(e.partition))
	head = be.AppendUint32(head, uint32(e.batchBytes))
	be.PutUint32(head, uint32(len(head)-4+e.batchBytes))
	if _, err := to.Write(append(head, e.batch[0]...)); err != nil {
		return err
	}
	for _, piece := range e.batch[1:] {
		if _, err := to.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// read reads the body of a produce response for one partition of one topic.
func (e *produceExchange) read(r *responseReader) *produceResponse {
	if topics := r.int32(); topics != 1 {
		r.fail("produce response has %d topics instead of one", topics)
	}
	r.skip(int(r.int16())) // topic name
	if partitions := r.int32(); partitions != 1 {
		r.fail("produce response has %d partitions instead of one", partitions)
	}
	r.int32() // partition
	code := kafkago.Error(r.int16())
	response := &produceResponse{firstOffset: r.int64()}
	r.int64() // time of the append
	if e.version >= 5 {
		r.int64() // first offset that the partition holds
	}
	message := ""
	if e.version >= 8 {
		for n := r.int32(); n > 0 && r.err == nil; n-- { // errors of single records
			r.int32()
			r.skip(int(r.int16()))
		}
		if n := int(r.int16()); n > 0 && r.err == nil {
			message = string(r.bytes(n))
		}
	}
	r.int32() // throttle time
	switch {
	case code != 0 && message != "":
		response.err = fmt.Errorf("%w: %s", code, message)
	case code != 0:
		response.err = code
	}
	return response
}
