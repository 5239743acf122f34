package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/eerf-stream/eerf/pipeline"
)

// identity is how brokers identify a writer.
type identity struct {
	producer int64
	epoch    int16
}

// nobody is the identity of a writer that has none yet.
var nobody = identity{-1, -1}

// errRefused marks that the cluster does not offer, or does not allow, what numbered writes need.
var errRefused = errors.New("refused")

// coordinatorPatience is how long a coordinator may be unavailable before it is given up. The first use of one makes
// the cluster create a topic, which takes a second; on a misconfigured cluster that never succeeds.
const coordinatorPatience = 20 * time.Second

// transactionTimeout bounds a transaction that a process began before it died. It holds no records.
const transactionTimeout = 10 * time.Second

// identify asks for an identity. With a transactional id it belongs to the last to ask, and known has to be the
// caller's identity until now, or nobody.
func (c *Client) identify(ctx context.Context, at place, transactionalID string, known identity) (now identity, err error) {
	err = c.coordinate(ctx, at, func(ctx context.Context) error {
		response, err := c.requests.InitProducerID(ctx, &kafkago.InitProducerIDRequest{
			TransactionalID: transactionalID, TransactionTimeoutMs: int(transactionTimeout.Milliseconds()),
			ProducerID: int(known.producer), ProducerEpoch: int(known.epoch),
		})
		if err != nil {
			return err
		}
		now = identity{int64(response.Producer.ProducerID), int16(response.Producer.ProducerEpoch)}
		return response.Error
	})
	return now, err
}

// mark writes a marker of a new epoch to each target, after which the leaders accept nothing from an earlier epoch. It
// is that of an aborted transaction without records, which readers do not see. The next identity is given out once all
// markers are written.
func (c *Client) mark(ctx context.Context, at place, transactionalID string, as identity, targets []pipeline.Target) error {
	topics := map[string][]kafkago.AddPartitionToTxn{}
	for _, t := range targets {
		topics[t.Topic] = append(topics[t.Topic], kafkago.AddPartitionToTxn{Partition: t.Partition})
	}
	err := c.coordinate(ctx, at, func(ctx context.Context) error {
		response, err := c.requests.AddPartitionsToTxn(ctx, &kafkago.AddPartitionsToTxnRequest{
			TransactionalID: transactionalID, ProducerID: int(as.producer), ProducerEpoch: int(as.epoch), Topics: topics,
		})
		if err != nil {
			return err
		}
		return firstFault(response)
	})
	if err != nil {
		return err
	}
	return c.coordinate(ctx, at, func(ctx context.Context) error {
		response, err := c.requests.EndTxn(ctx, &kafkago.EndTxnRequest{
			TransactionalID: transactionalID, ProducerID: int(as.producer), ProducerEpoch: int(as.epoch), Committed: false,
		})
		if err != nil {
			return err
		}
		return response.Error
	})
}

// errNotAttempted is the response for a partition next to one that was refused.
const errNotAttempted = kafkago.Error(55)

// firstFault returns why partitions were not added: if one cannot be, none is.
func firstFault(response *kafkago.AddPartitionsToTxnResponse) (fault error) {
	for topic, partitions := range response.Topics {
		for _, p := range partitions {
			if p.Error != nil && (fault == nil || errors.Is(fault, errNotAttempted)) {
				fault = fmt.Errorf("%s/%d: %w", topic, p.Partition, p.Error)
			}
		}
	}
	return fault
}

// unavailableCodes are responses of a coordinator that is not there yet, or no longer.
var unavailableCodes = []kafkago.Error{
	kafkago.GroupLoadInProgress, kafkago.GroupCoordinatorNotAvailable, kafkago.NotCoordinatorForGroup,
}

// refusedCodes are responses of a cluster that does not number writes, at least not for these credentials.
var refusedCodes = []kafkago.Error{
	kafkago.TransactionalIDAuthorizationFailed, kafkago.ClusterAuthorizationFailed, kafkago.UnsupportedVersion,
	kafkago.InvalidRequest, kafkago.InvalidTransactionTimeout, kafkago.UnsupportedForMessageFormat,
}

// coordinate sends a request to a coordinator, and again while that is moving or still busy with the previous request.
func (c *Client) coordinate(ctx context.Context, at place, request func(context.Context) error) error {
	const first, most = 5 * time.Millisecond, 500 * time.Millisecond
	began := time.Now()
	for wait := first; ; wait = min(2*wait, most) {
		err := c.atCoordinator(ctx, at, request)
		var code kafkago.Error
		if err == nil || !errors.As(err, &code) {
			return err
		}
		unavailable := slices.Contains(unavailableCodes, code)
		switch {
		case slices.Contains(refusedCodes, code):
			return fmt.Errorf("%w: %w", errRefused, err)
		case !unavailable && code != kafkago.ConcurrentTransactions:
			return err
		case time.Since(began) > coordinatorPatience && unavailable:
			return fmt.Errorf("%w: no coordinator of transactions within %v: %w", errRefused, coordinatorPatience, err)
		case time.Since(began) > coordinatorPatience:
			return err
		}
		select {
		case <-ctx.Done():
			return c.explain(ctx, at, ctx.Err())
		case <-time.After(wait):
		}
	}
}

// coordinations is how many requests may be with coordinators at a time: many partitions are taken over together, and
// each request under way has a connection.
const coordinations = 8

// atCoordinator sends a request when its turn comes.
func (c *Client) atCoordinator(ctx context.Context, at place, request func(context.Context) error) error {
	if err := c.coordinating.Acquire(ctx, 1); err != nil {
		return c.explain(ctx, at, err)
	}
	defer c.coordinating.Release(1)
	return c.call(ctx, at, c.config.RequestTimeout, request)
}
