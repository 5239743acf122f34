package kafka

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

// A failed join is retried after a delay drawn from [rejoinDelay, 3*rejoinDelay). It does not grow: a group that waits
// for its members should not wait longer the longer its coordinator was away. Complaints are at least complainEvery
// apart.
const (
	rejoinDelay   = 300 * time.Millisecond
	complainEvery = 15 * time.Second
)

// Own implements [pipeline.Source]. It waits for a topic that does not exist yet. The client's Close ends it too, so a
// run must not call Close.
func (c *Client) Own(ctx context.Context, group, topic string, run func(ctx context.Context, o pipeline.Ownership) error) error {
	ctx, done, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	m := &member{client: c, group: group, topic: topic, run: run, standing: newStanding(group, topic),
		log: c.log.With(zap.String("group", group), zap.String("topic", topic))}
	c.addMember(m)
	defer c.dropMember(m)
	m.ctx, m.stop = context.WithCancelCause(ctx)
	defer m.stop(nil)
	return m.own()
}

// member is one call of Own.
type member struct {
	client       *Client
	group, topic string
	run          func(ctx context.Context, o pipeline.Ownership) error
	log          *zap.Logger
	standing     *standing

	ctx  context.Context         // ends with Own's context, Close, or a failed run
	stop context.CancelCauseFunc // its cause is the error of a run
	runs sync.WaitGroup

	// partitions is the number of partitions at some time before the present generation was joined, so it is at most
	// the number assigned. Generations do not overlap, and only they and own write it.
	partitions int
}

// runFailureError is the cause if a run ended Own, not its context.
type runFailureError struct{ err error }

func (f *runFailureError) Error() string { return f.err.Error() }

// own takes part in the group until the context ends. kafka-go's group joins, hands a generation to Next, and joins
// again once every function started in it has returned. Every generation ends when one of them returns, so functions
// whose run is over wait for the end.
func (m *member) own() error {
	if err := m.awaitTopic(); err != nil {
		return m.outcome(err)
	}
	conns := newConns(m.client.encrypt)
	defer conns.close()
	joined, err := kafkago.NewConsumerGroup(m.groupConfig(conns))
	if err != nil {
		return pipeline.Permanent(fmt.Errorf("join group %s: %w", m.group, err))
	}
	for {
		gen, failed := m.next(joined)
		if failed != nil {
			err = failed
			break
		}
		m.start(gen)
	}
	m.leave(joined, conns, errors.Is(err, errNotJoined))
	return m.outcome(err)
}

// outcome is what Own returns: the error of a run, nil at the end of the context, or err.
func (m *member) outcome(err error) error {
	var failure *runFailureError
	if errors.As(context.Cause(m.ctx), &failure) {
		return failure.err
	}
	if m.ctx.Err() != nil {
		return nil
	}
	return err
}

// awaitTopic returns once the topic exists. A group that joins earlier would join again and again.
func (m *member) awaitTopic() (err error) {
	m.partitions, err = pipeline.Retry(m.ctx, m.log, "await topic", func() (int, error) {
		return m.client.Partitions(m.ctx, m.topic)
	})
	return err
}

// errNotJoined marks an end after a failed attempt to join.
var errNotJoined = errors.New("not joined")

// next returns the next generation. Its error is permanent or the end of the context. kafka-go keeps joining by itself,
// so this must wait for nothing but its results: a generation that is not picked up is time lost.
func (m *member) next(joined *kafkago.ConsumerGroup) (*kafkago.Generation, error) {
	at := place{"join group " + m.group + " for", m.topic, -1}
	failures := 0
	var complained time.Time
	for {
		gen, err := joined.Next(m.ctx)
		switch {
		case err == nil:
			return gen, nil
		case m.ctx.Err() != nil && failures == 0:
			return nil, m.ctx.Err()
		case m.ctx.Err() != nil:
			return nil, errNotJoined
		case errors.Is(err, kafkago.RebalanceInProgress):
			continue // another member joined or left meanwhile
		}
		failures++
		err = m.client.explain(m.ctx, at, err)
		m.standing.failed(err)
		if pipeline.IsPermanent(err) {
			return nil, fmt.Errorf("%w: %w", errNotJoined, err)
		}
		if time.Since(complained) >= complainEvery {
			complained = time.Now()
			m.log.Warn("group not joined, trying again", zap.Error(err), zap.Int("failures", failures))
		}
	}
}

