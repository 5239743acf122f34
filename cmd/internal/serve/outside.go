package serve

import (
	"github.com/eerf-stream/eerf/internal/outside"
	"github.com/eerf-stream/eerf/stages/serve"
)

// Outside lists the endpoints of `featurizer serve` and the values of requests, with the default
// limits.
func Outside() []outside.Source {
	c := serve.Default()
	body := outside.WholeOf(c.MaxBodyBytes)
	none := outside.WholeOf(0)
	return []outside.Source{
		{
			Name:   "requests to serve",
			Where:  "`serve.listen`",
			Writer: "clients",
			Beyond: "status 4xx with the reason; the connection may be closed",
			Values: []outside.Value{
				{Name: "POST /v1/predict", Shape: body}, {Name: "POST /v1/features", Shape: body},
				{
					Name:  "POST /v2/models/{name}/infer",
					Shape: body,
				}, {Name: "POST /v2/models/{name}/versions/{version}/infer", Shape: body},
				{Name: "GET /{$}", Shape: none}, {Name: "GET /v2", Shape: none},
				{Name: "GET /v2/health/live", Shape: none}, {Name: "GET /v2/health/ready", Shape: none},
				{Name: "GET /v2/models/{name}", Shape: none}, {Name: "GET /v2/models/{name}/ready", Shape: none},
				{
					Name:  "GET /v2/models/{name}/versions/{version}",
					Shape: none,
				}, {Name: "GET /v2/models/{name}/versions/{version}/ready", Shape: none},
			},
		},
		{
			Name:   "parts of requests to serve",
			Where:  "`serve.listen`",
			Writer: "clients",
			Beyond: "status 4xx with the reason",
			Values: []outside.Value{
				{Name: "rows", Shape: outside.WholeOf(int64(c.MaxRows))},
				{Name: "all headers", Shape: outside.TextOf(headerBytes)},
				{Name: headerLength, Shape: outside.WholeOf(c.MaxBodyBytes)},
				{Name: "query parameter missing", Shape: outside.TextOf(outside.MaxWord)},
				{Name: "connections", Shape: outside.WholeOf(int64(c.Connections))},
			},
		},
	}
}
