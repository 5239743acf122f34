package registry

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/oauth"
)

// Config holds the addresses of the registry and the settings of requests.
type Config struct {
	URL            []string      `key:"url" doc:"addresses of a Schema Registry, such as http://localhost:8081 or, for Apicurio, http://localhost:8080/apis/ccompat/v7; several are tried in turn; empty = none, and messages with a schema id cannot be read"`
	User           string        `key:"user" doc:"user name for HTTP basic authentication"`
	PasswordFile   string        `key:"password_file" doc:"file with the password of registry.user, without its final newline; reread for each request"`
	AllowPlaintext bool          `key:"allow_plaintext" doc:"permit sending the password or token to an http address, where anyone on the network path can read it"`
	TLS            TLS           `key:"tls"`
	OAuth          oauth.Config  `key:"oauth"`
	Timeout        time.Duration `key:"timeout" unit:"duration" doc:"time limit of one request; 0 = 10s"`
}

// TLS configures connections to https addresses.
type TLS struct {
	CAFile     string `key:"ca_file" doc:"PEM file of the authorities that sign the registry's certificate; empty = the system's authorities"`
	CertFile   string `key:"cert_file" doc:"PEM file of the client's certificate; empty = none"`
	KeyFile    string `key:"key_file" doc:"PEM file of the client's key; set together with cert_file"`
	ServerName string `key:"server_name" doc:"name in the registry's certificate; empty = the host in the address"`
}

const (
	defaultTimeout = 10 * time.Second
	maxTimeout     = time.Hour
)

// Default returns the defaults, without an address.
func Default() Config { return Config{Timeout: defaultTimeout} }

// Validate reports all faults at once, each with its key. It reads no files.
func (c Config) Validate() error {
	var faults []error
	for i, address := range c.URL {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			faults = append(faults, fmt.Errorf("url[%d]: must be http:// or https:// with a host and without a user", i))
		} else if u.Scheme == "http" && (c.User != "" || !c.OAuth.IsZero()) && !c.AllowPlaintext {
			faults = append(faults, fmt.Errorf("url[%d]: http sends the password or token in plain text; "+
				"use https, or set allow_plaintext if that is intended", i))
		}
	}
	faults = append(faults, c.credentialFaults()...)
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		faults = append(faults, errors.New("tls.cert_file: cert_file and key_file must both be set, or neither"))
	}
	if c.Timeout < 0 || c.Timeout > maxTimeout {
		faults = append(faults, fmt.Errorf("timeout: %v is outside 0 to %v", c.Timeout, maxTimeout))
	}
	return errors.Join(faults...)
}

func (c Config) credentialFaults() (faults []error) {
	if (c.User == "") != (c.PasswordFile == "") {
		faults = append(faults, errors.New("user: user and password_file must both be set, or neither"))
	}
	if !c.OAuth.IsZero() {
		if c.User != "" {
			faults = append(faults, errors.New("oauth.token_endpoint: oauth and user cannot both be set"))
		}
		for _, err := range oauth.Faults(c.OAuth.Validate()) {
			faults = append(faults, fmt.Errorf("oauth.%w", err))
		}
	}
	return faults
}

// encryption reads the files of TLS.
func (c Config) encryption() (*tls.Config, error) {
	return kafka.TLS{
		Enabled: true, CAFile: c.TLS.CAFile, CertFile: c.TLS.CertFile, KeyFile: c.TLS.KeyFile, ServerName: c.TLS.ServerName,
	}.Load()
}
