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

// requestMaxBytes is the largest request that brokers accept (the default of
// socket.request.max.bytes). On a larger one they cut the connection, which would look like an
// absent broker.
const requestMaxBytes = 100 << 20

// Produce implements [pipeline.Producer]. A record without a time gets the current one. After any
// error but [pipeline.ErrMessageTooLarge] the records may have been written; see the package
// documentation.
func (c *Client) Produce(
	ctx context.Context,
	topic string,
	partition int,
	records []pipeline.Record,
) (firstOffset int64, err error) {
	return c.produce(ctx, topic, partition, records, unsequenced, anyConnection)
}

// anyConnection allows every connection.
const anyConnection = math.MaxInt64

// errNewConnection means that the request was not sent because the connection is too new.
var errNewConnection = errors.New("the connection is newer than the last check of the partition")

// produce sends numbered records on connections up to the given number; on a later one it fails
// with [errNewConnection].
func (c *Client) produce(
	ctx context.Context,
	topic string,
	partition int,
	records []pipeline.Record,
	as sequence,
	connection int64,
) (firstOffset int64, err error) {
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
			topic:       topic,
			partition:   int32(partition),
			clientID:    c.config.ClientID,
			correlation: c.correlation.Add(1),
			timeout:     int32(c.config.RequestTimeout / 2 / time.Millisecond),
			batch:       batch,
			batchBytes:  batchBytes,
			allows:      func(conn addressed) bool { return connection == anyConnection || c.conns.number(conn) <= connection },
		})
		if err != nil {
			return err
		}
		firstOffset, err = writtenAt(message.(*produced).Response)
		return err
	})
	if errors.Is(err, pipeline.ErrMessageTooLarge) {
		err = fmt.Errorf("%w (%d bytes)", err, size)
	}
	if err != nil {
		return 0, err
	}
	return firstOffset, nil
}

// produceExchange is a produce request of one batch to one partition, encoded here because kafka-go
// would copy the batch before sending it.
type produceExchange struct {
	topic       string
	partition   int32
	clientID    string
	correlation int32
	timeout     int32    // for replication, in milliseconds
	batch       [][]byte // pieces
	batchBytes  int
	allows      func(addressed) bool // reports whether to send on a connection
}

var (
	_ protocol.BrokerMessage = (*produceExchange)(nil)
	_ protocol.RawExchanger  = (*produceExchange)(nil)
)

// produced is a separate type because the exchange may end without a response.
type produced struct{ *produce.Response }

// produceVersion is the newest version whose response kafka-go can read.
const produceVersion = 8

// ApiKey implements [protocol.Message].
func (*produceExchange) ApiKey() protocol.ApiKey { return protocol.Produce }

// Broker implements [protocol.BrokerMessage].
func (e *produceExchange) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	same := produce.Request{Topics: []produce.RequestTopic{{
		Topic: e.topic, Partitions: []produce.RequestPartition{{Partition: e.partition}},
	}}}
	return same.Broker(cluster)
}

// Required implements [protocol.RawExchanger].
func (*produceExchange) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements [protocol.RawExchanger]. An error closes the connection.
func (e *produceExchange) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if conn, ok := rw.(addressed); ok && !e.allows(conn) {
		return &produced{}, nil
	}
	if err := e.write(rw); err != nil {
		return nil, err
	}
	id, response, err := protocol.ReadResponse(rw, protocol.Produce, produceVersion)
	if err == nil && id != e.correlation {
		err = fmt.Errorf("response has correlation id %d instead of %d", id, e.correlation)
	}
	if err != nil {
		return nil, err
	}
	return &produced{response.(*produce.Response)}, nil
}

// write sends the request: the head with the first piece of the batch, then the other pieces
// without copies.
func (e *produceExchange) write(to io.Writer) error {
	be := binary.BigEndian
	head := be.AppendUint32(nil, 0) // length, filled in later
	head = be.AppendUint16(be.AppendUint16(head, uint16(protocol.Produce)), produceVersion)
	head = be.AppendUint32(head, uint32(e.correlation))
	head = append(be.AppendUint16(head, uint16(len(e.clientID))), e.clientID...)
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

// writtenAt returns the offset or error in a response, which has a single partition; nil = the
// request was not sent.
func writtenAt(response *produce.Response) (firstOffset int64, err error) {
	if response == nil {
		return 0, errNewConnection
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return 0, errors.New("produce response is not for the requested partition")
	}
	partition := &response.Topics[0].Partitions[0]
	switch {
	case partition.ErrorCode == 0:
		return partition.BaseOffset, nil
	case partition.ErrorMessage != "":
		return 0, fmt.Errorf("%w: %s", kafkago.Error(partition.ErrorCode), partition.ErrorMessage)
	}
	return 0, kafkago.Error(partition.ErrorCode)
}