// start starts a run for each partition of the generation.
func (m *member) start(gen *kafkago.Generation) {
	partitions := make([]int, 0, len(gen.Assignments[m.topic]))
	for _, assigned := range gen.Assignments[m.topic] {
		partitions = append(partitions, assigned.ID)
	}
	m.standing.joined(partitions)
	m.log.Info("partitions assigned", zap.Ints("partitions", partitions), zap.Int32("generation", gen.ID))
	for _, partition := range partitions {
		m.runs.Add(1)
		gen.Start(func(ended context.Context) {
			defer m.runs.Done()
			m.runPartition(ended, gen, partition)
		})
	}
	m.runs.Add(1)
	gen.Start(func(ended context.Context) {
		defer m.runs.Done()
		defer m.standing.ended()
		m.watchPartitions(ended)
	})
}

// watchPartitions returns, which ends the generation, when the number of partitions has changed since before the group
// was joined. kafka-go does this too, but misses what was added between the join and its first look, and ends the
// generation whenever it cannot look.
func (m *member) watchPartitions(ended context.Context) {
	ctx, cancel := context.WithCancel(m.ctx)
	defer cancel()
	defer context.AfterFunc(ended, cancel)()
	ticker := time.NewTicker(m.client.config.PartitionWatchInterval)
	defer ticker.Stop()
	for ended.Err() == nil {
		n, err := m.client.Partitions(ctx, m.topic)
		if err == nil && n != m.partitions {
			m.log.Info("number of partitions changed, joining again", zap.Int("partitions", n), zap.Int("before", m.partitions))
			m.partitions = n
			return
		}
		select {
		case <-ticker.C:
		case <-ended.Done():
		}
	}
}

// runPartition calls run and returns when the generation has ended. kafka-go does not wait for functions started in a
// generation that is already over, so none is run in one.
func (m *member) runPartition(ended context.Context, gen *kafkago.Generation, partition int) {
	if ended.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(m.ctx)
	defer cancel()
	defer context.AfterFunc(ended, cancel)()
	err := m.run(ctx, pipeline.Ownership{
		Partition: partition,
		Commit: func(ctx context.Context, nextOffset int64, of pipeline.LogID) error {
			return m.client.commit(ctx, gen, m.topic, partition, nextOffset, of)
		},
	})
	stopped := ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
	if err != nil && !stopped {
		m.stop(&runFailureError{err})
	}
	<-ended.Done()
}

// leave ends the generation, waits for the runs and leaves the group. Waiting for the broker is bounded: a join under
// way lasts until the other members have joined, and an absent broker does not answer.
func (m *member) leave(joined *kafkago.ConsumerGroup, conns *conns, notJoined bool) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = joined.Close() // always nil
	}()
	m.runs.Wait()
	if !notJoined {
		timer := time.NewTimer(m.client.config.LeaveTimeout)
		defer timer.Stop()
		select {
		case <-closed:
		case <-timer.C:
			m.log.Warn("group not left in time, connections cut", zap.Duration("leave_timeout", m.client.config.LeaveTimeout))
		}
	}
	conns.close()
	<-closed
}

func (m *member) groupConfig(conns *conns) kafkago.ConsumerGroupConfig {
	config := &m.client.config
	return kafkago.ConsumerGroupConfig{
		ID:      m.group,
		Brokers: config.Brokers,
		Topics:  []string{m.topic},
		Dialer: &kafkago.Dialer{
			ClientID:      config.ClientID,
			DialFunc:      conns.dial,
			Timeout:       config.DialTimeout,
			SASLMechanism: m.client.sasl,
		},
		GroupBalancers:    []kafkago.GroupBalancer{kafkago.RangeGroupBalancer{}},
		HeartbeatInterval: config.HeartbeatInterval,
		SessionTimeout:    config.SessionTimeout,
		RebalanceTimeout:  config.RebalanceTimeout,
		JoinGroupBackoff:  rejoinDelay + rand.N(2*rejoinDelay),
		// A heartbeat without a response ends the generation before the broker gives the partitions away.
		Timeout:     min(config.RequestTimeout, config.SessionTimeout/2),
		Logger:      kafkago.LoggerFunc(m.log.Named("group").Sugar().Debugf),
		ErrorLogger: kafkago.LoggerFunc(m.log.Named("group").Sugar().Debugf), // errors come back from Next
	}
}
