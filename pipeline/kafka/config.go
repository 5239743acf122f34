package kafka

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/internal/bytesize"
	"github.com/eerf-stream/eerf/pipeline"
)

// Config holds the addresses of the brokers and the settings of connections. A zero field stands
// for its default in [DefaultConfig]; brokers have no default, so Config{Brokers: ...} is complete.
type Config struct {
	Brokers                []string      `key:"brokers" doc:"bootstrap addresses, host:port each; they name the other brokers of the cluster"`
	ClientID               string        `key:"client_id" doc:"name of the client in the logs and quotas of brokers"`
	TLS                    TLS           `key:"tls"`
	SASL                   SASL          `key:"sasl"`
	DialTimeout            time.Duration `key:"dial_timeout" doc:"time to open a connection, with TLS and authentication"`
	RequestTimeout         time.Duration `key:"request_timeout" doc:"time from a request to its answer; a fetch gets fetch_max_wait on top"`
	FetchMaxBytes          int           `key:"fetch_max_bytes" doc:"size of one fetch as stored by the broker; a larger batch is returned alone"`
	FetchMaxWait           time.Duration `key:"fetch_max_wait" doc:"time that a fetch waits at the broker for a first record"`
	BatchBudgetBytes       int           `key:"batch_budget_bytes" doc:"memory of one decompressed fetch; a larger batch is refused and becomes a dead letter with its coordinates"`
	FetchMemory            int64         `key:"fetch_memory" unit:"bytes" doc:"memory of all fetches together, compressed and decoded, until their records are handled; at least two of the largest, four and a half batch_budget_bytes"`
	Compression            Compression   `key:"compression" doc:"compression of produced batches: none, gzip, snappy, lz4 or zstd"`
	Idempotence            Idempotence   `key:"idempotence" doc:"auto: brokers refuse repeated requests and late writes of an earlier owner, where their version and the rights allow it; off: only readers drop duplicates"`
	GroupInstance          string        `key:"group_instance" doc:"name in consumer groups; a process that joins under the name of a dead one gets its partitions at once, without waiting for session_timeout; auto: the host name and a number, none: no name"`
	SessionTimeout         time.Duration `key:"session_timeout" doc:"time without a heartbeat after which the partitions of a member are reassigned; brokers require 6s or more"`
	HeartbeatInterval      time.Duration `key:"heartbeat_interval" doc:"interval of heartbeats, and so the delay until a member notices a rebalance; at most a third of session_timeout"`
	RebalanceTimeout       time.Duration `key:"rebalance_timeout" doc:"time that a rebalance waits for members to finish their work; more than shutdown.drain_timeout"`
	PartitionWatchInterval time.Duration `key:"partition_watch_interval" doc:"interval at which members check for partitions added to their topic"`
	LeaveTimeout           time.Duration `key:"leave_timeout" doc:"time for leaving a consumer group at shutdown; then the connections are cut"`
}

// DefaultConfig returns the defaults, without brokers.
func DefaultConfig() Config {
	return Config{
		ClientID:               "eerf",
		DialTimeout:            5 * time.Second,
		RequestTimeout:         30 * time.Second,
		FetchMaxBytes:          4 << 20,
		FetchMaxWait:           500 * time.Millisecond,
		BatchBudgetBytes:       64 << 20,
		FetchMemory:            320 << 20,
		Compression:            CompressionNone,
		Idempotence:            IdempotenceAuto,
		GroupInstance:          instanceAuto,
		SessionTimeout:         8 * time.Second,
		HeartbeatInterval:      time.Second,
		RebalanceTimeout:       30 * time.Second,
		PartitionWatchInterval: 5 * time.Second,
		LeaveTimeout:           3 * time.Second,
	}
}

// withDefaults fills the zero fields.
func (c Config) withDefaults() Config {
	memory := c.FetchMemory
	given, defaults := reflect.ValueOf(&c).Elem(), reflect.ValueOf(DefaultConfig())
	for i := range given.NumField() {
		if field := given.Field(i); field.IsZero() {
			field.Set(defaults.Field(i))
		}
	}
	if memory == 0 {
		c.FetchMemory = max(c.FetchMemory, LeastFetchMemory(c.BatchBudgetBytes))
	}
	return c
}

