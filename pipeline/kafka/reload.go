package kafka

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/segmentio/kafka-go/sasl"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline/oauth"
)

// The files of authorities, certificates and passwords are reread for every new connection, so that
// renewing them needs no restart. If they cannot be used at that moment, for example while one of
// two is being written, the connection uses the previous contents.

// renewed is the last usable contents of files.
type renewed[T any] struct {
	read func() (T, error)
	log  *zap.Logger

	mu   sync.Mutex // guards last
	last T
}

// newRenewed reads for the first time, and fails if that fails.
func newRenewed[T any](log *zap.Logger, read func() (T, error)) (*renewed[T], error) {
	first, err := read()
	if err != nil {
		return nil, err
	}
	return &renewed[T]{read: read, log: log, last: first}, nil
}

func (r *renewed[T]) now() T {
	next, err := r.read()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.log.Warn("cannot read the TLS and password files; using their previous contents", zap.Error(err))
		return r.last
	}
	r.last = next
	return next
}

// encryption encrypts connections.
type encryption struct{ config *renewed[*tls.Config] }

// newEncryption reads the files; nil means no encryption.
func newEncryption(settings TLS, log *zap.Logger) (*encryption, error) {
	if !settings.Enabled {
		return nil, nil
	}
	config, err := newRenewed(log, settings.Load)
	if err != nil {
		return nil, err
	}
	return &encryption{config}, nil
}

// client does the TLS handshake with the broker at address, and closes the connection if it fails.
func (e *encryption) client(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	config := e.config.now()
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			conn.Close()
			return nil, fmt.Errorf("broker address: %w", err)
		}
		config = config.Clone()
		config.ServerName = host
	}
	encrypted := tls.Client(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return encrypted, nil
}

// credentials is a mechanism whose password is reread for every connection.
type credentials struct {
	name      string
	mechanism *renewed[sasl.Mechanism]
}

// newCredentials reads the password; nil means no authentication. A file that is not regular, such
// as a pipe, is read once.
func newCredentials(settings SASL, log *zap.Logger) (sasl.Mechanism, error) {
	switch settings.Mechanism {
	case "":
		return nil, nil
	case oauthBearer:
		tokens, err := oauth.Open(settings.OAuth, log)
		if err != nil {
			return nil, fmt.Errorf("sasl.oauth.%w", err)
		}
		return newBearer(tokens, settings.OAuth.Extensions), nil
	}
	if settings.PasswordFile == "" {
		return settings.mechanism(settings.Password)
	}
	if info, err := os.Stat(settings.PasswordFile); err != nil || !info.Mode().IsRegular() {
		return settings.fromFile()
	}
	mechanism, err := newRenewed(log, settings.fromFile)
	if err != nil {
		return nil, err
	}
	return &credentials{mechanism.last.Name(), mechanism}, nil
}

// Name is the name of the mechanism on the wire.
func (c *credentials) Name() string { return c.name }

// Start begins an authentication with the current password.
func (c *credentials) Start(ctx context.Context) (sasl.StateMachine, []byte, error) {
	return c.mechanism.now().Start(ctx)
}
