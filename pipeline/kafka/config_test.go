package kafka_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/oauth"
)

func TestDefaultsAreValidAndSuffice(t *testing.T) {
	c := kafka.DefaultConfig()
	c.Brokers = []string{"broker:9092", "[::1]:9092"}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	client, err := kafka.New(kafka.Config{Brokers: c.Brokers}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFaultsAreNamed(t *testing.T) {
	for _, test := range []struct {
		bend func(c *kafka.Config)
		keys []string
	}{
		{func(c *kafka.Config) { c.Brokers = nil }, []string{"brokers"}},
		{func(c *kafka.Config) { c.Brokers = []string{"a:1", "b", ":9092", "c:x", "d:70000"} },
			[]string{"brokers[1]", "brokers[2]", "brokers[3]", "brokers[4]"}},
		{func(c *kafka.Config) { c.FetchMaxBytes = 65 << 20 }, []string{"fetch_max_bytes", "batch_budget_bytes"}},
		{func(c *kafka.Config) { c.BatchBudgetBytes, c.FetchMemory = 1<<30+1, 8<<30 }, []string{"batch_budget_bytes"}},
		{
			func(c *kafka.Config) { c.FetchMemory = kafka.LeastFetchMemory(64<<20) - 1 },
			[]string{"fetch_memory", "301,991,935 bytes is outside 301,991,936 bytes", "64 MiB"},
		},
		{
			func(c *kafka.Config) { c.BatchBudgetBytes = 128 << 20; c.FetchMemory = 320 << 20 },
			[]string{"fetch_memory", "batch_budget_bytes"},
		},
		{func(c *kafka.Config) { c.RebalanceTimeout = 1 }, []string{"rebalance_timeout"}},
		{func(c *kafka.Config) { c.HeartbeatInterval = 9 * time.Second }, []string{"heartbeat_interval", "session_timeout"}},
		{func(c *kafka.Config) { c.GroupInstance = "pod 1" }, []string{"group_instance", "pod 1", "auto, none"}},
		{func(c *kafka.Config) { c.Compression = "9" }, []string{"compression"}},
		{func(c *kafka.Config) { c.TLS.CertFile = "cert" }, []string{"tls.cert_file", "tls.key_file", "tls.enabled"}},
		{func(c *kafka.Config) { c.SASL.Mechanism = "kerberos" }, []string{"sasl.mechanism", "sasl.user", "sasl.password"}},
		{
			func(c *kafka.Config) { c.SASL = kafka.SASL{Mechanism: "plain", User: "u", Password: "p"} },
			[]string{"sasl.mechanism", "tls.enabled"},
		},
		{func(c *kafka.Config) {
			c.SASL = kafka.SASL{Mechanism: "scram-sha-256", User: "u", Password: "p", PasswordFile: "f"}
		}, []string{"sasl.password", "sasl.password_file"}},
		{func(c *kafka.Config) { c.SASL.Mechanism = "oauthbearer" }, []string{"sasl.mechanism", "sasl.oauth.token_endpoint"}},
		{func(c *kafka.Config) {
			c.TLS.Enabled = true
			c.SASL = kafka.SASL{
				Mechanism: "oauthbearer",
				User:      "u",
				OAuth:     oauth.Config{TokenFile: "f", Extensions: []string{"logical-cluster=1"}},
			}
		}, []string{"sasl.user", "sasl.oauth.extensions"}},
		{func(c *kafka.Config) {
			c.SASL = kafka.SASL{Mechanism: "scram-sha-256", User: "u", Password: "p", OAuth: oauth.Config{TokenFile: "f"}}
		}, []string{"sasl.mechanism", "sasl.oauth"}},
		{func(c *kafka.Config) { c.Brokers, c.SessionTimeout, c.Compression = nil, -1, "7" },
			[]string{"brokers", "session_timeout", "compression"}},
	} {
		c := kafka.DefaultConfig()
		c.Brokers = []string{"broker:9092"}
		test.bend(&c)
		err := c.Validate()
		if err == nil {
			t.Errorf("%v: no error", test.keys)
			continue
		}
		for _, key := range test.keys {
			if !strings.Contains(err.Error(), key) {
				t.Errorf("%s is missing from the error: %v", key, err)
			}
		}
		if _, err := kafka.New(c, zap.NewNop()); err == nil {
			t.Errorf("%v: New returned a client", test.keys)
		}
	}
}

func TestFilesThatAreMissingOrWrong(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bend := range []func(c *kafka.Config){
		func(c *kafka.Config) { c.TLS.CAFile = empty },
		func(c *kafka.Config) { c.TLS.CAFile = empty + "-not" },
		func(c *kafka.Config) { c.TLS.CertFile, c.TLS.KeyFile = empty, empty },
		func(c *kafka.Config) {
			c.SASL = kafka.SASL{Mechanism: "plain", User: "u", PasswordFile: empty + "-not"}
		},
	} {
		c := kafka.Config{Brokers: []string{"broker:9092"}, TLS: kafka.TLS{Enabled: true}}
		bend(&c)
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		if _, err := kafka.New(c, zap.NewNop()); err == nil ||
			!strings.Contains(err.Error(), empty) && !strings.Contains(err.Error(), "tls.") {
			t.Error(err)
		}
	}
}

func TestFaultsOfBrokersHaveNoSecrets(t *testing.T) {
	for _, address := range []string{
		"user:S3cret@host:9092",
		"S3cret@host:9092",
		"https://user:S3cret@host:9092",
		"host:9092?key=S3cret",
		"host:9092#S3cret",
		"host/@S3cret:S3cret@b",
		strings.Repeat("x", 1<<20),
	} {
		err := kafka.Config{Brokers: []string{address}}.Validate()
		if err == nil || !strings.Contains(err.Error(), "brokers[0]") || strings.Contains(err.Error(), "S3cret") ||
			len(err.Error()) > 400 {
			t.Errorf("%.50s: %.500v", address, err)
		}
	}
}
