package serve

import (
	"cmp"
	"runtime"
	"time"
)

// DefaultListen is the default address. Only this machine can reach it.
const DefaultListen = "127.0.0.1:8000"

// Config says where rows are answered, who may ask, and the limits.
type Config struct {
	Listen           string        `key:"listen" doc:"address at which featurizer serve answers, host:port; :8000 listens on all addresses"`
	Predictions      bool          `key:"predictions" doc:"serve a model with its feature set; false = features alone, of the feature set in use, with or without a model"`
	Token            string        `key:"token" secret:"true" doc:"token that requests for rows and metadata must send as Authorization: Bearer, 16 bytes or more; best set in the environment; empty = no token is asked for"`
	TLS              TLS           `key:"tls"`
	Missing          string        `key:"missing" doc:"what becomes of a row that lacks a column, or has no value where the explored rows always had one: refuse, or allow = impute it; requests may say ?missing=allow or ?missing=refuse"`
	MaxBodyBytes     int64         `key:"max_body_bytes" unit:"bytes" doc:"a request with a larger body is refused"`
	BudgetBytes      int64         `key:"budget_bytes" unit:"bytes" doc:"memory that decoding one request may allocate"`
	MaxRows          int           `key:"max_rows" unit:"rows" doc:"a request with more rows is refused"`
	MaxResponseBytes int64         `key:"max_response_bytes" unit:"bytes" doc:"a request whose answer could be larger is refused"`
	Memory           int64         `key:"memory" unit:"bytes" doc:"memory for the bodies of all requests, as they arrive, and for their answers; a request that does not fit is asked to try again later"`
	Concurrency      int           `key:"concurrency" doc:"requests that are worked on at a time; others wait. 0 = twice the processors"`
	Connections      int           `key:"connections" doc:"connections that are open at a time, at most half of them from one address; the one that was idle longest is closed for a new one, and if all are busy a new one waits"`
	Timeout          time.Duration `key:"timeout" unit:"duration" doc:"how long a request may take to arrive, and then to be answered, including the wait for a slot"`
	DrainDelay       time.Duration `key:"drain_delay" unit:"duration" doc:"how long requests are still accepted after a signal to stop, while /v2/health/ready already says no so that load balancers notice; those in progress then have shutdown.drain_timeout to finish"`
}

// The settings of Config.Missing.
const (
	MissingRefuse = "refuse"
	MissingAllow  = "allow"
)

// MissingRules returns the settings of Config.Missing.
func MissingRules() []string { return []string{MissingRefuse, MissingAllow} }

// TLS says how connections are encrypted and which clients are accepted.
type TLS struct {
	CertFile     string `key:"cert_file" doc:"PEM file of the certificate chain; read again when it changes; empty = no TLS"`
	KeyFile      string `key:"key_file" doc:"PEM file of its key"`
	ClientCAFile string `key:"client_ca_file" doc:"PEM file of the authorities that sign client certificates; if set, clients without one are refused (mTLS); empty = clients need none"`
}

// Default returns the configuration of an empty file.
func Default() Config {
	return Config{
		Listen: DefaultListen, Predictions: true, Missing: MissingRefuse, MaxBodyBytes: 4 << 20, BudgetBytes: 32 << 20, MaxRows: 8192,
		MaxResponseBytes: 32 << 20, Memory: 128 << 20, Connections: 1024, Timeout: 10 * time.Second, DrainDelay: 5 * time.Second,
	}
}

// Slots is how many requests are worked on at once.
func (c Config) Slots() int { return cmp.Or(c.Concurrency, 2*runtime.GOMAXPROCS(0)) }
