// Package serve answers requests about rows over HTTP/1.1, using stages/serve.
//
//	POST /v1/predict, /v1/features           rows of JSON or Arrow in, predictions or features out
//	POST /v2/models/{name}/infer             tensors, by the Open Inference Protocol (version 2)
//	GET  /v2, /v2/models/{name}              metadata of the server and the served model; both also under /versions/{version}
//	GET  /v2/health/live, /v2/health/ready   for load balancers
//
// A [Server] enforces the limits of its [serve.Limiter] on each request: the token, the length of
// the body before it is read, its pace, memory before it is taken, its slot, its time. Connections
// are bounded, and an idle one is closed when its place is needed. Every answer names its feature
// set and model, in headers and in its body. docs/serving.md is the reference of the HTTP
// interface.
//
// Concurrency: one goroutine for each connection, from net/http. Each request is processed in its
// own slot.
package serve
