package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/segmentio/kafka-go/sasl"

	"github.com/eerf-stream/eerf/pipeline/oauth"
)

// bearer is the mechanism OAUTHBEARER (RFC 7628, KIP-255, KIP-342).
type bearer struct {
	tokens     *oauth.Source
	extensions string // as encoded in the request
}

var _ sasl.Mechanism = (*bearer)(nil)

func newBearer(tokens *oauth.Source, extensions []string) *bearer {
	b := &bearer{tokens: tokens}
	for _, pair := range extensions {
		b.extensions += pair + "\x01"
	}
	return b
}

// Name is the name of the mechanism on the wire.
func (*bearer) Name() string { return "OAUTHBEARER" }

// Start begins an authentication with the current token.
func (b *bearer) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	token, err := b.tokens.Token(ctx)
	if err != nil {
		return nil, nil, err
	}
	request := "n,,\x01auth=Bearer " + token.Bearer() + "\x01" + b.extensions + "\x01"
	return &bearerExchange{tokens: b.tokens, token: token}, []byte(request), nil
}

// bearerExchange is one authentication with a token.
type bearerExchange struct {
	tokens *oauth.Source
	token  oauth.Token
	reason string // from a broker that refuses the token
}

// Next is done if the broker accepts the token. A refusal has to be answered before the broker
// returns its error.
func (b *bearerExchange) Next(_ context.Context, challenge []byte) (done bool, response []byte, err error) {
	if len(challenge) == 0 {
		return true, nil, nil
	}
	if b.reason != "" {
		return false, nil, errors.New("authentication: the broker refuses the token, but does not end the exchange")
	}
	b.reason = string(challenge)
	return false, []byte("\x01"), nil
}

// refused implements rotatingCredential. Brokers give few details, so the error describes the
// token.
func (b *bearerExchange) refused(broker error) error {
	b.tokens.Refused(b.token)
	reason := b.reason
	if reason == "" || strings.Contains(broker.Error(), reason) {
		reason = "the broker gives no reason"
	}
	return fmt.Errorf("%w: the broker does not accept %v: %s", broker, b.token, reason)
}
