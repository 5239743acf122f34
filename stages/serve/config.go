package serve

import (
	"cmp"
	"runtime"
	"time"
)

// DefaultListen is the default address. It is reachable from this machine alone.
const DefaultListen = "127.0.0.1:8000"

// Config is the address, the access control and the limits of featurizer serve.
type Config struct {
	Listen           string        `key:"listen" doc:"address at which featurizer serve answers, host:port; :8000 listens on all addresses"`
	Predictions      bool          `key:"predictions" doc:"serve a model with its feature set; false = serve only features, of the current feature set, with or without a model"`
	Token            string        `key:"token" secret:"true" doc:"token that requests for rows and metadata must send as Authorization: Bearer, 16 bytes or more; best set in the environment; empty = no token is required"`
	TLS              TLS           `key:"tls"`
	Missing          string        `key:"missing" doc:"treatment of rows that lack a column, or a value where the explored rows always had one: refuse, or allow = impute the value; a request may override it with ?missing=allow or ?missing=refuse"`
	MaxBodyBytes     int64         `key:"max_body_bytes" unit:"bytes" range:"1KiB,2147483647" doc:"largest body of a request; larger ones are refused"`
	BudgetBytes      int64         `key:"budget_bytes" unit:"bytes" range:"1KiB,1TiB" doc:"memory that decoding one request may allocate"`
	MaxRows          int           `key:"max_rows" unit:"rows" range:"1,2147483647" doc:"most rows of a request; requests with more are refused"`
	MaxResponseBytes int64         `key:"max_response_bytes" unit:"bytes" range:"64KiB,2147483647" doc:"largest possible answer; requests that could exceed it are refused"`
	Memory           int64         `key:"memory" unit:"bytes" range:"1KiB,1PiB" doc:"memory for the bodies of all requests, as they arrive, and for their answers; a request that does not fit is told to retry later"`
	Concurrency      int           `key:"concurrency" range:"1,4096" zero:"twice the number of processors" doc:"requests processed at a time; others wait. 0 = twice the number of processors"`
	Connections      int           `key:"connections" range:"1,1000000" doc:"open connections, at most half of them from one address; a new connection replaces the one that was idle longest, or waits if all are busy"`
	Timeout          time.Duration `key:"timeout" unit:"duration" range:"1ms,24h" doc:"time for a request to arrive, and then to be answered, including the wait for a slot"`
	DrainDelay       time.Duration `key:"drain_delay" unit:"duration" range:"0s,24h" doc:"time for which requests are still accepted after a signal to stop, while /v2/health/ready already fails so that load balancers notice; requests in progress then have shutdown.drain_timeout to finish"`
}

// The settings of Config.Missing.
const (
	MissingRefuse = "refuse"
	MissingAllow  = "allow"
)

// MissingRules returns the settings of Config.Missing.
func MissingRules() []string { return []string{MissingRefuse, MissingAllow} }

// TLS holds the certificates of the server and of accepted clients.
type TLS struct {
	CertFile     string `key:"cert_file" doc:"PEM file of the certificate chain; reread when it changes; empty = no TLS"`
	KeyFile      string `key:"key_file" doc:"PEM file of the key of the certificate"`
	ClientCAFile string `key:"client_ca_file" doc:"PEM file of the authorities that sign client certificates; if set, clients without a certificate are refused (mTLS); empty = clients need no certificate"`
}

// Default returns the configuration of an empty file.
func Default() Config {
	return Config{
		Listen:           DefaultListen,
		Predictions:      true,
		Missing:          MissingRefuse,
		MaxBodyBytes:     4 << 20,
		BudgetBytes:      32 << 20,
		MaxRows:          8192,
		MaxResponseBytes: 32 << 20,
		Memory:           128 << 20,
		Connections:      1024,
		Timeout:          10 * time.Second,
		DrainDelay:       5 * time.Second,
	}
}

// Slots returns the number of requests that are processed at a time.
func (c Config) Slots() int { return cmp.Or(c.Concurrency, 2*runtime.GOMAXPROCS(0)) }
