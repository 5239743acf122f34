package live

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// Follower reads the blocks of a pipeline from their topic. It is safe for concurrent use.
type Follower struct {
	Log      pipeline.Log
	Logger   *zap.Logger
	Clock    func() time.Time
	Topic    string
	Pipeline string

	mu      sync.Mutex
	window  *Window
	report  Report
	changed chan struct{} // closed and replaced with each new report

	next []int64 // by partition: offset to read
}

// NewFollower returns a follower that has read nothing.
func NewFollower(log pipeline.Log, logger *zap.Logger, clock func() time.Time, topic, pipeline string) *Follower {
	f := &Follower{Log: log, Logger: logger, Clock: clock, Topic: topic, Pipeline: pipeline, window: NewWindow(), changed: make(chan struct{})}
	f.report = f.window.Report()
	return f
}

// Report returns what is known now.
func (f *Follower) Report() Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.report
}

// Changed returns a channel that is closed with the next report.
func (f *Follower) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

const (
	// lookEvery is how often the topic is read at most, and pauses a tenth of which reading may take.
	lookEvery = time.Second
	pauses    = 10
	// readers is how many partitions are read at a time.
	readers = 8
)

// Run reads the topic again and again until ctx ends. While that fails, the last report stands: nothing else depends on
// it.
func (f *Follower) Run(ctx context.Context) {
	failed := false
	for ctx.Err() == nil {
		began := time.Now()
		err := f.Look(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			f.Logger.Warn("live errors are not known", zap.String("topic", f.Topic), zap.Error(err))
		}
		failed = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(max(lookEvery, pauses*time.Since(began))):
		}
	}
}

// Look reads what is new once. Run does it again and again; it must not run at the same time.
func (f *Follower) Look(ctx context.Context) error {
	partitions, err := f.Log.Partitions(ctx, f.Topic)
	if err != nil {
		return fmt.Errorf("look up topic %s: %w", f.Topic, err)
	}
	for number := len(f.next); number < partitions; number++ {
		first, err := f.begin(ctx, number, partitions)
		if err != nil {
			return fmt.Errorf("look up offsets of %s/%d: %w", f.Topic, number, err)
		}
		f.next = append(f.next, first)
	}
	blocks := make([][]*wire.Block, len(f.next))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for number := range f.next {
		group.Go(func() (err error) {
			blocks[number], err = f.read(ctx, number)
			return err
		})
	}
	err = group.Wait()
	f.take(blocks)
	return err
}

// atFirst bounds the blocks that are read at first, over all partitions: a busy stream has one a second in each.
const atFirst = 20_000

// begin returns where reading a partition begins: with the hours that are kept, as far back as atFirst allows.
func (f *Follower) begin(ctx context.Context, number, partitions int) (int64, error) {
	first, err := f.Log.OffsetAt(ctx, f.Topic, number, f.Clock().Add(-Hours*time.Hour))
	if err != nil {
		return 0, err
	}
	_, end, err := f.Log.Offsets(ctx, f.Topic, number)
	return max(first, end-int64(atFirst/partitions)), err
}

// read returns the new blocks of a partition.
func (f *Follower) read(ctx context.Context, number int) (blocks []*wire.Block, err error) {
	reader := pipeline.NewReader(f.Log, f.Logger, f.Topic, number, pipeline.ReadOptions{From: f.next[number], Until: pipeline.PresentEnd})
	for rec, err := range reader.Records(pipeline.ForState(ctx)) {
		if err != nil {
			return blocks, err
		}
		block, err := wire.DecodeBlock(rec.Value)
		switch {
		case err != nil:
			f.Logger.Warn("record of live errors not understood, ignored", zap.String("topic", f.Topic), zap.Int("partition", number),
				zap.Int64("offset", rec.Offset), zap.Error(err))
		case block.Pipeline == f.Pipeline && int(block.Partition) == number:
			blocks = append(blocks, block)
		}
	}
	f.next[number] = reader.NextOffset()
	return blocks, nil
}

// inTime yields the blocks of all partitions by time, those of a partition in their own order.
func inTime(blocks [][]*wire.Block) iter.Seq[*wire.Block] {
	return func(yield func(*wire.Block) bool) {
		for {
			next := -1
			for i, left := range blocks {
				if len(left) > 0 && (next < 0 || byTime(left[0], blocks[next][0]) < 0) {
					next = i
				}
			}
			if next < 0 || !yield(blocks[next][0]) {
				return
			}
			blocks[next] = blocks[next][1:]
		}
	}
}

// take adds new blocks to the window.
func (f *Follower) take(blocks [][]*wire.Block) {
	f.mu.Lock()
	defer f.mu.Unlock()
	added := false
	for b := range inTime(blocks) {
		f.window.Add(b)
		added = true
	}
	if added {
		f.report = f.window.Report()
		close(f.changed)
		f.changed = make(chan struct{})
	}
}
