package integration

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// canary is a password that occurs nowhere else. Other secrets begin with it.
const canary = "canary-Zq7_9vKx"

// silent fails if a text contains a secret, plain or encoded.
func silent(t *testing.T, said string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		for _, form := range []string{
			secret, hex.EncodeToString([]byte(secret)),
			strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(secret)), "="),
			strings.TrimRight(base64.StdEncoding.EncodeToString([]byte("\x00"+secret)), "="),
		} {
			if at := strings.Index(said, form); at >= 0 {
				t.Errorf("output reveals a secret: …%s…", said[max(0, at-200):min(len(said), at+50)])
			}
		}
	}
}

var address = regexp.MustCompile(`"address":"([^"]+)"`)

// served returns the pages of a service's HTTP server.
func served(t *testing.T, service *clitest.Process) string {
	t.Helper()
	service.AwaitLog(t, `"address":"`)
	host := address.FindStringSubmatch(service.Log())[1]
	var pages strings.Builder
	for _, page := range []string{
		"/config", "/metrics", "/version", "/readyz", "/livez", "/status/", "/api/status", "/absent",
		"/debug/pprof/cmdline", "/debug/pprof/goroutine?debug=2",
	} {
		answer, err := http.Get("http://" + host + page)
		pages.WriteString(text(t, answer, err, (page == "/absent")))
	}
	return pages.String()
}

// text returns the whole response; absent means that the page must not exist.
func text(t *testing.T, answer *http.Response, err error, absent bool) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || (answer.StatusCode == http.StatusNotFound) != absent {
		t.Errorf("%s: %s, %v", answer.Request.URL, answer.Status, err)
	}
	return fmt.Sprintf("%s: %s %v\n%s\n", answer.Request.URL, answer.Status, answer.Header, body)
}

// No request and no failure makes a process reveal the password, even at log level debug.
func TestSecretsAreNotPrinted(t *testing.T) {
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.EnableSASL(),
		kfake.Superuser("SCRAM-SHA-512", "anna", canary),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	s := newSite(
		t,
		cluster.ListenAddrs(),
		smallExploration,
	).as("kafka.sasl.mechanism", "scram-sha-512", "kafka.sasl.user", "anna",
		"kafka.sasl.password", canary)
	s.run("featurizer", "topics", "create").Want(t, cli.ExitOK)
	s.produce(1500)
	service := s.as("admin.listen", "127.0.0.1:0", "admin.pprof", "true", "serve.token", canary+"-of-the-server",
		"traces.endpoint", "http://127.0.0.1:1/v1/traces", "traces.sample_ratio", "1",
		"OTEL_EXPORTER_OTLP_HEADERS", "authorization="+canary+"-of-traces,"+canary+"-without-a-name",
		"OTEL_BSP_SCHEDULE_DELAY", "100").stages("calibrate,subsample,selection,featurize,train")
	service.AwaitLog(t, "using feature set")
	service.AwaitLog(t, "traces not sent")
	pages := served(t, service)
	s.stop(service)

	for _, command := range [][]string{
		{"featurizer", "config", "print"},
		{"featurizer", "config", "print", "--json"},
		{"featurizer", "config", "check", "--json"},
		{"featurizer", "inspect", "--json"},
		{"featurizer", "explorations", "list"},
		{"featurizer", "dead-letters", "list"},
		{"trainer", "fit"},
	} {
		if r := s.run(command[0], command[1:]...); command[0] != "trainer" { // it may fail for lack of rows
			r.Want(t, cli.ExitOK)
		}
	}
	flag := clitest.Finish(
		t, s.command("featurizer", "config", "print", "--set", "kafka.sasl.password="+canary+"-of-a-flag"),
	).
		Want(t, cli.ExitOK)
	silent(t, flag.Out+flag.Err, canary)
	for _, fault := range [][]string{
		{"kafka.sasl.mechanism", "scram"},
		{"kafka.sasl.user", ""},
		{"kafka.sasl.password_file", "/absent/" + "password"},
		{"kafka.sasl.mechanism", "plain"}, // needs TLS
		{"kafka.sasl.pasword", canary},
		{"kafka.tls.enabled", "maybe"},
		{"kafka.brokers", "kafka://anna:" + canary + "@127.0.0.1:1"},
		{"traces.endpoint", "http://anna:" + canary + "@127.0.0.1:1"},
		{"serve.token", canary}, // too short
	} {
		s.as(fault...).run("featurizer", "topics", "check").Want(t, cli.ExitUsage)
	}
	wrong := s.as("kafka.sasl.password", canary+"?")
	wrong.run("featurizer", "topics", "check", "--timeout", "500ms").Want(t, cli.ExitFailure)
	away := s.as("kafka.brokers", "127.0.0.1:1")
	away.run("featurizer", "topics", "check", "--timeout", "500ms").Want(t, cli.ExitFailure)
	plain := s.as("kafka.sasl.mechanism", "plain", "kafka.sasl.allow_plaintext", "true")
	plain.run("featurizer", "topics", "check", "--timeout", "500ms").Want(t, cli.ExitFailure)

	said := s.said.String() + pages
	silent(t, said, canary)
	if !strings.Contains(said, `"level":"debug"`) || !strings.Contains(pages, "user: anna") {
		t.Error("the processes printed nothing to check")
	}
}
