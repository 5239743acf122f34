package kafka

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"

	"github.com/eerf-stream/eerf/pipeline"
)

// identities share answers about the identity of logs.
type identities struct {
	mu    sync.Mutex
	known map[identityKey]*knownLog

	version atomic.Int32 // of the metadata requests to send; 0 = not asked yet
}

type identityKey struct {
	topic     string
	partition int // or pipeline.AnyPartition
}

// knownLog is the identity of a topic's log, as a broker or the leader of a partition reported it.
type knownLog struct {
	mu    sync.Mutex // held during the request
	asked time.Time
	id    pipeline.LogID
}

func (i *identities) of(key identityKey) *knownLog {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known[key] == nil {
		i.known[key] = &knownLog{}
	}
	return i.known[key]
}

// forget drops what is known of a topic if it is this id.
func (i *identities) forget(topic string, id pipeline.LogID) {
	known := i.of(identityKey{topic, pipeline.AnyPartition})
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.id == id {
		known.asked = time.Time{}
	}
}

// Identity implements [pipeline.Log]: the topic id (KIP-516). One request answers everyone who waits for it.
func (c *Client) Identity(ctx context.Context, topic string, partition int, asOf time.Time) (pipeline.LogID, error) {
	known := c.identities.of(identityKey{topic, partition})
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.asked.Before(asOf) || known.asked.IsZero() {
		began := time.Now()
		id, err := c.askIdentity(ctx, topic, partition)
		if err != nil {
			return "", err
		}
		known.asked, known.id = began, id
	}
	return known.id, nil
}

func (c *Client) askIdentity(ctx context.Context, topic string, partition int) (id pipeline.LogID, err error) {
	at := place{"identity of", topic, partition}
	err = c.call(ctx, at, c.config.RequestTimeout, func(ctx context.Context) error {
		message, err := c.transport.RoundTrip(ctx, c.requests.Addr, &identityExchange{
			topic: topic, partition: partition, clientID: c.config.ClientID, correlation: c.correlation.Add(2), known: &c.identities.version,
		})
		if err != nil {
			return err
		}
		response := message.(*identityResponse)
		if id = response.id; response.code != 0 {
			return kafkago.Error(response.code)
		}
		return nil
	})
	return id, err
}

// identityExchange asks a broker for the metadata of a topic. kafka-go knows no version with topic ids, so unless that is known, it
// first asks which versions the broker supports.
type identityExchange struct {
	topic       string
	partition   int // its leader is asked; or pipeline.AnyPartition
	clientID    string
	correlation int32 // of the second request; the first has the previous number
	known       *atomic.Int32
}

var (
	_ protocol.BrokerMessage = (*identityExchange)(nil)
	_ protocol.RawExchanger  = (*identityExchange)(nil)
)

type identityResponse struct {
	code int16
	id   pipeline.LogID
}

// Versions of metadata that have topic ids and are read here.
const (
	minIdentityVersion = 10
	maxIdentityVersion = 12
)

// ApiKey implements [protocol.Message].
func (*identityExchange) ApiKey() protocol.ApiKey { return protocol.Metadata }

// ApiKey implements [protocol.Message].
func (*identityResponse) ApiKey() protocol.ApiKey { return protocol.Metadata }

// Broker implements [protocol.BrokerMessage].
func (e *identityExchange) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	if e.partition < 0 {
		return protocol.Broker{ID: -1}, nil // any
	}
	of := fetch.Request{Topics: []fetch.RequestTopic{{Topic: e.topic, Partitions: []fetch.RequestPartition{{Partition: int32(e.partition)}}}}}
	return of.Broker(cluster)
}

// Required implements [protocol.RawExchanger].
func (*identityExchange) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements [protocol.RawExchanger].
func (e *identityExchange) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	version := int16(e.known.Load())
	if version == 0 {
		var err error
		if version, err = newestVersion(rw, protocol.Metadata, e.clientID, e.correlation-1); err != nil {
			return nil, fmt.Errorf("look up versions of metadata: %w", err)
		}
		version = min(version, maxIdentityVersion)
	}
	if version < minIdentityVersion {
		return &identityResponse{}, nil
	}
	response, err := e.ask(rw, version)
	if err != nil {
		version = 0 // brokers may differ while they are replaced one by one
	}
	e.known.Store(int32(version))
	return response, err
}

func (e *identityExchange) ask(rw io.ReadWriter, version int16) (protocol.Message, error) {
	if _, err := rw.Write(e.request(version)); err != nil {
		return nil, err
	}
	r := readResponse(rw, e.correlation)
	r.flexible = true
	r.tags() // of the header
	response := readIdentity(r)
	return response, r.finish()
}

// request encodes a metadata request for the topic, which must not create it.
func (e *identityExchange) request(version int16) []byte {
	to := appendHeader(nil, protocol.Metadata, version, e.correlation, e.clientID)
	to = append(to, 0, 2)                // no tags in the header; one topic
	to = append(to, make([]byte, 16)...) // requested by name, not by id
	to = binary.AppendUvarint(to, uint64(len(e.topic)+1))
	to = append(append(to, e.topic...), 0, 0) // no tags; do not create the topic
	if version == minIdentityVersion {
		to = append(to, 0) // no rights on the cluster
	}
	return framed(append(to, 0, 0)) // no rights on the topic; no tags
}

// readIdentity reads a metadata response up to the id of the first topic.
func readIdentity(r *responseReader) *identityResponse {
	r.int32() // throttle time
	for n := r.length(); n > 0 && r.err == nil; n-- {
		r.int32() // broker
		r.text()  // host
		r.int32() // port
		r.text()  // rack
		r.tags()
	}
	r.text()  // cluster
	r.int32() // controller
	if n := r.length(); n != 1 {
		r.fail("metadata response has %d topics instead of one", n)
	}
	response := &identityResponse{code: r.int16()}
	r.text() // name
	var id logUUID
	r.full(id[:])
	if id != (logUUID{}) {
		response.id = pipeline.LogID(base64.RawURLEncoding.EncodeToString(id[:])) // as the tools of Kafka print it
	}
	return response
}
