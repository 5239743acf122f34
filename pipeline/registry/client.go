package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/sr"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/oauth"
)

// ErrNoSchema means that the registry does not have the schema, or refuses the request.
var ErrNoSchema = errors.New("the registry has no such schema")

// ErrUnauthorized means that the registry refuses the credentials, or requires some.
var ErrUnauthorized = errors.New("the registry refuses the credentials")

// ErrForbidden means that the user may not read the schema.
var ErrForbidden = errors.New("the registry does not permit reading the schema")

// Types of schemas.
const (
	TypeAvro     = "AVRO"
	TypeProtobuf = "PROTOBUF"
	TypeJSON     = "JSON"
)

// Schema is a schema with all schemas that it refers to, in order of dependency.
type Schema struct {
	Type       string
	Text       string
	References []Reference
}

// Reference is a schema under the name by which others refer to it.
type Reference struct{ Name, Text string }

// FetchBytes limits the answers for one schema, its references included.
const FetchBytes = 1 << 20

const (
	maxReferences = 64
	maxErrorPage  = 64 << 10 // bytes of an answer that is an error
	fetchTimeouts = 6        // timeouts of one request that a schema may take with its references
)

// ID identifies a schema by its number, or by its GUID if that is not zero.
type ID struct {
	Number uint32
	GUID   [16]byte
}

// String returns the number, or the GUID in its usual form.
func (id ID) String() string {
	if id.GUID == ([16]byte{}) {
		return strconv.FormatUint(uint64(id.Number), 10)
	}
	g := id.GUID
	return fmt.Sprintf("%x-%x-%x-%x-%x", g[:4], g[4:6], g[6:8], g[8:10], g[10:])
}

// Client is a connection to a registry.
type Client struct {
	sr           *sr.Client
	fetchTimeout time.Duration // for a schema with its references
	secret       *lastSecret
	keys         []string // values in the queries of the addresses
}

// lastSecret is the password or token of the last request, which an answer may repeat.
type lastSecret struct{ atomic.Pointer[string] }

// answerError is an error of the library, without secrets and of limited length.
type answerError struct {
	text string
	err  error
}

func (e *answerError) Error() string { return e.text }

// Unwrap returns the error of the library.
func (e *answerError) Unwrap() error { return e.err }

// shortened returns an error of the library for messages: it may hold a whole answer, and the
// address with its query.
func (c *Client) shortened(err error) error {
	if err == nil {
		return nil
	}
	secrets := slices.Clone(c.keys)
	if secret := c.secret.Load(); secret != nil {
		secrets = append(secrets, *secret)
	}
	return &answerError{pipeline.Quote(oauth.Mask(err.Error(), secrets...)), err}
}

// New reads the files that the configuration names. It does not connect.
func New(c Config) (*Client, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if len(c.URL) == 0 {
		return nil, errors.New("url: empty")
	}
	encryption, err := c.encryption()
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = encryption
	timeout := c.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	used := &lastSecret{}
	authenticate := func(*http.Request) error { return nil }
	switch {
	case c.User != "":
		if _, err := pipeline.ReadSecret(c.PasswordFile); err != nil {
			return nil, err
		}
		authenticate = func(request *http.Request) error { return c.authenticate(request, used) }
	case !c.OAuth.IsZero():
		tokens, err := oauth.Open(c.OAuth, zap.NewNop()) // failures are errors of the requests that need the token
		if err != nil {
			return nil, fmt.Errorf("oauth.%w", err)
		}
		authenticate = func(request *http.Request) error { return c.bear(request, tokens, used) }
	}
	client, err := sr.NewClient(
		sr.URLs(c.URL...), sr.UserAgent("eerf"), sr.PreReq(authenticate),
		sr.HTTPClient(&http.Client{Transport: bounded{transport}, Timeout: timeout, CheckRedirect: stay}),
	)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, address := range c.URL {
		u, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		for _, values := range u.Query() {
			keys = append(keys, values...)
		}
	}
	return &Client{client, fetchTimeouts * timeout, used, keys}, nil
}

// authenticate adds user and password to a request.
func (c Config) authenticate(request *http.Request, used *lastSecret) error {
	password, err := pipeline.ReadSecret(c.PasswordFile)
	if err != nil {
		return fmt.Errorf("password_file: %w", err)
	}
	used.Store(&password)
	request.SetBasicAuth(c.User, password)
	return nil
}

// bear adds a token and the configured headers to a request.
func (c Config) bear(request *http.Request, tokens *oauth.Source, used *lastSecret) error {
	token, err := tokens.Token(request.Context())
	if err != nil {
		return err
	}
	text := token.Bearer()
	used.Store(&text)
	request.Header.Set("Authorization", "Bearer "+text)
	for _, pair := range oauth.Pairs(c.OAuth.Extensions) {
		request.Header.Set(pair[0], pair[1])
	}
	return nil
}

// stay refuses redirects to another scheme, host or port than configured: the target would receive
// the credentials, or choose the schemas.
func stay(request *http.Request, via []*http.Request) error {
	const most = 5
	from, to := via[0].URL, request.URL
	switch {
	case from.Scheme != to.Scheme || from.Hostname() != to.Hostname() || portOf(from) != portOf(to):
		return fmt.Errorf("redirect from %s://%s to %s://%s is not followed", from.Scheme, from.Host, to.Scheme, to.Host)
	case len(via) > most:
		return fmt.Errorf("more than %d redirects", most)
	}
	return nil
}

