package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/oauth"
)

// TLS configures the encryption of connections.
type TLS struct {
	Enabled    bool   `key:"enabled" doc:"encrypt the connections"`
	CAFile     string `key:"ca_file" doc:"PEM file of the authorities that sign the brokers' certificates; empty = the system's authorities"`
	CertFile   string `key:"cert_file" doc:"PEM file of the client's certificate; empty = none"`
	KeyFile    string `key:"key_file" doc:"PEM file of the client's key; set together with cert_file"`
	ServerName string `key:"server_name" doc:"name in the brokers' certificates; empty = the host in the address"`
}

func (t TLS) faults() []error {
	var faults []error
	if (t.CertFile == "") != (t.KeyFile == "") {
		faults = append(faults, errors.New("tls.cert_file and tls.key_file: both or neither must be set"))
	}
	if !t.Enabled && (t.CAFile != "" || t.CertFile != "" || t.KeyFile != "" || t.ServerName != "") {
		faults = append(faults, errors.New("tls.enabled: false, while other tls keys are set"))
	}
	return faults
}

// Load reads the files and returns the configuration of connections.
func (t TLS) Load() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.ca_file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.ca_file: %s holds no PEM certificate", t.CAFile)
		}
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("tls.cert_file, tls.key_file: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// SASL configures the authentication of the client.
type SASL struct {
	Mechanism      string       `key:"mechanism" doc:"plain, scram-sha-256, scram-sha-512 or oauthbearer; empty = no authentication"`
	User           string       `key:"user" doc:"user name"`
	Password       string       `key:"password" doc:"the password; password_file keeps it out of the configuration and the environment"`
	PasswordFile   string       `key:"password_file" doc:"file with the password, without its final newline"`
	AllowPlaintext bool         `key:"allow_plaintext" doc:"permit plain to send the password, or oauthbearer the token, over unencrypted connections"`
	OAuth          oauth.Config `key:"oauth"`
}

const oauthBearer = "oauthbearer"

var mechanisms = map[string]func(user, password string) (sasl.Mechanism, error){
	"plain": func(user, password string) (sasl.Mechanism, error) {
		return plain.Mechanism{Username: user, Password: password}, nil
	},
	"scram-sha-256": func(user, password string) (sasl.Mechanism, error) {
		return scram.Mechanism(scram.SHA256, user, password)
	},
	"scram-sha-512": func(user, password string) (sasl.Mechanism, error) {
		return scram.Mechanism(scram.SHA512, user, password)
	},
}

func (s SASL) faults(encrypted bool) []error {
	var faults []error
	switch {
	case reflect.ValueOf(s).IsZero():
		return nil
	case s.Mechanism == oauthBearer || !s.OAuth.IsZero():
		faults = s.oauthFaults()
	default:
		faults = s.passwordFaults()
	}
	if (s.Mechanism == "plain" || s.Mechanism == oauthBearer) && !encrypted && !s.AllowPlaintext {
		faults = append(faults, fmt.Errorf("sasl.mechanism: %s without tls.enabled sends the password or token "+
			"in plain text; set sasl.allow_plaintext if that is intended", s.Mechanism))
	}
	return faults
}

func (s SASL) passwordFaults() (faults []error) {
	if mechanisms[s.Mechanism] == nil {
		faults = append(faults, fmt.Errorf("sasl.mechanism: %q is not one of "+
			"plain, scram-sha-256, scram-sha-512, oauthbearer", s.Mechanism))
	}
	if s.User == "" {
		faults = append(faults, errors.New("sasl.user: empty"))
	}
	if (s.Password == "") == (s.PasswordFile == "") {
		faults = append(faults, errors.New("sasl.password and sasl.password_file: exactly one must be set"))
	}
	return faults
}

func (s SASL) oauthFaults() (faults []error) {
	if s.Mechanism != oauthBearer {
		faults = append(faults,
			fmt.Errorf("sasl.mechanism: sasl.oauth is set, which needs oauthbearer instead of %q", s.Mechanism))
	}
	if s.User+s.Password+s.PasswordFile != "" {
		faults = append(faults, errors.New("sasl.user: oauthbearer uses a token; remove user, password and password_file"))
	}
	for _, err := range oauth.Faults(s.OAuth.Validate()) {
		faults = append(faults, fmt.Errorf("sasl.oauth.%w", err))
	}
	for _, pair := range oauth.Pairs(s.OAuth.Extensions) {
		if !isExtension(pair[0]) {
			faults = append(faults, fmt.Errorf("sasl.oauth.extensions: %q: a name has letters only and is not auth", pair[0]))
		}
	}
	return faults
}

// isExtension reports whether brokers accept the name.
func isExtension(name string) bool {
	return name != "auth" && !strings.ContainsFunc(name, func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' })
}

// fromFile returns the mechanism with the password from the file.
func (s SASL) fromFile() (sasl.Mechanism, error) {
	password, err := pipeline.ReadSecret(s.PasswordFile)
	if err != nil {
		return nil, fmt.Errorf("sasl.password_file: %w", err)
	}
	return s.mechanism(password)
}

func (s SASL) mechanism(password string) (sasl.Mechanism, error) {
	made, err := mechanisms[s.Mechanism](s.User, password)
	if err != nil {
		return nil, fmt.Errorf("sasl: %w", err)
	}
	return made, nil
}
