// Command serveload sends requests to `featurizer serve` at a steady rate, from this machine.
//
//	serveload load     while sets and models change: no request may fail, and no answer may mix two pairs
//	serveload speed    response times next to those of an empty answer from the same server, and of a peer
//
// The rows have 77 numeric columns, the sets 1,000 features. Requests are due at fixed times, whether or not earlier ones were
// answered. If one is sent late because its connection was busy, its time counts from when it was due.
package main
