package kafka_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// certificate makes a self-signed certificate for the loopback address, valid for both sides.
func certificate(t *testing.T, dir string) (pair tls.Certificate, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePEM(t, certFile, "CERTIFICATE", der)
	writePEM(t, keyFile, "EC PRIVATE KEY", private)
	if pair, err = tls.LoadX509KeyPair(certFile, keyFile); err != nil {
		t.Fatal(err)
	}
	return pair, certFile, keyFile
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEncryptedAndAuthenticated(t *testing.T) {
	dir := t.TempDir()
	pair, certFile, keyFile := certificate(t, dir)
	authorities := x509.NewCertPool()
	authorities.AddCert(pair.Leaf)
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.TLS(&tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities}),
		kfake.EnableSASL(),
		kfake.Superuser("PLAIN", "anna", "secret"),
		kfake.Superuser("SCRAM-SHA-256", "berta", "secret"),
		kfake.Superuser("SCRAM-SHA-512", "clara", "secret"),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	passwordFile := filepath.Join(dir, "password")
	if err := os.WriteFile(passwordFile, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config(cluster.ListenAddrs())
	c.TLS = kafka.TLS{Enabled: true, CAFile: certFile, CertFile: certFile, KeyFile: keyFile}

	for _, sasl := range []kafka.SASL{
		{Mechanism: "plain", User: "anna", Password: "secret"},
		{Mechanism: "scram-sha-256", User: "berta", PasswordFile: passwordFile},
		{Mechanism: "scram-sha-512", User: "clara", Password: "secret"},
	} {
		t.Run(sasl.Mechanism, func(t *testing.T) {
			c := c
			c.SASL = sasl
			client := dial(t, c)
			topic := pipelinetest.NewTopic(t, client, 1, nil)
			pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("a")...)
			if got := pipelinetest.Texts(pipelinetest.ReadUntil(t, client, topic, 0, 0, 1)); got != "0:a" {
				t.Error(got)
			}
			o := pipelinetest.Own(t, client, topic, topic)
			pipelinetest.Await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 1 })

			// Apache Kafka says what is wrong; this broker closes the connection, like one that is
			// going down.
			c.SASL.Password, c.SASL.PasswordFile = "wrong", ""
			if _, err := dial(t, c).Fetch(pipelinetest.Context(t), topic, 0, 0); err == nil {
				t.Error("a wrong password will do")
			}
		})
	}
	t.Run("another authority", func(t *testing.T) {
		c := c
		_, c.TLS.CAFile, _ = certificate(t, t.TempDir())
		if _, err := dial(t, c).Partitions(pipelinetest.Context(t), "topic"); err == nil {
			t.Error("its brokers are trusted")
		}
	})
	t.Run("no encryption", func(t *testing.T) {
		c := c
		c.TLS = kafka.TLS{}
		if _, err := dial(t, c).Partitions(pipelinetest.Context(t), "topic"); err == nil {
			t.Error("it is not needed")
		}
	})
}

func TestRefusedCredentialsAreNotTriedAgain(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("PLAIN", "anna", "secret"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	cluster.ControlKey(kmsg.SASLAuthenticate.Int16(), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		response := request.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		response.ErrorCode = kerr.SaslAuthenticationFailed.Code
		response.ErrorMessage = kmsg.StringPtr("no such user")
		return response, nil, true
	})
	c := config(cluster.ListenAddrs())
	c.SASL = kafka.SASL{Mechanism: "plain", User: "anna", Password: "secret", AllowPlaintext: true}
	client := dial(t, c)
	_, _, offsets := client.Offsets(pipelinetest.Context(t), "topic", 0)
	_, fetch := client.Fetch(pipelinetest.Context(t), "topic", 0, 0)
	own := client.Own(pipelinetest.Context(t), "group", "topic", nil)
	for i, err := range []error{offsets, fetch, own} {
		if err == nil || !pipeline.IsPermanent(err) || !strings.Contains(err.Error(), "no such user") {
			t.Errorf("operation %d: %v", i, err)
		}
	}
}
