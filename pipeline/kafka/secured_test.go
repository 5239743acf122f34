package kafka_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/kafkatest"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// addresses reads the addresses of another listener of a secured cluster.
func addresses(t *testing.T, on *cluster, name string) []string {
	t.Helper()
	return strings.Split(on.real.Read(t, name), ",")
}

// TestAllSecurityConfigurationsConnect connects to a secured cluster with each mechanism, and uses
// the operations of a stage.
func TestAllSecurityConfigurationsConnect(t *testing.T) {
	kafkatest.Need(t, 1, true)
	on := connect(t)
	password, file := on.real.Read(t, "password"), on.real.File("password")
	readable, mutual := addresses(t, on, "brokers-readable"), addresses(t, on, "brokers-mutual")
	ours := kafka.TLS{Enabled: true, CAFile: on.real.File("ca.pem")}
	certified := ours
	certified.CertFile, certified.KeyFile = on.real.File("client.pem"), on.real.File("client.key")
	const admin = kafkatest.Admin
	bearer := kafka.SASL{Mechanism: "oauthbearer", OAuth: on.real.TokenEndpoint(t, time.Minute).Config()}
	for _, way := range []struct {
		name  string
		addrs []string
		tls   kafka.TLS
		sasl  kafka.SASL
		user  string
	}{
		{"tls plain", on.addrs, ours, kafka.SASL{Mechanism: "plain", User: admin, Password: password}, admin},
		{"tls plain file", on.addrs, ours, kafka.SASL{Mechanism: "plain", User: admin, PasswordFile: file}, admin},
		{"tls scram 256", on.addrs, ours, kafka.SASL{Mechanism: "scram-sha-256", User: admin, Password: password}, admin},
		{"tls scram 512", on.addrs, ours, kafka.SASL{Mechanism: "scram-sha-512", User: admin, Password: password}, admin},
		{
			"tls scram 512 file",
			on.addrs,
			ours,
			kafka.SASL{Mechanism: "scram-sha-512", User: admin, PasswordFile: file},
			admin,
		},
		{
			"tls scram and a certificate",
			on.addrs,
			certified,
			kafka.SASL{Mechanism: "scram-sha-256", User: admin, PasswordFile: file},
			admin,
		},
		{
			"plain",
			readable,
			kafka.TLS{},
			kafka.SASL{Mechanism: "plain", User: admin, Password: password, AllowPlaintext: true},
			admin,
		},
		{"scram 256", readable, kafka.TLS{}, kafka.SASL{Mechanism: "scram-sha-256", User: admin, Password: password}, admin},
		{"scram 512", readable, kafka.TLS{}, kafka.SASL{Mechanism: "scram-sha-512", User: admin, PasswordFile: file}, admin},
		{"tls oauth", on.addrs, ours, bearer, admin},
		{"certificate", mutual, certified, kafka.SASL{}, "client"},
	} {
		t.Run(way.name, func(t *testing.T) {
			topic := pipelinetest.NewTopic(t, dial(t, on.config()), 1, nil)
			if way.user != admin {
				on.real.Grant(t, way.user, kafkatest.Topic(kmsg.ACLOperationRead, topic),
					kafkatest.Topic(kmsg.ACLOperationWrite, topic), kafkatest.Group(kmsg.ACLOperationRead, topic))
			}
			c := config(way.addrs)
			c.TLS, c.SASL = way.tls, way.sasl
			client := dial(t, c)
			pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("a")...)
			if got := pipelinetest.Texts(pipelinetest.ReadUntil(t, client, topic, 0, 0, 1)); got != "0:a" {
				t.Error(got)
			}
			o := pipelinetest.Own(t, client, topic, topic)
			pipelinetest.Await(t, o, o, "assigned", func(a, _ []int) bool { return len(a) == 1 })
		})
	}
}

