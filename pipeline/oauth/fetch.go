package oauth

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/eerf-stream/eerf/pipeline"
)

// origin fetches tokens.
type origin struct {
	name  string // in errors
	fetch func(ctx context.Context) (Token, error)
}

func (c Config) origin() origin {
	switch {
	case c.TokenFile != "":
		return origin{"token_file " + c.TokenFile, func(context.Context) (Token, error) { return fromFile(c.TokenFile) }}
	case len(c.TokenCommand) > 0:
		return origin{"token_command " + c.TokenCommand[0], func(ctx context.Context) (Token, error) {
			return fromCommand(ctx, c.TokenCommand)
		}}
	}
	e := &endpoint{config: c, client: clientcredentials.Config{
		ClientID: c.ClientID, TokenURL: c.TokenEndpoint, Scopes: strings.Fields(c.Scope), EndpointParams: url.Values{},
	}}
	for _, pair := range Pairs(c.Parameters) {
		e.client.EndpointParams.Add(pair[0], pair[1])
	}
	return origin{pipeline.PrintableURL(c.TokenEndpoint), e.fetch}
}

const maxTokenBytes = 64 << 10

func fromFile(path string) (Token, error) {
	file, err := os.Open(path)
	if err != nil {
		return Token{}, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxTokenBytes))
	if err != nil {
		return Token{}, err
	}
	token, err := tokenOf(string(text), 0)
	if err != nil {
		return Token{}, fmt.Errorf("the file holds %w", err)
	}
	return token, nil
}

// fromCommand runs a program. Its standard error is quoted if it fails.
func fromCommand(ctx context.Context, command []string) (Token, error) {
	const grace = time.Second // for child processes that keep its output open
	var out, complaint capped
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.Stdout = &out
	run.Stderr = &complaint
	run.WaitDelay = grace
	err := run.Run()
	switch {
	case ctx.Err() != nil:
		return Token{}, ctx.Err()
	case err != nil:
		return Token{}, fmt.Errorf("%w: %q", err, visible(complaint.String(), strings.TrimSpace(out.String())))
	}
	token, err := tokenOf(out.String(), 0)
	if err != nil {
		return Token{}, fmt.Errorf("it printed %w", err)
	}
	return token, nil
}

// capped keeps the beginning of its input.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	c.Buffer.Write(p[:min(len(p), maxTokenBytes-c.Len())])
	return len(p), nil
}

// endpoint requests tokens by client credentials.
type endpoint struct {
	config Config
	client clientcredentials.Config // remembers after the first success where the endpoint expects the secret
}

// fetch sends one request; before the first success up to two, with the secret in the header and in
// the form.
func (e *endpoint) fetch(ctx context.Context) (Token, error) {
	secret, err := pipeline.ReadSecret(e.config.ClientSecretFile)
	if err != nil {
		return Token{}, fmt.Errorf("client_secret_file: %w", err)
	}
	e.client.ClientSecret = secret
	transport, err := e.transport()
	if err != nil {
		return Token{}, err
	}
	answers := &lastAnswer{RoundTripper: transport}
	got, err := e.client.Token(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{
		Transport:     answers, // a redirect would take the secret elsewhere
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}))
	var refused *oauth2.RetrieveError
	switch {
	case ctx.Err() != nil:
		return Token{}, ctx.Err()
	case errors.As(err, &refused):
		return Token{}, e.refusal(refused)
	case err != nil && answers.status != "":
		return Token{}, fmt.Errorf("it answered %s of type %q without a token", answers.status, visible(answers.kind))
	case err != nil:
		var at *url.Error // repeats the method and the address
		if errors.As(err, &at) {
			err = at.Err
		}
		return Token{}, pipeline.QuoteError(err)
	}
	token, err := tokenOf(got.AccessToken, time.Until(got.Expiry))
	if err != nil {
		return Token{}, fmt.Errorf("it answered %w", err)
	}
	return token, nil
}

// refusedCodes are the errors of RFC 6749 that stay the same until the configuration of client or
// endpoint changes.
var refusedCodes = []string{
	"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
}

func (e *endpoint) refusal(err *oauth2.RetrieveError) error {
	text := visible(err.ErrorCode+" "+err.ErrorDescription, e.client.ClientSecret)
	if err.ErrorCode == "" {
		text = visible(string(err.Body), e.client.ClientSecret)
	}
	answer := fmt.Errorf("it answered %s: %q", err.Response.Status, text)
	if slices.Contains(refusedCodes, err.ErrorCode) {
		return pipeline.Permanent(fmt.Errorf("%w: %w", pipeline.ErrDenied, answer))
	}
	return answer
}

// transport returns the transport for one fetch: hours may pass until the next, and the CA file may
// change meanwhile.
func (e *endpoint) transport() (http.RoundTripper, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	if e.config.CAFile != "" {
		pem, err := os.ReadFile(e.config.CAFile)
		if err != nil {
			return nil, fmt.Errorf("ca_file: %w", err)
		}
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_file: %s holds no PEM certificate", e.config.CAFile)
		}
	}
	return transport, nil
}

// lastAnswer remembers status and type of the last answer, which the error of an unparsable page
// lacks.
type lastAnswer struct {
	http.RoundTripper
	status, kind string
}

// RoundTrip implements [http.RoundTripper].
func (l *lastAnswer) RoundTrip(request *http.Request) (*http.Response, error) {
	l.status, l.kind = "", ""
	response, err := l.RoundTripper.RoundTrip(request)
	if err == nil {
		l.status, l.kind = response.Status, response.Header.Get("Content-Type")
	}
	return response, err
}
