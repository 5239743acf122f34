// Package registry is a client of a Schema Registry with Confluent's HTTP interface, which
// Apicurio, Karapace and Redpanda also implement.
//
// A [Client] fetches a schema by id with all schemas that it refers to. It neither retries nor
// caches. A refusal with an error code of the registry is [ErrNoSchema]; other errors may be
// temporary. A fetch reads at most [FetchBytes], references included. Credentials go to the
// configured scheme, host and port only: redirects elsewhere are errors. A Client is safe for
// concurrent use.
package registry