// portOf returns the port of an address, or the default of its scheme.
func portOf(u *url.URL) string {
	if port := u.Port(); port != "" || u.Scheme == "http" {
		return cmp.Or(port, "80")
	}
	return "443"
}

// allowance is the number of bytes that may still be read for a fetch, in the context of its
// requests.
type allowance struct{ left int64 }

type allowanceKey struct{}

// bounded limits the size of responses.
type bounded struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(request)
	if err != nil {
		return response, err
	}
	if response.StatusCode >= http.StatusMultipleChoices { // the beginning is enough for a message
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, maxErrorPage), response.Body}
		return response, nil
	}
	allowed, ok := request.Context().Value(allowanceKey{}).(*allowance)
	if !ok {
		allowed = &allowance{FetchBytes}
	}
	response.Body = &allowedBody{http.MaxBytesReader(nil, response.Body, allowed.left), allowed}
	return response, nil
}

// allowedBody is a response that uses up an allowance.
type allowedBody struct {
	io.ReadCloser
	allowance *allowance
}

// Read implements [io.Reader].
func (b *allowedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.allowance.left -= int64(n)
	return n, err
}

// CloseIdleConnections closes the connections that no request uses.
func (b bounded) CloseIdleConnections() {
	if closer, ok := b.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// Fetch returns the schema of an id.
func (c *Client) Fetch(ctx context.Context, id ID) (Schema, error) {
	bounded, cancel := context.WithTimeout(ctx, c.fetchTimeout)
	defer cancel()
	schema, err := c.fetch(bounded, id)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil { // not the end of the caller's context
		return Schema{}, fmt.Errorf("schema %s: not complete within %v", id, c.fetchTimeout)
	}
	return schema, err
}

func (c *Client) fetch(ctx context.Context, id ID) (Schema, error) {
	if id.Number > math.MaxInt32 { // registries have no such ids, and some fail on them
		return Schema{}, fmt.Errorf("schema %s: %w: the greatest id is %d", id, ErrNoSchema, math.MaxInt32)
	}
	ctx = context.WithValue(ctx, allowanceKey{}, &allowance{FetchBytes})
	found, err := c.lookup(ctx, id)
	if err != nil {
		return Schema{}, fmt.Errorf("schema %s: %w", id, c.refusal(ctx, err))
	}
	schema := Schema{Type: found.Type.String(), Text: found.Schema}
	if schema.Type == TypeJSON { // messages are read without it
		return schema, nil
	}
	err = c.references(ctx, &schema, found.References, map[string]bool{})
	if err != nil {
		return Schema{}, fmt.Errorf("schema %s: %w", id, err)
	}
	return schema, nil
}

func (c *Client) lookup(ctx context.Context, id ID) (sr.Schema, error) {
	if id.GUID == ([16]byte{}) {
		return c.sr.SchemaByID(ctx, int(id.Number))
	}
	found, err := c.sr.SchemaByGUID(ctx, id.String())
	return found.Schema, err
}

// references adds the schemas that a schema refers to.
func (c *Client) references(
	ctx context.Context,
	schema *Schema,
	refs []sr.SchemaReference,
	seen map[string]bool,
) error {
	for _, ref := range refs {
		if seen[ref.Name] {
			continue
		}
		seen[ref.Name] = true
		if len(seen) > maxReferences {
			return fmt.Errorf("%w: more than %d references", ErrNoSchema, maxReferences)
		}
		found, err := c.sr.SchemaByVersion(ctx, ref.Subject, ref.Version)
		if err != nil {
			return fmt.Errorf("referenced schema %s, version %d: %w", ref.Subject, ref.Version, c.refusal(ctx, err))
		}
		if err := c.references(ctx, schema, found.References, seen); err != nil {
			return err
		}
		schema.References = append(schema.References, Reference{ref.Name, found.Schema.Schema})
	}
	return nil
}

// Answers returns nil if the registry answers a request that depends on no schema.
func (c *Client) Answers(ctx context.Context) error {
	ctx = context.WithValue(ctx, allowanceKey{}, &allowance{FetchBytes}) // a fetch may have used up its own
	_, err := c.sr.SupportedTypes(ctx)
	return c.shortened(err)
}

// refusal distinguishes refusals of the registry from errors that may be temporary. An answer
// without a schema or an error code is a refusal if the registry answers another request well:
// otherwise it comes from something in its place.
func (c *Client) refusal(ctx context.Context, err error) error {
	var response *sr.ResponseError
	var tooLarge *http.MaxBytesError
	answered := errors.As(err, &response)
	unreadable := !answered && !errors.As(err, new(*url.Error)) && ctx.Err() == nil ||
		answered && response.StatusCode == http.StatusNotFound
	err = c.shortened(err)
	switch {
	case errors.As(err, &tooLarge), answered && isNo(response), unreadable && c.Answers(ctx) == nil:
		return fmt.Errorf("%w: %w", ErrNoSchema, err)
	case answered && response.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %w", ErrUnauthorized, err)
	case answered && response.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return err
}

// isNo reports whether an answer is a refusal of the registry itself, which has an error code. A
// 404 without one comes from a proxy whose registry is unavailable, or from a wrong path.
func isNo(response *sr.ResponseError) bool {
	switch response.StatusCode {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity:
	default:
		return false
	}
	const perStatus = 100 // error codes per HTTP status
	switch response.ErrorCode / perStatus {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity:
		return true
	}
	return response.ErrorCode == response.StatusCode && response.StatusCode != http.StatusNotFound
}
