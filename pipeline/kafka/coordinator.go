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

// nobody identifies a writer without an identity.
var nobody = identity{-1, -1}

// errRefused means that the cluster does not support or permit numbered writes.
var errRefused = errors.New("refused")

// coordinatorPatience is how long the client waits for an unavailable coordinator. Its first use
// makes the cluster create a topic, which takes a second; on a misconfigured cluster that never
// succeeds.
const coordinatorPatience = 20 * time.Second

// transactionTimeout bounds a transaction of a process that died. It holds no records.
const transactionTimeout = 10 * time.Second

// identify requests an identity. With a transactional id it belongs to the most recent requester,
// and known has to be the caller's previous identity, or nobody.
func (c *Client) identify(
	ctx context.Context,
	at place,
	transactionalID string,
	known identity,
) (now identity, err error) {
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

// mark writes a marker of a new epoch to each target, after which the leaders refuse earlier
// epochs. It is the marker of an aborted transaction without records, which readers do not see. The
// coordinator assigns the next identity once all markers are written.
func (c *Client) mark(
	ctx context.Context,
	at place,
	transactionalID string,
	as identity,
	targets []pipeline.Target,
) error {
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

// errNotAttempted is the response for a partition that was not added because another one was
// refused.
const errNotAttempted = kafkago.Error(55)

// firstFault returns the reason why no partitions were added: a single refused one prevents all.
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

// unavailableCodes are the errors of a coordinator that is starting or moving.
var unavailableCodes = []kafkago.Error{
	kafkago.GroupLoadInProgress, kafkago.GroupCoordinatorNotAvailable, kafkago.NotCoordinatorForGroup,
}

// refusedCodes are the errors of a cluster that does not number writes, at least not for these
// credentials.
var refusedCodes = []kafkago.Error{
	kafkago.TransactionalIDAuthorizationFailed, kafkago.ClusterAuthorizationFailed, kafkago.UnsupportedVersion,
	kafkago.InvalidRequest, kafkago.InvalidTransactionTimeout, kafkago.UnsupportedForMessageFormat,
}

// coordinate sends a request to a coordinator, and retries while it is moving or busy with the
// previous request.
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
			return fmt.Errorf("%w: no transaction coordinator within %v: %w", errRefused, coordinatorPatience, err)
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

// coordinations limits concurrent requests to coordinators: many partitions are taken over
// together, and each request occupies a connection.
const coordinations = 8

// atCoordinator sends a request within the limit of concurrent ones.
func (c *Client) atCoordinator(ctx context.Context, at place, request func(context.Context) error) error {
	if err := c.coordinating.Acquire(ctx, 1); err != nil {
		return c.explain(ctx, at, err)
	}
	defer c.coordinating.Release(1)
	return c.call(ctx, at, c.config.RequestTimeout, request)
}
