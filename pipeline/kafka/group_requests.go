package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Versions of the requests of group members. Kafka 3.1 supports them, and they carry the names of
// members, which kafka-go's own requests lack or encode wrongly.
const (
	joinVersion      = 7
	syncVersion      = 5
	heartbeatVersion = 4
	leaveVersion     = 4
)

// kmsgExchange is a request that franz-go encodes and kafka-go sends, to the broker that the
// embedding type selects.
type kmsgExchange struct {
	request     kmsg.Request
	formatter   *kmsg.RequestFormatter
	correlation int32
}

var _ protocol.RawExchanger = (*kmsgExchange)(nil)

func (c *Client) exchange(request kmsg.Request) kmsgExchange {
	return kmsgExchange{request, c.formatter, c.correlation.Add(1)}
}

// exchanged is the response.
type exchanged struct{ kmsg.Response }

// ApiKey implements [protocol.Message].
func (e *kmsgExchange) ApiKey() protocol.ApiKey { return protocol.ApiKey(e.request.Key()) }

// ApiKey implements [protocol.Message].
func (r *exchanged) ApiKey() protocol.ApiKey { return protocol.ApiKey(r.Key()) }

// Required implements [protocol.RawExchanger].
func (*kmsgExchange) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements [protocol.RawExchanger]: it sends the request and reads its response. An
// error closes the connection.
func (e *kmsgExchange) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if _, err := rw.Write(e.formatter.AppendRequest(nil, e.request, e.correlation)); err != nil {
		return nil, err
	}
	body, err := readResponse(rw, e.correlation).rest()
	if err != nil {
		return nil, err
	}
	response := e.request.ResponseKind()
	if err := response.ReadFrom(body); err != nil {
		return nil, fmt.Errorf("%s response: %w", kmsg.NameForKey(e.request.Key()), err)
	}
	return &exchanged{response}, nil
}

// groupExchange is a request to the coordinator of a group.
type groupExchange struct {
	kmsgExchange
	group string
}

var _ protocol.GroupMessage = (*groupExchange)(nil)

// Group implements [protocol.GroupMessage].
func (e *groupExchange) Group() string { return e.group }

// askCoordinator sends a request of a group member and waits for its response until the limit. The
// caller checks the error code of the response.
func askCoordinator[R kmsg.Response](
	ctx context.Context,
	c *Client,
	at place,
	group string,
	request kmsg.Request,
	limit time.Duration,
) (response R, err error) {
	err = c.call(ctx, at, limit, func(ctx context.Context) error {
		message, err := c.transport.RoundTrip(ctx, c.requests.Addr, &groupExchange{c.exchange(request), group})
		if err == nil {
			response = message.(*exchanged).Response.(R)
		}
		return err
	})
	return response, err
}

// membership identifies a member to its coordinator. instance is empty for a dynamic member, id
// until the coordinator has assigned one.
type membership struct {
	instance, id string
}

// name is the instance as encoded in requests.
func (m membership) name() *string {
	if m.instance == "" {
		return nil
	}
	return &m.instance
}

// coded returns the error of a response code, or nil.
func coded(code int16) error {
	if code == 0 {
		return nil
	}
	return kafkago.Error(code)
}

// isAny reports whether an error is one of the given codes.
func isAny(err error, codes ...kafkago.Error) bool {
	for _, code := range codes {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}
