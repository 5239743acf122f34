package pipelinetest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/eerf-stream/eerf/pipeline"
)

// Between stands between a process and its broker. It calls the hooks that are set before it
// forwards a request; an error of a hook is the response.
type Between struct {
	pipeline.Broker
	OnFetch   func(ctx context.Context, topic string, partition int, offset int64) error
	OnProduce func(ctx context.Context, topic string, partition int, records []pipeline.Record) error
	Unled     func(topic string) []int // returns the partitions without a leader

	dead atomic.Bool
}

var (
	errKilled   = pipeline.Permanent(errors.New("killed"))
	errNoLeader = errors.New("the partition has no leader") // a client retries
)

// Kill cuts the process off, as kill -9 would: its further requests do not reach the broker.
func (b *Between) Kill() { b.dead.Store(true) }

// Killed reports whether the process is cut off.
func (b *Between) Killed() bool { return b.dead.Load() }

// led fails if the partition has no leader.
func (b *Between) led(topic string, partition int) error {
	if b.Unled != nil && slices.Contains(b.Unled(topic), partition) {
		return errNoLeader
	}
	return nil
}

// Fetch is part of [pipeline.Log].
func (b *Between) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	err := b.led(topic, partition)
	if err == nil && b.OnFetch != nil {
		err = b.OnFetch(ctx, topic, partition, offset)
	}
	if b.Killed() {
		err = errKilled
	}
	if err != nil {
		return pipeline.Fetched{}, err
	}
	return b.Broker.Fetch(ctx, topic, partition, offset)
}

// Offsets is part of [pipeline.Log].
func (b *Between) Offsets(ctx context.Context, topic string, partition int) (first, next int64, err error) {
	if err := b.led(topic, partition); err != nil {
		return 0, 0, err
	}
	return b.Broker.Offsets(ctx, topic, partition)
}

// Leaderless is part of [pipeline.Log].
func (b *Between) Leaderless(ctx context.Context, topic string) ([]int, error) {
	if b.Unled == nil {
		return b.Broker.Leaderless(ctx, topic)
	}
	return b.Unled(topic), nil
}

// Produce is part of [pipeline.Producer].
func (b *Between) Produce(
	ctx context.Context,
	topic string,
	partition int,
	records []pipeline.Record,
) (first int64, err error) {
	if b.OnProduce != nil {
		err = b.OnProduce(ctx, topic, partition, records)
	}
	if b.Killed() {
		err = errKilled
	}
	if err != nil {
		return 0, err
	}
	return b.Broker.Produce(ctx, topic, partition, records)
}

// OpenWriter returns the broker itself.
func (b *Between) OpenWriter(context.Context, *pipeline.WriterID, ...pipeline.Target) (pipeline.Producer, error) {
	return b, nil
}
