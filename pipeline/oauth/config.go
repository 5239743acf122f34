package oauth

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"time"
)

// Config configures the origin of tokens. Exactly one of TokenEndpoint, TokenFile and TokenCommand
// is set; the zero value is no OAuth.
type Config struct {
	TokenEndpoint    string        `key:"token_endpoint" doc:"https address of a token endpoint for client credentials"`
	ClientID         string        `key:"client_id" doc:"client id for token_endpoint"`
	ClientSecretFile string        `key:"client_secret_file" doc:"file with the client secret, without its final newline; reread for each token"`
	Scope            string        `key:"scope" doc:"scopes to request, separated by spaces; empty = the default of token_endpoint"`
	Parameters       []string      `key:"parameters" doc:"further parameters for token_endpoint, as name=value, such as audience=kafka"`
	CAFile           string        `key:"ca_file" doc:"PEM file of the authorities that sign the certificate of token_endpoint; empty = the system's authorities"`
	AllowPlaintext   bool          `key:"allow_plaintext" doc:"permit an http address, where anyone on the network path can read secret and token"`
	TokenFile        string        `key:"token_file" doc:"file with a token, which another program renews, instead of token_endpoint; reread for each connection"`
	TokenCommand     []string      `key:"token_command" doc:"program and arguments that print a token, plain or as JSON with access_token and expires_in, instead of token_endpoint"`
	Extensions       []string      `key:"extensions" doc:"additions to the token, as name=value: SASL extensions for brokers, such as logicalCluster=lkc-1, or headers for a registry"`
	Timeout          time.Duration `key:"timeout" unit:"duration" doc:"time limit of token_endpoint or token_command; 0 = 10s"`
}

const (
	defaultTimeout = 10 * time.Second
	maxTimeout     = time.Hour
)

// IsZero reports whether no OAuth is configured.
func (c Config) IsZero() bool { return reflect.ValueOf(c).IsZero() }

// Validate reports all faults at once, each with its key. It reads no files.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	origins := 0
	for _, set := range []bool{c.TokenEndpoint != "", c.TokenFile != "", len(c.TokenCommand) > 0} {
		if set {
			origins++
		}
	}
	if origins != 1 {
		fault("token_endpoint: exactly one of token_endpoint, token_file and token_command must be set")
	}
	if c.TokenEndpoint != "" {
		faults = append(faults, c.endpointFaults()...)
	} else if c.ClientID+c.ClientSecretFile+c.Scope+c.CAFile != "" || len(c.Parameters) > 0 || c.AllowPlaintext {
		fault("token_endpoint: empty, " +
			"but client_id, client_secret_file, scope, parameters, ca_file or allow_plaintext are set")
	}
	if len(c.TokenCommand) > 0 && c.TokenCommand[0] == "" {
		fault("token_command: has no program")
	}
	for _, list := range []struct {
		key   string
		pairs []string
	}{{"parameters", c.Parameters}, {"extensions", c.Extensions}} {
		for _, pair := range list.pairs {
			if !pairLike.MatchString(pair) {
				fault("%s: each must be name=value", list.key) // not shown: it may be a misplaced secret
			}
		}
	}
	if c.Timeout < 0 || c.Timeout > maxTimeout {
		fault("timeout: %v is outside 0 to %v", c.Timeout, maxTimeout)
	}
	return errors.Join(faults...)
}

// Faults lists the faults in an error of Validate, for a configuration that contains this one.
func Faults(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return nil
}

func (c Config) endpointFaults() (faults []error) {
	u, err := url.Parse(c.TokenEndpoint)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil:
		faults = append(faults, errors.New("token_endpoint: must be https:// with a host and without a user"))
	case u.Scheme == "http" && !c.AllowPlaintext:
		faults = append(faults, errors.New("token_endpoint: http sends secret and token in plain text; "+
			"use https, or set allow_plaintext if that is intended"))
	}
	if c.ClientID == "" || c.ClientSecretFile == "" {
		faults = append(faults, errors.New("client_id: token_endpoint needs client_id and client_secret_file"))
	}
	return faults
}

var pairLike = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*=[\x21-\x7e][\x20-\x7e]*$`)

// Pairs splits the name=value entries of a valid configuration.
func Pairs(list []string) (pairs [][2]string) {
	for _, pair := range list {
		name, value, _ := strings.Cut(pair, "=")
		pairs = append(pairs, [2]string{name, value})
	}
	return pairs
}
