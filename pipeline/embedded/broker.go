package embedded

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"
)

// lockName is the file in the data directory that marks it as locked.
const lockName = "eerf.lock"

// Options are the settings of a broker. The zero value is a broker for one test.
type Options struct {
	// Dir is the data directory, created if missing. Empty = a temporary one that Close removes.
	Dir string
	// Host is the address to listen on and to announce to clients, so it cannot be a wildcard.
	// Empty = 127.0.0.1.
	Host string
	// Port is the port to listen on. Zero = a free one, see [Broker.Addrs].
	Port int
	// CompactEvery is the interval of compaction and retention; each run rewrites the compacted
	// topics. Zero = 10s.
	CompactEvery time.Duration
	// RebalanceTimeout limits how long a rebalance waits for missing members, regardless of the
	// timeouts that they request. Every join restarts that wait, so members that come and go at the
	// wrong moments could prolong it for ever. Zero = as requested.
	RebalanceTimeout time.Duration
	// Logger receives the broker's warnings. Nil = none.
	Logger *zap.Logger
}

// Bounds of the session timeout that a group member may request. The greatest is Apache Kafka's
// default of group.max.session.timeout.ms.
const (
	minSessionTimeout = 100 * time.Millisecond
	maxSessionTimeout = 30 * time.Minute
)

func (o Options) withDefaults() Options {
	if o.Host == "" {
		o.Host = "127.0.0.1"
	}
	if o.CompactEvery == 0 {
		o.CompactEvery = 10 * time.Second
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	return o
}

func (o Options) validate() error {
	var faults []error
	if o.Port < 0 || o.Port > 65535 {
		faults = append(faults, fmt.Errorf("port %d is outside 0 to 65535", o.Port))
	}
	if o.CompactEvery < time.Millisecond {
		faults = append(faults, fmt.Errorf("compaction interval %v is under 1ms", o.CompactEvery))
	}
	if o.RebalanceTimeout < 0 || o.RebalanceTimeout > maxSessionTimeout {
		faults = append(faults, fmt.Errorf("rebalance timeout %v is outside 0 to %v", o.RebalanceTimeout, maxSessionTimeout))
	}
	return errors.Join(faults...)
}

// Broker is a running embedded broker.
type Broker struct {
	addrs []string
	close func() error

	mu      sync.Mutex // guards cluster: a closed one blocks its callers
	cluster *kfake.Cluster
	closed  bool
}

// Start starts a broker on the contents of its data directory.
func Start(options Options) (*Broker, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	dir, release, err := open(options.Dir)
	if err != nil {
		return nil, fmt.Errorf("embedded broker: %w", err)
	}
	cluster, err := kfake.NewCluster(options.cluster(dir)...)
	if err != nil {
		return nil, fmt.Errorf("embedded broker: %w", errors.Join(err, release()))
	}
	forgetNumbers(dir)
	if options.RebalanceTimeout > 0 {
		boundRebalances(cluster, options.RebalanceTimeout)
	}
	b := &Broker{cluster: cluster, addrs: cluster.ListenAddrs()}
	stop := b.compactEvery(options.CompactEvery)
	b.close = sync.OnceValue(func() error {
		stop()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.closed = true
		cluster.Close()
		return release()
	})
	return b, nil
}

// forgetNumbers removes the producer sequence numbers that the previous broker saved when it was
// closed. The new broker has read them. If it were killed, the next one would take them for current
// and refuse later writers.
func forgetNumbers(dir string) { _ = os.Remove(filepath.Join(dir, "seq_windows.json")) }

// boundRebalances lowers the timeouts that members request in their joins.
func boundRebalances(cluster *kfake.Cluster, limit time.Duration) {
	cluster.ControlKey(kmsg.JoinGroup.Int16(), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if join, ok := request.(*kmsg.JoinGroupRequest); ok {
			join.RebalanceTimeoutMillis = min(join.RebalanceTimeoutMillis, int32(limit.Milliseconds()))
		}
		return nil, nil, false
	})
}

// compactEvery runs compaction until stop is called. kfake has its own timer, but does not start it
// for topics that it found in its directory.
func (b *Broker) compactEvery(interval time.Duration) (stop func()) {
	ticker := time.NewTicker(interval)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ticker.C:
				b.Compact()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(quit)
		<-done
	}
}

// open creates and locks the data directory; release unlocks it, and removes it if it is temporary.
func open(dir string) (path string, release func() error, err error) {
	temporary := dir == ""
	if temporary {
		dir, err = os.MkdirTemp("", "eerf-broker-")
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", nil, err
	}
	unlock, err := lock(dir)
	if err != nil {
		return "", nil, err
	}
	return dir, func() error {
		err := unlock()
		if temporary {
			err = errors.Join(err, os.RemoveAll(dir))
		}
		return err
	}, nil
}

func (o Options) cluster(dir string) []kfake.Opt {
	return []kfake.Opt{
		kfake.NumBrokers(1),
		kfake.Ports(o.Port),
		kfake.ListenFn(func(network, address string) (net.Listener, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			accepts, err := net.Listen(network, net.JoinHostPort(o.Host, port))
			if err != nil {
				return nil, err
			}
			return listener{accepts}, nil
		}),
		kfake.DataDir(dir),
		kfake.ClusterID("eerf-embedded"),
		kfake.DefaultNumPartitions(1),
		kfake.GroupMinSessionTimeout(minSessionTimeout),
		kfake.GroupMaxSessionTimeout(maxSessionTimeout),
		kfake.WithLogger(logger{o.Logger.Named("broker")}),
	}
}

// Addrs returns the bootstrap addresses, host:port each.
func (b *Broker) Addrs() []string { return append([]string(nil), b.addrs...) }

// Compact runs compaction and retention now, on all topics configured for them.
func (b *Broker) Compact() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.cluster.Compact() // applies retention too
	}
}

// Close disconnects the clients, writes pending data and releases the data directory; a temporary
// one is removed. Closing twice is fine.
func (b *Broker) Close() error { return b.close() }

// logger passes the broker's messages to zap. Informational ones concern single requests and become
// debug messages.
type logger struct{ to *zap.Logger }

func (l logger) Logf(level kfake.LogLevel, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	switch level {
	case kfake.LogLevelError:
		l.to.Error(message)
	case kfake.LogLevelWarn:
		l.to.Warn(message)
	default:
		l.to.Debug(message)
	}
}
