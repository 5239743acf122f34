// Package registry talks to a Schema Registry, by the HTTP interface of Confluent's, which Apicurio, Karapace and Redpanda
// have too.
//
// A [Client] fetches a schema by its id together with all that it refers to, and registers one. It neither retries nor caches.
// What the registry says no to, by an error code of its own, is [ErrNoSchema]; any other error may be gone at the next try. Concurrency: a Client is safe
// for several goroutines.
package registry
