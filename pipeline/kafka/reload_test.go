package kafka_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// renewing is a broker whose certificate and client authority can be replaced.
type renewing struct {
	t       *testing.T
	dir     string // of the client's files
	cluster *kfake.Cluster
	config  atomic.Pointer[tls.Config]
}

func newRenewing(t *testing.T) *renewing {
	t.Helper()
	r := &renewing{t: t, dir: t.TempDir()}
	r.renew(r.dir)
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.SeedTopics(1, "topic"),
		kfake.TLS(
			&tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return r.config.Load(), nil }},
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	r.cluster = cluster
	return r
}

// renew gives the broker a new certificate and makes the broker trust no other certificate; the
// folder gets the matching files.
func (r *renewing) renew(dir string) {
	r.t.Helper()
	pair, _, _ := certificate(r.t, dir)
	authorities := x509.NewCertPool()
	authorities.AddCert(pair.Leaf)
	r.config.Store(
		&tls.Config{
			Certificates: []tls.Certificate{pair},
			ClientAuth:   tls.RequireAndVerifyClientCert,
			ClientCAs:    authorities,
		},
	)
}

func (r *renewing) client() *kafka.Client {
	c := config(r.cluster.ListenAddrs())
	cert := filepath.Join(r.dir, "cert.pem")
	c.TLS = kafka.TLS{Enabled: true, CAFile: cert, CertFile: cert, KeyFile: filepath.Join(r.dir, "key.pem")}
	return dial(r.t, c)
}

// The first request opens the client's first connection.
func (r *renewing) reaches(client *kafka.Client) error {
	_, err := client.Partitions(pipelinetest.Context(r.t), "topic")
	return err
}

func TestRenewedCertificatesNeedNoRestart(t *testing.T) {
	r := newRenewing(t)
	client := r.client() // it has read the files
	r.renew(r.dir)
	if err := r.reaches(client); err != nil {
		t.Errorf("after renewing both sides: %v", err)
	}
}

func TestHalfWrittenCertificatesAreNotUsed(t *testing.T) {
	for name, damage := range map[string]func(dir string) error{
		"empty authority": func(dir string) error { return os.Truncate(filepath.Join(dir, "cert.pem"), 0) },
		"no key":          func(dir string) error { return os.Remove(filepath.Join(dir, "key.pem")) },
		"key of another": func(dir string) error {
			_, _, key := certificate(t, t.TempDir())
			return os.Rename(key, filepath.Join(dir, "key.pem"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRenewing(t)
			client := r.client()
			if err := damage(r.dir); err != nil {
				t.Fatal(err)
			}
			if err := r.reaches(client); err != nil {
				t.Errorf("previous contents of the files are not used: %v", err)
			}
		})
	}
}

func TestChangedPasswordNeedsNoRestart(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "topic"), kfake.EnableSASL(),
		kfake.Superuser("SCRAM-SHA-512", "clara", "new"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	file := filepath.Join(t.TempDir(), "password")
	write := func(password string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	c := config(cluster.ListenAddrs())
	c.SASL = kafka.SASL{Mechanism: "scram-sha-512", User: "clara", PasswordFile: file}
	client := dial(t, c)
	write("new")
	if _, err := client.Partitions(pipelinetest.Context(t), "topic"); err != nil {
		t.Errorf("current password: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Own(t, client, "group", "topic") // opens a new connection
}
