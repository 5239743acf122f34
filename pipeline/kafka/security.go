package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// TLS says how connections are encrypted.
type TLS struct {
	// Enabled turns encryption on. Default false.
	Enabled bool `key:"enabled"`
	// CAFile is a PEM file of the authorities that sign the brokers' certificates. Empty means those of the
	// system.
	CAFile string `key:"ca_file"`
	// CertFile and KeyFile are the client's own certificate and key, PEM. Empty means none; both or neither.
	CertFile string `key:"cert_file"`
	KeyFile  string `key:"key_file"`
	// ServerName is the name that the brokers' certificates must carry. Empty means the host dialled.
	ServerName string `key:"server_name"`
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

// SASL says how the client authenticates.
type SASL struct {
	// Mechanism is plain, scram-sha-256 or scram-sha-512. Empty means no authentication.
	Mechanism string `key:"mechanism"`
	// User is the name to authenticate as.
	User string `key:"user"`
	// Password is the secret itself; prefer password_file.
	Password string `key:"password"`
	// PasswordFile is a file that holds the secret; one newline at its end is not part of it. Exactly one of
	// password and password_file is set.
	PasswordFile string `key:"password_file"`
	// AllowPlaintext lets mechanism plain send the password over an unencrypted connection. Default false.
	AllowPlaintext bool `key:"allow_plaintext"`
}

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
	if s == (SASL{}) {
		return nil
	}
	var faults []error
	if mechanisms[s.Mechanism] == nil {
		faults = append(faults, fmt.Errorf("sasl.mechanism: %q is not one of plain, scram-sha-256, scram-sha-512", s.Mechanism))
	}
	if s.User == "" {
		faults = append(faults, errors.New("sasl.user: empty"))
	}
	if (s.Password == "") == (s.PasswordFile == "") {
		faults = append(faults, errors.New("sasl.password and sasl.password_file: exactly one must be set"))
	}
	if s.Mechanism == "plain" && !encrypted && !s.AllowPlaintext {
		faults = append(faults, errors.New("sasl.mechanism: plain sends the password readable without tls.enabled; "+
			"set sasl.allow_plaintext if that is meant"))
	}
	return faults
}

// fromFile returns the mechanism with the password from the file.
func (s SASL) fromFile() (sasl.Mechanism, error) {
	text, err := os.ReadFile(s.PasswordFile)
	if err != nil {
		return nil, fmt.Errorf("sasl.password_file: %w", err)
	}
	return s.mechanism(strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"))
}

func (s SASL) mechanism(password string) (sasl.Mechanism, error) {
	made, err := mechanisms[s.Mechanism](s.User, password)
	if err != nil {
		return nil, fmt.Errorf("sasl: %w", err)
	}
	return made, nil
}