// Bounds of the configuration. One fetch must fit the 32-bit sizes of the protocol with room for
// framing; durations travel as 32-bit milliseconds.
const (
	maxBytes       = 1 << 30
	maxFetchMemory = 1 << 50
	maxDuration    = 24 * time.Hour
)

// sizeText formats a number of bytes for people.
func sizeText[T int | int64](bytes T) string { return bytesize.Text(int64(bytes)) }

// Validate reports all faults at once, each with its key, value and bound. It reads no files.
func (c Config) Validate() error {
	c = c.withDefaults()
	faults := c.brokerFaults()
	bytes := func(key string, value, least int) {
		if value < least || value > maxBytes {
			have, want := bytesize.Compared(int64(value), int64(least))
			faults = append(faults, fmt.Errorf("%s: %s is outside %s to %s", key, have, want, sizeText(maxBytes)))
		}
	}
	duration := func(key string, value, least time.Duration) {
		if value < least || value > maxDuration {
			faults = append(faults, fmt.Errorf("%s: %v is outside %v to %v", key, value, least, maxDuration))
		}
	}
	bytes("fetch_max_bytes", c.FetchMaxBytes, 1)
	bytes("batch_budget_bytes", c.BatchBudgetBytes, 1<<10)
	if c.FetchMaxBytes > c.BatchBudgetBytes {
		have, most := bytesize.Compared(int64(c.FetchMaxBytes), int64(c.BatchBudgetBytes))
		faults = append(faults, fmt.Errorf("fetch_max_bytes: %s is over batch_budget_bytes, %s", have, most))
	}
	if least := LeastFetchMemory(c.BatchBudgetBytes); c.FetchMemory < least || c.FetchMemory > maxFetchMemory {
		have, want := bytesize.Compared(c.FetchMemory, least)
		faults = append(faults, fmt.Errorf("fetch_memory: %s is outside %s to %s: "+
			"two of the largest fetches within batch_budget_bytes, %s, must fit",
			have, want, sizeText(int64(maxFetchMemory)), sizeText(c.BatchBudgetBytes)))
	}
	duration("dial_timeout", c.DialTimeout, time.Millisecond)
	duration("request_timeout", c.RequestTimeout, 10*time.Millisecond)
	duration("fetch_max_wait", c.FetchMaxWait, time.Millisecond)
	duration("session_timeout", c.SessionTimeout, 10*time.Millisecond)
	duration("heartbeat_interval", c.HeartbeatInterval, time.Millisecond)
	duration("rebalance_timeout", c.RebalanceTimeout, 10*time.Millisecond)
	duration("partition_watch_interval", c.PartitionWatchInterval, time.Millisecond)
	duration("leave_timeout", c.LeaveTimeout, time.Millisecond)
	if c.HeartbeatInterval > c.SessionTimeout/3 {
		faults = append(faults, fmt.Errorf("heartbeat_interval: %v is over a third of session_timeout, %v",
			c.HeartbeatInterval, c.SessionTimeout))
	}
	if c.Compression.number() < 0 {
		faults = append(faults, fmt.Errorf("compression: %q is not one of %v", c.Compression, compressions))
	}
	if !slices.Contains(idempotences, c.Idempotence) {
		faults = append(faults, fmt.Errorf("idempotence: %q is not one of %v", c.Idempotence, idempotences))
	}
	if !legalInstance(c.GroupInstance) {
		faults = append(faults, fmt.Errorf("group_instance: %q is not auto, none, "+
			"or at most %d of a-z, A-Z, 0-9, '.', '_' and '-'", c.GroupInstance, maxInstance))
	}
	faults = append(faults, c.TLS.faults()...)
	faults = append(faults, c.SASL.faults(c.TLS.Enabled)...)
	return errors.Join(faults...)
}

func (c Config) brokerFaults() []error {
	if len(c.Brokers) == 0 {
		return []error{errors.New("brokers: empty; at least one host:port is needed")}
	}
	var faults []error
	for i, address := range c.Brokers {
		host, port, err := net.SplitHostPort(address)
		number, numeric := strconv.Atoi(port)
		if err != nil || host == "" || strings.ContainsAny(host, "@/?#") || numeric != nil || number < 1 || number > 65535 {
			shown := pipeline.Quote(pipeline.PrintableURL(address)) // without a user and password
			faults = append(faults, fmt.Errorf("brokers[%d]: %q is not host:port", i, shown))
		}
	}
	return faults
}
