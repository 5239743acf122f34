// Package registry talks to a Schema Registry through Confluent's HTTP interface, which Apicurio, Karapace and Redpanda
// have too.
//
// A [Client] fetches a schema by id together with everything that it refers to, and registers schemas. It neither
// retries nor caches. What the registry refuses with an error code of its own is [ErrNoSchema]; any other error may be
// gone at the next try. Concurrency: a Client is safe for concurrent use.
package registry
