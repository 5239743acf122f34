package kafka

import (
	"context"
	"errors"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

// Own implements [pipeline.Broker]. It waits for a topic that does not exist yet. The client's
// Close ends it too, so a run must not call Close.
func (c *Client) Own(
	ctx context.Context,
	group string,
	topic string,
	run func(ctx context.Context, o pipeline.Ownership) error,
) error {
	ctx, done, err := c.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	m := &member{
		client:   c,
		group:    group,
		topic:    topic,
		run:      run,
		standing: newStanding(group, topic),
		log:      c.log.With(zap.String("group", group), zap.String("topic", topic)),
	}
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
	stop context.CancelCauseFunc // the cause is the error of a run

	known   membership // changes between generations, and while the runs of a generation end
	joining bool       // a join is under way
	release func()     // releases the name
}

// runFailureError is the cause if a run, not the context, ended Own.
type runFailureError struct{ err error }

func (f *runFailureError) Error() string { return f.err.Error() }

// own takes part in successive generations of the group until the context ends.
func (m *member) own() error {
	if err := m.awaitTopic(); err != nil {
		return m.outcome(err)
	}
	m.known.instance, m.release = m.client.instance(m.group)
	defer func() { m.release() }()
	for {
		g, err := m.join()
		if err != nil {
			m.leave()
			return m.outcome(err)
		}
		m.take(g)
	}
}

// outcome is the result of Own: the error of a run, nil at the end of the context, or err.
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

// awaitTopic returns once the topic exists. A group that joins earlier would rejoin endlessly.
func (m *member) awaitTopic() error {
	_, err := pipeline.Retry(m.ctx, m.log, "await topic", func() (int, error) {
		return m.client.Partitions(m.ctx, m.topic)
	})
	return err
}

// take runs the partitions that the generation assigns to this member, and returns when the
// generation and its runs have ended. The member sends heartbeats until then, so that it keeps its
// membership while it finishes its work.
func (m *member) take(g *generation) {
	ctx, end := context.WithCancel(m.ctx)
	defer end()
	m.standing.joined(g.partitions)
	m.log.Info("partitions assigned",
		zap.Ints("partitions", g.partitions),
		zap.Int32("generation", g.number),
		zap.String("instance", g.instance))
	var runs, reports sync.WaitGroup
	for _, partition := range g.partitions {
		runs.Go(func() { m.runPartition(ctx, g, partition) })
	}
	runs.Go(func() { m.watchPartitions(ctx, end, g.topicPartitions) })
	working, done := context.WithCancel(context.WithoutCancel(m.ctx))
	reports.Go(func() { m.report(working, end, g) })
	<-ctx.Done()
	m.standing.ended()
	runs.Wait()
	done()
	reports.Wait()
}

// watchPartitions ends the generation when the number of partitions differs from the assigned one.
func (m *member) watchPartitions(ctx context.Context, end context.CancelFunc, assigned int) {
	ticker := time.NewTicker(m.client.config.PartitionWatchInterval)
	defer ticker.Stop()
	for {
		n, err := m.client.Partitions(ctx, m.topic)
		if err == nil && n != assigned {
			m.log.Info("number of partitions changed; rejoining", zap.Int("partitions", n), zap.Int("before", assigned))
			end()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// runPartition calls run. A failed one ends Own.
func (m *member) runPartition(ctx context.Context, g *generation, partition int) {
	err := m.run(ctx, pipeline.Ownership{
		Partition: partition,
		Commit: func(ctx context.Context, nextOffset int64, of pipeline.LogID) error {
			return m.client.commit(ctx, g, m.topic, partition, nextOffset, of)
		},
	})
	stopped := ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
	if err != nil && !stopped {
		m.stop(&runFailureError{err})
	}
}

// report sends heartbeats until ctx ends. It ends the generation when members come or go, when the
// coordinator no longer knows the member, and when the coordinator has not answered for so long
// that it may soon reassign the partitions.
func (m *member) report(ctx context.Context, end context.CancelFunc, g *generation) {
	defer end()
	config := &m.client.config
	ticker := time.NewTicker(config.HeartbeatInterval)
	defer ticker.Stop()
	for heard := time.Now(); ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		err := m.client.heartbeat(ctx, g, min(config.RequestTimeout, config.SessionTimeout/4))
		switch {
		case err == nil:
			heard = now
		case isAny(err, kafkago.RebalanceInProgress):
			heard = now
			end()
		case ctx.Err() != nil:
			return
		case m.reconsider(err):
			return
		case pipeline.IsPermanent(err) || time.Since(heard) >= config.SessionTimeout/2:
			m.log.Warn("no answer from the group coordinator; giving up the partitions", zap.Error(err))
			return
		}
	}
}
