package config

// untagged is the reference text of keys whose structs are documented for callers in Go and carry no doc tag:
// package pipeline/kafka is usable without this one. A test sees that no key is left without a text.
var untagged = map[string]string{
	"kafka.brokers":                  "bootstrap addresses, host:port each; the others of the cluster are found through them",
	"kafka.client_id":                "name that brokers log and apply quotas to",
	"kafka.tls.enabled":              "encrypt the connections",
	"kafka.tls.ca_file":              "PEM file of the authorities that sign the brokers' certificates; empty = those of the system",
	"kafka.tls.cert_file":            "PEM file of the client's own certificate; empty = none",
	"kafka.tls.key_file":             "PEM file of the client's own key; set together with cert_file",
	"kafka.tls.server_name":          "name that the brokers' certificates must carry; empty = the host dialed",
	"kafka.sasl.mechanism":           "plain, scram-sha-256 or scram-sha-512; empty = no authentication",
	"kafka.sasl.user":                "name to authenticate as",
	"kafka.sasl.password":            "the password itself; password_file keeps it out of files and environments",
	"kafka.sasl.password_file":       "file that holds the password; a newline at its end is not part of it",
	"kafka.sasl.allow_plaintext":     "let mechanism plain send the password over a connection that is not encrypted",
	"kafka.dial_timeout":             "time to open a connection, with TLS and authentication",
	"kafka.request_timeout":          "time from a request to its answer; a fetch gets fetch_max_wait on top",
	"kafka.fetch_max_bytes":          "what one fetch asks for, as stored; a larger batch is returned alone",
	"kafka.fetch_max_wait":           "how long a fetch waits at the broker for a first record",
	"kafka.batch_budget_bytes":       "memory of one fetch once decompressed; a batch over it is refused and dead-lettered by its coordinates",
	"kafka.compression":              "compression of what is produced: none, gzip, snappy, lz4 or zstd",
	"kafka.session_timeout":          "time without a heartbeat after which a member's partitions go to others; brokers ask for 6s or more",
	"kafka.heartbeat_interval":       "how often a member reports, and how soon it notices a rebalance; at most a third of session_timeout",
	"kafka.rebalance_timeout":        "how long a rebalance waits for members that still finish their work, more than shutdown.drain_timeout",
	"kafka.partition_watch_interval": "how often a member looks for partitions added to its topic",
	"kafka.leave_timeout":            "time for an orderly exit from a consumer group; after it the connections are cut",
}
