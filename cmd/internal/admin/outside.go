package admin

import (
	"strings"

	"github.com/eerf-stream/eerf/internal/outside"
)

// Outside lists the endpoints of the admin server and of the status page. Only the symbols of a
// profile are asked for in a body.
func Outside() []outside.Source {
	none := outside.WholeOf(0)
	s := outside.Source{
		Name:   "requests to the admin server",
		Where:  "`admin.listen`",
		Writer: "probes, Prometheus, people",
		Beyond: "status 4xx; the connection may be closed",
		Values: []outside.Value{
			{
				Name:  "all headers",
				Shape: outside.TextOf(headerBytes),
			}, {Name: "connections", Shape: outside.WholeOf(maxConnections)}},
	}
	for _, endpoint := range []string{
		"GET /livez",
		"GET /readyz",
		"GET /metrics",
		"GET /version",
		"GET /config",
		"GET /{$}",
		"GET /status/",
		"GET /status/vendor/uplot/",
		"GET /api/status",
		"GET /api/status/events",
		"GET /debug/pprof/",
		"GET /debug/pprof/cmdline",
		"GET /debug/pprof/profile",
		"GET /debug/pprof/symbol",
		"POST /debug/pprof/symbol",
		"GET /debug/pprof/trace",
	} {
		body := none
		if strings.HasPrefix(endpoint, "POST ") {
			body = outside.WholeOf(bodyBytes)
		}
		s.Values = append(s.Values, outside.Value{Name: endpoint, Shape: body})
	}
	return []outside.Source{s}
}
