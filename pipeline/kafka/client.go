package kafka

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"github.com/eerf-stream/eerf/pipeline"
)

// metadataTTL bounds the age of the view of the cluster by which requests are routed. A view that
// proves wrong is renewed at once; otherwise an old one only delays requests.
const metadataTTL = 6 * time.Second

// lookupsAtOnce limits concurrent requests for offsets, because readers of many partitions start
// together.
const lookupsAtOnce = 16

// Client is a pool of connections to one Kafka cluster. It implements [pipeline.Broker].
type Client struct {
	config    Config
	log       *zap.Logger
	encrypt   *encryption     // nil = connections are not encrypted
	login     *authentication // nil = connections are not authenticated
	conns     *conns
	transport *kafkago.Transport
	requests  *kafkago.Client
	pool      *pool
	leaders   *leaders
	stats     *statsTable
	lookups   *semaphore.Weighted // bounds the connections that look up offsets

	identities identities

	onceUnfenced, onceUnnumbered sync.Once // log missing protections of writers once

	coordinating *semaphore.Weighted // bounds requests to coordinators

	formatter   *kmsg.RequestFormatter
	correlation atomic.Int32
	checked     atomic.Bool // the brokers' version was checked
	renewals    atomic.Int64
	ctx         context.Context // ends once Close has waited for the owners
	close       func()

	mu      sync.Mutex // guards members, readers, and closing against new calls of Own
	members []*member
	readers map[int]*setReader // by batch budget
	closing context.Context
	owners  sync.WaitGroup // calls of Own
}

var _ pipeline.Broker = (*Client)(nil)

// New checks the configuration, reads the files that it names and returns a client. The first
// request connects.
func New(config Config, logger *zap.Logger) (*Client, error) {
	if err := config.Validate(); err != nil {
		return nil, fmt.Errorf("kafka configuration: %w", err)
	}
	config = config.withDefaults()
	encryption, err := newEncryption(config.TLS, logger)
	if err != nil {
		return nil, fmt.Errorf("kafka configuration: %w", err)
	}
	mechanism, err := newCredentials(config.SASL, logger)
	if err != nil {
		return nil, fmt.Errorf("kafka configuration: %w", err)
	}
	formatter := kmsg.NewRequestFormatter(kmsg.FormatterClientID(config.ClientID))
	var login *authentication
	if mechanism != nil {
		login = &authentication{mechanism: mechanism, formatter: formatter, timeout: config.DialTimeout}
	}
	c := &Client{
		config:       config,
		log:          logger,
		encrypt:      encryption,
		login:        login,
		conns:        newConns(encryption, login),
		readers:      map[int]*setReader{},
		pool:         newPool(config.FetchMemory, config.BatchBudgetBytes),
		stats:        newStatsTable(),
		lookups:      semaphore.NewWeighted(lookupsAtOnce),
		formatter:    formatter,
		identities:   identities{known: map[identityKey]*knownLog{}},
		coordinating: semaphore.NewWeighted(coordinations),
	}
	c.leaders = newLeaders(c)
	c.connect()
	return c, nil
}

func (c *Client) connect() {
	ctx, cancel := context.WithCancel(context.Background())
	closing, leave := context.WithCancel(ctx)
	c.ctx, c.closing = ctx, closing
	c.transport = &kafkago.Transport{
		Dial:        c.conns.dial,
		DialTimeout: c.config.DialTimeout,
		MetadataTTL: metadataTTL,
		ClientID:    c.config.ClientID,
		Context:     ctx,
	}
	c.requests = &kafkago.Client{
		Addr:      kafkago.TCP(c.config.Brokers...),
		Timeout:   c.config.RequestTimeout,
		Transport: c.transport,
	}
	c.close = sync.OnceFunc(func() {
		c.mu.Lock()
		leave()
		c.mu.Unlock()
		c.owners.Wait()
		cancel()
		c.transport.CloseIdleConnections()
		c.conns.close()
		c.login.close()
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, reader := range c.readers {
			reader.close()
		}
	})
}

// Close ends all work of the client: calls of Own return and leave their groups, requests fail,
// connections are cut. Closing twice is fine.
func (c *Client) Close() error {
	c.close()
	return nil
}

// enter registers a call of Own, whose context ends with Close too.
func (c *Client) enter(ctx context.Context) (context.Context, func(), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing.Err() != nil {
		return nil, nil, errClosed
	}
	c.owners.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	unlink := context.AfterFunc(c.closing, cancel)
	return ctx, func() {
		unlink()
		cancel()
		c.owners.Done()
	}, nil
}

// place is the subject of a request, for errors. topic is empty if the request concerns no topic;
// partition is -1 unless the request concerns a single one.
type place struct {
	doing     string
	topic     string
	partition int
}

func (p place) String() string {
	switch {
	case p.topic == "":
		return p.doing
	case p.partition < 0:
		return fmt.Sprintf("%s %s", p.doing, p.topic)
	default:
		return fmt.Sprintf("%s %s/%d", p.doing, p.topic, p.partition)
	}
}

// repairs is how often a request is resent: after a restart of a broker the connection is stale,
// and then perhaps the view of the cluster.
const repairs = 2

// call sends a request, and resends it after renewing a stale connection or view of the cluster.
func (c *Client) call(ctx context.Context, at place, limit time.Duration, request func(context.Context) error) error {
	seen := c.renewals.Load()
	err := c.once(ctx, limit, request)
	for range repairs {
		if err == nil || ctx.Err() != nil {
			break
		}
		if isMisrouted(err) {
			err = c.exists(ctx, at)
		} else if isDisconnected(err) {
			err = nil
		}
		if err != nil {
			break
		}
		seen = c.renew(seen)
		err = c.once(ctx, limit, request)
	}
	return c.explain(ctx, at, err)
}

// once sends a request and waits for its response until the limit.
func (c *Client) once(ctx context.Context, limit time.Duration, request func(context.Context) error) error {
	if c.ctx.Err() != nil {
		return errClosed
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := request(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		// Formatted, not wrapped: callers take an ended context for their own.
		return fmt.Errorf("no response within %v: %s", limit, err.Error())
	}
	return err
}

// renew drops the connections and the view of the cluster unless that has happened since the caller
// last saw the count, because the requests of many partitions fail together. Requests under way
// keep their connections.
func (c *Client) renew(seen int64) (count int64) {
	if c.renewals.CompareAndSwap(seen, seen+1) {
		c.transport.CloseIdleConnections()
	}
	return c.renewals.Load()
}
