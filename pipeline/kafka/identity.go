package kafka

import (
	"context"
	"encoding/base64"
	"sync"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// identities caches the identities of logs.
type identities struct {
	mu    sync.Mutex
	known map[identityKey]*knownLog
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

// forget drops the cached id of a topic if it is the given one.
func (i *identities) forget(topic string, id pipeline.LogID) {
	known := i.of(identityKey{topic, pipeline.AnyPartition})
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.id == id {
		known.asked = time.Time{}
	}
}

// Identity implements [pipeline.Log]: it returns the topic id (KIP-516). One request answers all
// waiting callers.
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
	err = c.call(ctx, place{"identity of", topic, partition}, c.config.RequestTimeout, func(ctx context.Context) error {
		found, err := c.topic(ctx, topic, partition)
		if err == nil && found.TopicID == (logUUID{}) {
			err = errOldBrokers
		}
		id = pipeline.LogID(base64.RawURLEncoding.EncodeToString(found.TopicID[:])) // as Kafka's tools print it
		return err
	})
	return id, err
}

// logUUID is the id of a topic on the wire.
type logUUID = [16]byte

// uuidOf parses the LogID of a topic.
func uuidOf(id pipeline.LogID) (uuid logUUID) {
	_, _ = base64.RawURLEncoding.Decode(uuid[:], []byte(id)) // it comes from askIdentity
	return uuid
}
