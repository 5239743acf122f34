// Package registry talks to a Schema Registry through Confluent's HTTP interface, which Apicurio, Karapace and Redpanda
// have too.
//
// A [Client] fetches a schema by id together with everything that it refers to, and registers schemas. It neither
// retries nor caches. What the registry refuses with an error code of its own is [ErrNoSchema]; any other error may be
// gone at the next try. Memory: a fetch reads at most [FetchBytes], references included. Credentials go to the configured
// scheme, host and port only: redirects elsewhere are errors. Concurrency: a Client is safe for concurrent use.
package registry