// TestWrongSecurityConfigurationsAreRefused checks that a secured cluster refuses wrong
// configurations and that errors hold the reason. A refusal by the broker is permanent; TLS faults
// may be repaired while a service waits.
func TestWrongSecurityConfigurationsAreRefused(t *testing.T) {
	kafkatest.Need(t, 1, true)
	on := connect(t)
	password := on.real.Read(t, "password")
	readable, mutual := addresses(t, on, "brokers-readable"), addresses(t, on, "brokers-mutual")
	ours := kafka.TLS{Enabled: true, CAFile: on.real.File("ca.pem")}
	dir := t.TempDir()
	_, otherCert, otherKey := certificate(t, dir)
	bearer := func(scope, fault string, claims map[string]any) kafka.SASL {
		endpoint := on.real.TokenEndpoint(t, time.Minute)
		endpoint.Fail(fault)
		endpoint.Claim(claims)
		c := endpoint.Config()
		c.Scope = scope
		return kafka.SASL{Mechanism: "oauthbearer", OAuth: c}
	}
	hourAgo := time.Now().Add(-time.Hour).Unix()
	for _, way := range []struct {
		name      string
		addrs     []string
		tls       kafka.TLS
		sasl      kafka.SASL
		permanent bool
		says      string
	}{
		{
			"plain, another password",
			on.addrs,
			ours,
			kafka.SASL{Mechanism: "plain", User: "admin", Password: "canary"},
			true,
			"Authentication failed",
		},
		{
			"scram 256, another password",
			on.addrs,
			ours,
			kafka.SASL{Mechanism: "scram-sha-256", User: "admin", Password: "canary"},
			true,
			"Authentication",
		},
		{
			"scram 512, another password",
			on.addrs,
			ours,
			kafka.SASL{Mechanism: "scram-sha-512", User: "admin", Password: "canary"},
			true,
			"Authentication",
		},
		{
			"scram 512, nobody's name",
			on.addrs,
			ours,
			kafka.SASL{Mechanism: "scram-sha-512", User: "nobody", Password: password},
			true,
			"Authentication",
		},
		{
			"oauth, an old token",
			on.addrs,
			ours,
			bearer("kafka", "", map[string]any{"iat": hourAgo, "exp": hourAgo}),
			true,
			"invalid_token",
		},
		{"oauth, a forged token", on.addrs, ours, bearer("kafka", kafkatest.Forged, nil), true, "invalid_token"},
		{
			"oauth, another audience",
			on.addrs,
			ours,
			bearer("kafka", "", map[string]any{"aud": "others"}),
			true,
			`audience "others"`,
		},
		{
			"oauth, another issuer",
			on.addrs,
			ours,
			bearer("kafka", "", map[string]any{"iss": "others"}),
			true,
			`issuer "others"`,
		},
		{"oauth, another scope", on.addrs, ours, bearer("others", "", nil), true, "invalid_scope"},
		{
			"oauth, a page for a token",
			on.addrs,
			ours,
			bearer("kafka", kafkatest.Page, nil),
			false,
			`200 OK of type "text/html`,
		},
		{"oauth, a slow endpoint", on.addrs, ours, bearer("kafka", kafkatest.Slow, nil), false, "no answer within 1s"},
		{
			"oauth, an endpoint that is away",
			on.addrs,
			ours,
			bearer("kafka", kafkatest.Away, nil),
			false,
			"token from http://127.0.0.1",
		},
		{"another authority", on.addrs, kafka.TLS{Enabled: true, CAFile: otherCert},
			kafka.SASL{Mechanism: "plain", User: "admin", Password: password}, false, "certificate"},
		{"authorities of the system", on.addrs, kafka.TLS{Enabled: true},
			kafka.SASL{Mechanism: "plain", User: "admin", Password: password}, false, "certificate"},
		{"another name", on.addrs, kafka.TLS{Enabled: true, CAFile: ours.CAFile, ServerName: "broker.example.org"},
			kafka.SASL{Mechanism: "plain", User: "admin", Password: password}, false, "broker.example.org"},
		{"no certificate", mutual, ours, kafka.SASL{}, false, "certificate"},
		{
			"a certificate of another authority",
			mutual,
			kafka.TLS{Enabled: true, CAFile: ours.CAFile, CertFile: otherCert, KeyFile: otherKey},
			kafka.SASL{},
			false,
			"certificate",
		},
		{
			"tls where there is none",
			readable,
			ours,
			kafka.SASL{Mechanism: "plain", User: "admin", Password: password},
			false,
			"tls and sasl",
		},
		{
			"no tls where there is",
			on.addrs,
			kafka.TLS{},
			kafka.SASL{Mechanism: "scram-sha-256", User: "admin", Password: password},
			false,
			"tls and sasl",
		},
		{"no sasl where there is", readable, kafka.TLS{}, kafka.SASL{}, false, "tls and sasl"},
	} {
		t.Run(way.name, func(t *testing.T) {
			c := config(way.addrs)
			c.TLS, c.SASL = way.tls, way.sasl
			client := dial(t, c)
			_, partitions := client.Partitions(pipelinetest.Context(t), "topic")
			_, fetch := client.Fetch(pipelinetest.Context(t), "topic", 0, 0)
			for _, err := range []error{partitions, fetch} {
				if err == nil || pipeline.IsPermanent(err) != way.permanent || !strings.Contains(err.Error(), way.says) ||
					strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), password) {
					t.Errorf("permanent %v: %v", pipeline.IsPermanent(err), err)
				}
			}
		})
	}
}

