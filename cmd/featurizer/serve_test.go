package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/config"
)

// servedFile is the configuration of a small pipeline whose processes serve HTTP on free ports.
func servedFile(t *testing.T, broker string) string {
	t.Helper()
	return clitest.File(t, "eerf.yaml", fmt.Sprintf(`
kafka: {brokers: [%q], fetch_max_wait: 20ms, heartbeat_interval: 50ms}
topics: {partitions: 2}
events: {label: [churned]}
exploration: {criterion: correlation, features: 16, candidates: 64, sample_rate: 1, min_rows: 2400, calibration_rows: 300}
admin: {listen: "127.0.0.1:0"}
`, broker))
}

func TestServiceAnswersOverHTTP(t *testing.T) {
	config := servedFile(t, clitest.Broker(t))
	data := clitest.File(t, "rows.csv", clitest.Mixed(2400))
	s := service(t, "run", "-c", config, "--stages", "calibrate,subsample,selection,featurize", "--json")

	if code, body := s.Get(t, "/livez"); code != http.StatusOK || body != "ok\n" {
		t.Errorf("/livez: %d %q", code, body)
	}
	clitest.Eventually(t, "not ready because topics are missing", func() bool {
		code, body := s.Get(t, "/readyz")
		return code == http.StatusServiceUnavailable && strings.Contains(body, "unknown topic")
	})
	fz(t, "topics", "create", "-c", config).Want(t, cli.ExitOK)
	clitest.Eventually(t, "not ready only because the feature set is missing", func() bool {
		var missing []string
		_, body := s.Get(t, "/readyz")
		readiness := clitest.Result{Out: body}.Object(t)
		if name := readiness.Text(t, "pipeline"); name != "default" {
			t.Errorf("/readyz names pipeline %q", name)
		}
		for _, c := range readiness.At(t, "conditions").([]any) {
			if condition := clitest.Object(c.(map[string]any)); condition["ok"] == false {
				missing = append(missing, condition.Text(t, "name"))
			}
		}
		return len(missing) == 1 && missing[0] == "feature_set"
	})
	fz(t, "produce", "-c", config, "--data", data, "--rows-per-message", "100").Want(t, cli.ExitOK)
	s.AwaitReady(t)

	clitest.Eventually(t, "every row featurized", func() bool {
		return s.Metric(t, "eerf_rows_total", "stage=featurize", "outcome=featurized") == 2400
	})
	for labels, want := range map[string]float64{
		"eerf_rows_total stage=subsample outcome=scored":               1896, // of 2400, without those that judge models
		"eerf_messages_total stage=featurize outcome=used":             24,
		"eerf_owned_partitions stage=subsample":                        2,
		"eerf_feature_set_features pipeline=default":                   16,
		"eerf_broker_requests_total operation=fetch":                   -1, // any
		"process_start_time_seconds":                                   -1,
		"eerf_build_info version=" + cli.BuildOf("featurizer").Version: -1,
	} {
		words := strings.Fields(labels)
		have := s.Metric(t, words[0], words[1:]...)
		if want >= 0 && have != want || want < 0 && have <= 0 {
			t.Errorf("%s: %v, want %v", labels, have, want)
		}
	}
	if code, body := s.Get(t, "/version"); code != http.StatusOK || !strings.Contains(body, `"program": "featurizer"`) {
		t.Errorf("/version: %d %s", code, body)
	}
	if code, body := s.Get(t, "/config"); code != http.StatusOK || !strings.Contains(body, "min_rows: 2400") {
		t.Errorf("/config: %d %s", code, body)
	}
	for _, path := range []string{"/debug/pprof/", "/elsewhere"} {
		if code, _ := s.Get(t, path); code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
	s.Stop(t).Want(t, cli.ExitOK, "stopped")
	if code, _ := s.Get(t, "/livez"); code != 0 {
		t.Errorf("a stopped service answers with %d", code)
	}
}

// The default address may be taken; a configured one may not.
func TestTakenAdminAddress(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	away := []string{"run", "--set", "kafka.brokers=127.0.0.1:1", "--set", "events.label=y"}
	fz(t, append(away, "--set", "admin.listen="+taken.Addr().String())...).
		Want(t, cli.ExitFailure, "listen for HTTP", "address already in use", "nothing was started", "choose another port")

	// If no other process has the default address, this test takes it.
	if other, err := net.Listen("tcp", config.DefaultListen); err == nil {
		defer other.Close()
	}
	s := service(t, away...)
	line := s.LogLine(t, "default admin address is taken; running without health, metrics and status page: "+
		"requests to this address reach the other process (set admin.listen)")
	if line["level"] != "warn" {
		t.Errorf("%v", line)
	}
	s.LogLine(t, "retrying")
	s.Stop(t).Want(t, cli.ExitOK, "stopped")
}
