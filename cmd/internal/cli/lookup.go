package cli

import (
	"context"
	"errors"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
)

// How long a topic may be unknown before it counts as missing, and how often it is looked up
// meanwhile: a new topic reaches the brokers one by one.
const (
	unknownFor   = time.Second
	unknownEvery = 200 * time.Millisecond
)

// LookUp waits for the brokers until ctx ends, and returns an error as soon as a topic is known to
// be missing. One-shot commands call it first, because the stages would wait for the topic.
func LookUp(ctx context.Context, r *stages.Process, topics ...string) error {
	for _, topic := range topics {
		err := pipeline.Try(
			ctx,
			r.Env.Logger,
			"look up topic "+topic,
			func() error { return isThere(ctx, r.Env.Broker, topic) },
		)
		if err != nil {
			return err
		}
	}
	return nil
}

func isThere(ctx context.Context, broker pipeline.Broker, topic string) error {
	for began := time.Now(); ; {
		_, err := broker.Partitions(ctx, topic)
		if !errors.Is(err, pipeline.ErrUnknownTopic) {
			return err
		}
		if time.Since(began) >= unknownFor {
			return pipeline.Permanent(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(unknownEvery):
		}
	}
}