// TestTokensAreRenewed uses connections while several tokens expire.
func TestTokensAreRenewed(t *testing.T) {
	kafkatest.Need(t, 1, true)
	on := connect(t)
	endpoint := on.real.TokenEndpoint(t, 5*time.Second)
	c := on.config()
	c.SASL = kafka.SASL{Mechanism: "oauthbearer", OAuth: endpoint.Config()}
	client := dial(t, c)
	useUntil(t, client, pipelinetest.NewTopic(t, client, 1, nil), func() bool { return len(endpoint.Issued("eerf")) > 2 })
}

// TestMissingRightIsNamed tries every operation as a user with all rights except the required one.
func TestMissingRightIsNamed(t *testing.T) {
	kafkatest.Need(t, 1, true)
	on := connect(t)
	topic := pipelinetest.NewTopic(t, dial(t, on.config()), 1, nil)
	pipelinetest.Produce(t, dial(t, on.config()), topic, 0, pipelinetest.Values("a")...)
	const (
		describe = kmsg.ACLOperationDescribe
		configs  = kmsg.ACLOperationDescribeConfigs
	)
	allowed := func(user string, rights ...kafkatest.Right) *kafka.Client {
		on.real.AddUser(t, user, "secret")
		if len(rights) > 0 {
			on.real.Grant(t, user, rights...)
		}
		c := on.config()
		c.SASL = kafka.SASL{Mechanism: "scram-sha-512", User: user, Password: "secret"}
		return dial(t, c)
	}
	nobody := allowed("nobody-" + topic[len(topic)-8:])
	looker := allowed("looker-"+topic[len(topic)-8:], kafkatest.Topic(describe, topic), kafkatest.Topic(configs, topic))
	member := func(client *kafka.Client) func(context.Context) error {
		return func(ctx context.Context) error { return client.Own(ctx, topic, topic, nil) }
	}
	for what, call := range map[string]func(ctx context.Context) error{
		"describe by nobody": func(ctx context.Context) error { _, err := nobody.Partitions(ctx, topic); return err },
		"offsets by nobody":  func(ctx context.Context) error { _, _, err := nobody.Offsets(ctx, topic, 0); return err },
		"fetch by nobody":    func(ctx context.Context) error { _, err := nobody.Fetch(ctx, topic, 0, 0); return err },
		"produce by nobody": func(ctx context.Context) error {
			_, err := nobody.Produce(ctx, topic, 0, pipelinetest.Values("a"))
			return err
		},
		"configs by nobody": func(ctx context.Context) error { _, err := nobody.TopicConfig(ctx, topic); return err },
		"group of nobody":   member(nobody),
		"fetch by looker":   func(ctx context.Context) error { _, err := looker.Fetch(ctx, topic, 0, 0); return err },
		"produce by looker": func(ctx context.Context) error {
			_, err := looker.Produce(ctx, topic, 0, pipelinetest.Values("a"))
			return err
		},
		"grow by looker": func(ctx context.Context) error { return looker.GrowPartitions(ctx, topic, 2) },
		"committed of looker": func(ctx context.Context) error {
			_, err := looker.Committed(ctx, topic, topic, 0)
			return err
		},
		"group of looker": member(looker),
		"create by looker": func(ctx context.Context) error {
			_, err := looker.CreateTopics(ctx, []pipeline.TopicSpec{{Name: topic + "-new", Partitions: 1}})
			return err
		},
	} {
		err := call(pipelinetest.Context(t))
		if !errors.Is(err, pipeline.ErrDenied) || !pipeline.IsPermanent(err) || !strings.Contains(err.Error(), topic) {
			t.Errorf("%s: permanent %v: %v", what, pipeline.IsPermanent(err), err)
		}
	}
}
