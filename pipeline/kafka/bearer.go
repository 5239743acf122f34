package kafka

import (
	"context"
	"fmt"
	"strings"

	"github.com/segmentio/kafka-go/sasl"

	"github.com/eerf-stream/eerf/pipeline/oauth"
)

// bearer is the mechanism OAUTHBEARER (RFC 7628, KIP-255, KIP-342).
type bearer struct {
	tokens     *oauth.Source
	extensions string // in the form in which they are sent
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

// Start begins an authentication with the present token.
func (b *bearer) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	token, err := b.tokens.Token(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &bearing{of: b, token: token}, []byte("n,,\x01auth=Bearer " + token.Bearer() + "\x01" + b.extensions + "\x01"), nil
}

// bearing is an authentication with a token.
type bearing struct {
	of    *bearer
	token oauth.Token
	said  string // by a broker that refuses it
}

// Next is done where the broker accepts the token. It has to answer a refusal, to which the broker responds with an error.
func (b *bearing) Next(_ context.Context, challenge []byte) (done bool, response []byte, err error) {
	if len(challenge) == 0 {
		return true, nil, nil
	}
	if b.said != "" {
		return false, nil, fmt.Errorf("authentication: the broker refuses the token, and goes on")
	}
	b.said = string(challenge)
	return false, []byte("\x01"), nil
}

// refused explains a refusal: brokers say little more than that, so the error has what the token says of itself.
func (b *bearing) refused(broker error) error {
	b.of.tokens.Refused(b.token)
	said := b.said
	if said == "" || strings.Contains(broker.Error(), said) {
		said = "it does not say why"
	}
	return fmt.Errorf("%w: the broker does not accept %v: %s", broker, b.token, said)
}
