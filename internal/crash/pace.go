package crash

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
)

// What a [Pace] sends.
const (
	paceFirst = 40                   // messages to each partition, for a feature set
	paceBurst = 480                  // messages to each partition, as fast as possible
	paceEvery = 5 * time.Millisecond // between two messages, partition by partition
	paceLimit = 2 * time.Minute      // for each part
)

// Pace measures the featurizer of some programs: rows a second under full load, and the time from sending a message to
// its features under light load.
type Pace struct {
	Programs Programs // without failpoints
	Broker   Broker
	Dir      string        // for logs and configuration
	Duration time.Duration // of the part under light load

	speed Speed
}

// Paced is the result.
type Paced struct {
	RowsPerSec float64
	P50, P99   time.Duration
}

// Run measures once.
func (p *Pace) Run(ctx context.Context) (result Paced, err error) {
	p.speed = Speed{Programs: p.Programs, Broker: p.Broker, Dir: p.Dir}
	featurizer, _, err := p.speed.prepare(ctx)
	if err != nil {
		return result, err
	}
	defer func() { _ = p.speed.client.Close() }()
	process, err := startProcess(filepath.Join(p.Dir, "featurizer.log"), failpoint.Trigger{}, 0, p.Programs.path("featurizer"), featurizer.args...)
	if err != nil {
		return result, err
	}
	defer process.kill()
	if err := p.fill(ctx, 0, paceFirst); err != nil {
		return result, fmt.Errorf("the first features: %w\n%s", err, process.tail())
	}
	began := time.Now()
	if err := p.fill(ctx, paceFirst, paceFirst+paceBurst); err != nil {
		return result, fmt.Errorf("features at full speed: %w\n%s", err, process.tail())
	}
	result.RowsPerSec = speedPartitions * paceBurst * speedRows / time.Since(began).Seconds()
	delays, err := p.delays(ctx)
	if err != nil {
		return result, fmt.Errorf("features one by one: %w\n%s", err, process.tail())
	}
	slices.Sort(delays)
	result.P50, result.P99 = delays[len(delays)/2], delays[len(delays)*99/100]
	process.signal(syscall.SIGTERM)
	<-process.done
	return result, nil
}

// fill sends some messages to each partition and waits for their features.
func (p *Pace) fill(ctx context.Context, first, next int) error {
	ctx, cancel := context.WithTimeout(ctx, paceLimit)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	for partition := range speedPartitions {
		messages, err := speedInput(uint64(partition))
		if err != nil {
			return err
		}
		group.Go(func() error {
			for n := first; n < next; n++ {
				if err := p.send(ctx, partition, messages[n%len(messages)]); err != nil {
					return err
				}
			}
			return nil
		})
		group.Go(func() error {
			return p.follow(ctx, partition, pipeline.FirstOffset, func(source int64, _ time.Time) bool { return source < int64(next)-1 })
		})
	}
	return group.Wait()
}

func (p *Pace) send(ctx context.Context, partition int, value []byte) error {
	_, err := p.speed.client.Produce(ctx, p.speed.loaded.Stages.Topics.Events, partition, []pipeline.Record{{Value: value}})
	return err
}

// follow reads features while more, given the event of each message, returns true.
func (p *Pace) follow(ctx context.Context, partition int, from int64, more func(source int64, seen time.Time) bool) error {
	reader := pipeline.NewReader(p.speed.client, zap.NewNop(), p.speed.loaded.Stages.Topics.Features, partition,
		pipeline.ReadOptions{From: from, Until: pipeline.Forever})
	for rec, err := range reader.Records(ctx) {
		if err != nil {
			return err
		}
		part, err := wire.ParseFeatureHeaders(events.Headers(rec.Headers))
		if err != nil {
			return err
		}
		if part.Last() && !more(part.SourceOffset, time.Now()) {
			return nil
		}
	}
	return ctx.Err()
}

// delays sends a message every few milliseconds, and returns the time from each to its features.
func (p *Pace) delays(ctx context.Context) (delays []time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.Duration+paceLimit)
	defer cancel()
	const before = paceFirst + paceBurst
	each := int(p.Duration / paceEvery / speedPartitions)
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	for partition := range speedPartitions {
		messages, err := speedInput(uint64(partition))
		if err != nil {
			return nil, err
		}
		_, from, err := p.speed.client.Offsets(ctx, p.speed.loaded.Stages.Topics.Features, partition)
		if err != nil {
			return nil, err
		}
		sent := make([]time.Time, each)
		began := time.Now().Add(time.Duration(partition) * paceEvery)
		group.Go(func() error {
			for n := range each {
				if !sleep(ctx, time.Until(began.Add(time.Duration(n*speedPartitions)*paceEvery))) {
					return ctx.Err()
				}
				mu.Lock()
				sent[n] = time.Now()
				mu.Unlock()
				if err := p.send(ctx, partition, messages[n%len(messages)]); err != nil {
					return err
				}
			}
			return nil
		})
		group.Go(func() error {
			return p.follow(ctx, partition, from, func(source int64, seen time.Time) bool {
				mu.Lock()
				defer mu.Unlock()
				n := int(source) - before
				if n >= 0 && n < each {
					delays = append(delays, seen.Sub(sent[n]))
				}
				return n < each-1
			})
		})
	}
	return delays, group.Wait()
}
