package serve

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/eerf-stream/eerf/stages/serve"
)

// loadTLS makes a TLS configuration from the files; nil without files.
func loadTLS(files serve.TLS) (*tls.Config, error) {
	if files.CertFile == "" {
		return nil, nil
	}
	own := &certificate{cert: files.CertFile, key: files.KeyFile}
	if _, err := own.get(nil); err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: own.get, NextProtos: []string{"http/1.1"}}
	if files.ClientCAFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(files.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("serve.tls.client_ca_file: %w", err)
	}
	config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("serve.tls.client_ca_file: %s holds no PEM certificate", files.ClientCAFile)
	}
	return config, nil
}

// lookEvery is the interval at which the certificate's files are reread, because they are renewed
// in place.
const lookEvery = time.Minute

// certificate is the server's certificate. It is safe for concurrent use.
type certificate struct {
	cert, key string

	mu   sync.Mutex // guards the fields below
	pair *tls.Certificate
	at   time.Time // time of the last read
}

// get returns the certificate. If the files cannot be read, perhaps because they are half written,
// it returns the previous one.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pair != nil && time.Since(c.at) < lookEvery {
		return c.pair, nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err == nil {
		c.pair = &pair
	} else if c.pair == nil {
		return nil, fmt.Errorf("serve.tls.cert_file, serve.tls.key_file: %w", err)
	}
	c.at = time.Now()
	return c.pair, nil
}
