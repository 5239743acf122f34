package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/eerf-stream/eerf/pipeline"
)

var errClosed = pipeline.Permanent(errors.New("kafka client is closed"))

// isOtherLog reports whether the broker has no log, or a different one, under the id of a topic.
func isOtherLog(code kafkago.Error) bool {
	return code == kafkago.UnknownTopicID || code == kafkago.InconsistentTopicID
}

// isDisconnected reports whether the broker had closed the connection.
func isDisconnected(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isMisrouted reports whether a request may have failed only because of an old view of the cluster.
func isMisrouted(err error) bool {
	for _, target := range []error{
		protocol.ErrNoTopic, protocol.ErrNoPartition, protocol.ErrNoLeader,
		kafkago.UnknownTopicOrPartition, kafkago.NotLeaderForPartition, kafkago.LeaderNotAvailable,
		kafkago.BrokerNotAvailable, kafkago.Unknown, // ListOffsets answers Unknown if routing failed
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// deniedCodes are errors that stay the same until credentials or rights change.
var deniedCodes = []kafkago.Error{
	kafkago.TopicAuthorizationFailed, kafkago.GroupAuthorizationFailed, kafkago.ClusterAuthorizationFailed,
	kafkago.TransactionalIDAuthorizationFailed,
	kafkago.SASLAuthenticationFailed, kafkago.UnsupportedSASLMechanism, kafkago.IllegalSASLState,
}

// permanentCodes are errors that stay the same until the request or the broker's configuration
// changes.
var permanentCodes = []kafkago.Error{
	kafkago.InvalidTopic, kafkago.InvalidGroupId, kafkago.InvalidSessionTimeout, kafkago.InvalidPartitionNumber,
	kafkago.InvalidReplicationFactor, kafkago.InvalidReplicaAssignment, kafkago.InvalidConfiguration,
	kafkago.InvalidRequest, kafkago.PolicyViolation, kafkago.UnsupportedVersion, kafkago.InvalidRequiredAcks,
	kafkago.InconsistentGroupProtocol, kafkago.GroupMaxSizeReached, kafkago.UnsupportedCompressionType,
	kafkago.InvalidTimestamp, kafkago.InvalidRecord,
}

// timeoutError is a dial or a request that was not answered in time. It does not wrap its cause,
// which callers would take for the end of their context.
type timeoutError struct{ text string }

func (e *timeoutError) Error() string { return e.text }

func (e *timeoutError) Is(target error) bool { return target == syscall.ETIMEDOUT }

// whyEnded returns ctx.Err(), or the error of a deadline that has passed but not yet ended ctx:
// dials have their own timers.
func whyEnded(ctx context.Context) error {
	if deadline, has := ctx.Deadline(); has && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

// explain converts an error to an error of package pipeline and adds its place.
func (c *Client) explain(ctx context.Context, at place, err error) error {
	if err == nil {
		return nil
	}
	if ended := whyEnded(ctx); ended != nil {
		return fmt.Errorf("%v: %w", at, ended)
	}
	if c.ctx.Err() != nil {
		return fmt.Errorf("%v: %w", at, errClosed)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%v: %w", at, &timeoutError{err.Error()})
	}
	var code kafkago.Error
	switch {
	case isDisconnected(err):
		return fmt.Errorf("%v: the broker closed the connection; if this persists, check the tls and sasl settings: %w",
			at, err)
	case !errors.As(err, &code):
	case slices.Contains(deniedCodes, code):
		return pipeline.Permanent(fmt.Errorf("%v: %w: %w", at, pipeline.ErrDenied, err))
	case code == kafkago.UnknownTopicOrPartition:
		return fmt.Errorf("%v: %w", at, pipeline.ErrUnknownTopic)
	case code == kafkago.MessageSizeTooLarge || code == kafkago.RecordListTooLarge:
		return fmt.Errorf("%v: %w", at, pipeline.ErrMessageTooLarge)
	case slices.Contains(permanentCodes, code):
		return pipeline.Permanent(fmt.Errorf("%v: %w", at, err))
	}
	return fmt.Errorf("%v: %w", at, err)
}
