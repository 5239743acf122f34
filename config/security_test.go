package config

import (
	"net"
	"strings"
	"testing"
)

func TestFaultsHideUsersInURLs(t *testing.T) {
	for _, text := range []string{
		"traces: {endpoint: \"http://eerf:" + canary + "@localhost:4318\"}",
		"traces: {endpoint: \"http://" + canary + "@localhost:4318/v1/traces?\"}",
		"kafka: {brokers: [\"kafka://eerf:" + canary + "@localhost:9092\", \"b:1\"]}",
		"kafka: {brokers: \"kafka://eerf:" + canary + "@localhost:9092\"}",
		"kafka: {proxy: \"http://eerf:" + canary + "@localhost:8080\"}",
		"kafka: {fetch_max_wait: \"http://eerf:" + canary + "@localhost\"}",
	} {
		got := faultsOf(t, text).Error()
		if strings.Contains(got, canary) || !strings.Contains(got, redacted) && !strings.Contains(got, "unknown key") {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// The served pages reveal much about a process, so by default only this machine can read them.
func TestDefaultsListenOnLoopback(t *testing.T) {
	admin := Default().Admin
	host, _, err := net.SplitHostPort(admin.Listen)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		t.Errorf("admin.listen is %q, %v", admin.Listen, err)
	}
	if admin.Pprof {
		t.Error("profiles are served")
	}
}
