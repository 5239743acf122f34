package integration

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline/kafkatest"
)

// TestExpiredTokens runs the whole pipeline under load through five renewals of tokens, and through
// faults of the endpoint: it returns a page, hangs, or is unavailable for twice the lifetime of a
// token. Every row is featurized once and trained on.
func TestExpiredTokens(t *testing.T) {
	life, err := time.ParseDuration(os.Getenv("EERF_TEST_TOKENS"))
	if err != nil {
		t.Skip("takes ten minutes: EERF_TEST_TOKENS=60s, the lifetime of tokens")
	}
	const batch = 300
	password, cluster := securedSite(t)
	endpoint := cluster.TokenEndpoint(t, life)
	c := endpoint.Config()
	s := newSite(
		t,
		cluster.Addrs,
		smallExploration,
	).as("kafka.tls.enabled", "true", "kafka.tls.ca_file", cluster.File("ca.pem"),
		"kafka.sasl.mechanism", "oauthbearer",
		"kafka.sasl.oauth.token_endpoint", c.TokenEndpoint,
		"kafka.sasl.oauth.allow_plaintext", "true",
		"kafka.sasl.oauth.client_id", "commands", "kafka.sasl.oauth.client_secret_file", c.ClientSecretFile,
		"kafka.sasl.oauth.scope", c.Scope, "kafka.sasl.oauth.timeout", c.Timeout.String(),
		"train.loss", "squared", "train.forget", "false")
	// cheap, and trains on every row
	password.config, password.name = s.config, s.name // produces without tokens
	s.run("featurizer", "topics", "create").Want(t, cli.ExitOK)
	service := s.as("kafka.sasl.oauth.client_id", "service", "admin.listen", "127.0.0.1:0").
		stages("calibrate,subsample,selection,featurize,train")
	rows := 0
	produce := func(by *site) {
		by.produce(batch)
		rows += batch
	}
	for rows < 1500 {
		produce(s)
	}
	s.untilTrained(rows)
	joins := func() int { return strings.Count(service.Log(), "partitions assigned") }
	joined := joins()

	for len(endpoint.Issued("service")) < 6 {
		produce(s)
	}
	s.untilTrained(rows)
	if now := joins(); now != joined {
		t.Errorf("groups were joined %d times after the first %d", now-joined, joined)
	}
	t.Logf("%d rows through five renewals", rows)
	for _, fault := range []struct{ name, says string }{
		{kafkatest.Page, "without a token"},
		{kafkatest.Slow, "no answer within 1s"},
	} {
		from := len(service.Log())
		endpoint.Fail(fault.name)
		for !strings.Contains(service.Log()[from:], fault.says) {
			produce(password)
		}
		if code, _ := service.Get(t, "/readyz"); code != http.StatusOK {
			t.Errorf("%s: not ready while the token is valid: status %d", fault.name, code)
		}
		endpoint.Fail("")
		clitest.Eventually(
			t,
			"a token after: "+fault.name,
			func() bool { return strings.Contains(service.Log()[from:], "token renewed after failures") },
		)
	}
	endpoint.Fail(kafkatest.Away)
	for until := time.Now().Add(2 * life); time.Now().Before(until); {
		produce(password)
	}
	if code, body := service.Get(t, "/readyz"); code != http.StatusServiceUnavailable ||
		!strings.Contains(body, "the token ended") ||
		!strings.Contains(body, c.TokenEndpoint) {
		t.Errorf("without a token for %v: status %d %s", life, code, body)
	}
	endpoint.Fail("")
	produce(password)
	s.untilTrained(rows)
	ended := s.stop(service)
	if featurized := ended.Object(t).Number(t, "featurize.featurized"); featurized != float64(rows) {
		t.Errorf("%v of %d rows featurized", featurized, rows)
	}
	silent(
		t,
		s.said.String()+password.said.String(),
		slices.Concat(endpoint.Issued("service"), endpoint.Issued("commands"))...)
	t.Logf("%d rows, %d tokens for the service", rows, len(endpoint.Issued("service")))
}
