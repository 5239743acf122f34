package live

import (
	"context"
	"fmt"
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
	// Events is the topic of the blocks' rows, against which blocks are verified. Without it, or
	// without the right to describe it, forged blocks count.
	Events string
	// OnIgnored is called for each record that is no block of its partition; nil = not called.
	OnIgnored func()

	mu      sync.Mutex
	window  *Window
	report  Report
	changed chan struct{} // closed and replaced with each new report
	ignored map[fault]int64

	next     []int64          // by partition: offset to read
	verified []pipeline.LogID // by partition: log of the last verified block
}

// NewFollower returns a follower that has read nothing.
func NewFollower(log pipeline.Log, logger *zap.Logger, clock func() time.Time, topic, pipeline string) *Follower {
	f := &Follower{
		Log:      log,
		Logger:   logger,
		Clock:    clock,
		Topic:    topic,
		Pipeline: pipeline,
		window:   NewWindow(),
		changed:  make(chan struct{}),
		ignored:  map[fault]int64{},
	}
	f.report = f.window.Report()
	return f
}

// Report returns the newest report.
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
	// lookEvery is the shortest interval of reading, and reading takes at most one part in pauses
	// of the time.
	lookEvery = time.Second
	pauses    = 10
	// readers is the number of partitions that are read at a time.
	readers = 8
	// readBytes bounds the blocks that are read ahead of the window, over all partitions; each
	// partition has at least one.
	readBytes = 4 << 20
)

// Run reads the topic until ctx ends. While that fails, the last report stays: nothing else depends
// on it.
func (f *Follower) Run(ctx context.Context) {
	failed := false
	for ctx.Err() == nil {
		began := time.Now()
		err := f.Look(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			f.Logger.Warn("live errors cannot be read", zap.String("topic", f.Topic), zap.Error(err))
		}
		failed = err != nil
		select {
		case <-ctx.Done():
		case <-time.After(max(lookEvery, pauses*time.Since(began))):
		}
	}
}

// Look reads the new blocks once. It must not run concurrently with itself or Run.
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
		f.next, f.verified = append(f.next, first), append(f.verified, "")
	}
	return f.merge(ctx)
}

// atFirst bounds the blocks that are read after a start, over all partitions: with 250 compared
// rows in each, the window needs far fewer, and the hours reach back as far as they allow.
const atFirst = 20_000

// begin returns the offset to read first in a partition: the offset of the oldest hour, as far back
// as atFirst allows.
func (f *Follower) begin(ctx context.Context, number, partitions int) (int64, error) {
	first, err := f.Log.OffsetAt(ctx, f.Topic, number, f.Clock().Add(-Hours*time.Hour))
	if err != nil {
		return 0, err
	}
	_, end, err := f.Log.Offsets(ctx, f.Topic, number)
	return max(first, end-int64(atFirst/partitions)), err
}

// placedBlock is a block and the offset after it.
type placedBlock struct {
	*wire.Block
	next int64
}

// source reads the blocks of a partition ahead of the window, within a number of bytes.
type source struct {
	follower  *Follower
	number    int
	most      int64
	ahead     []placedBlock
	next      int64                     // offset after ahead
	end       int64                     // where reading ends for now
	events    func() (eventsLog, error) // looks the log up once
	eventsEnd int64                     // -1 = not looked up yet
	err       error                     // reading failed; the rest is left for the next time
}

// merge adds the new blocks of all partitions to the window, in the order of their times, but the
// blocks of one partition always in their own order. It holds a few of them at a time. A partition
// that cannot be read does not stop the others.
func (f *Follower) merge(ctx context.Context) error {
	sources := make([]source, len(f.next))
	lookUp := sync.OnceValues(func() (eventsLog, error) { return f.lookUpEvents(ctx) })
	group := errgroup.Group{}
	group.SetLimit(readers)
	for number := range sources {
		s := &sources[number]
		*s = source{
			follower:  f,
			number:    number,
			most:      readBytes / int64(len(sources)),
			next:      f.next[number],
			events:    lookUp,
			eventsEnd: -1,
		}
		group.Go(func() error {
			_, s.end, s.err = f.Log.Offsets(ctx, f.Topic, number)
			if s.err == nil && s.next > s.end {
				s.restart(ctx, len(sources))
			}
			s.fill(ctx)
			return nil
		})
	}
	_ = group.Wait()
	added := false
	for {
		first := -1
		for i := range sources {
			if len(sources[i].ahead) > 0 && (first < 0 || byTime(sources[i].ahead[0].Block, sources[first].ahead[0].Block) < 0) {
				first = i
			}
		}
		if first < 0 {
			break
		}
		s := &sources[first]
		f.add(s.ahead[0].Block)
		added = true
		f.next[first] = s.ahead[0].next
		s.ahead[0] = placedBlock{}
		s.ahead = s.ahead[1:]
		if len(s.ahead) == 0 {
			s.fill(ctx)
		}
	}
	if added {
		f.announce()
	}
	for i := range sources {
		if err := sources[i].err; err != nil {
			return err
		}
		f.next[i] = max(f.next[i], sources[i].next) // past records without a block
	}
	return nil
}

// restart begins again in a topic that was truncated or recreated. The window skips known blocks.
func (s *source) restart(ctx context.Context, partitions int) {
	f := s.follower
	first, err := f.begin(ctx, s.number, partitions)
	if err != nil {
		s.err = err
		return
	}
	f.Logger.Warn("topic of live errors was truncated or recreated; reading its newest blocks again",
		zap.String("topic", f.Topic), zap.Int("partition", s.number), zap.Int64("offset", s.next), zap.Int64("end", s.end))
	s.next, f.next[s.number] = first, first
}

// fill reads blocks until their memory is used up or the partition ends.
func (s *source) fill(ctx context.Context) {
	if s.err != nil || s.next >= s.end {
		return
	}
	f := s.follower
	reader := pipeline.NewReader(f.Log, f.Logger, f.Topic, s.number, pipeline.ReadOptions{From: s.next, Until: s.end})
	bytes := int64(0)
	s.ahead = s.ahead[:0]
	for rec, err := range reader.Records(pipeline.ForState(ctx)) {
		if err != nil {
			s.err = err
			return
		}
		block, err := s.decode(ctx, &rec)
		if err != nil {
			s.err = err
			return
		}
		s.next = rec.Offset + 1
		if block == nil {
			continue
		}
		s.ahead = append(s.ahead, placedBlock{block, s.next})
		if bytes += block.Memory(); bytes >= s.most {
			return
		}
	}
	s.next = max(s.next, reader.NextOffset())
}

// decode returns the block in a record, nil if it is not a block of this pipeline and partition.
func (s *source) decode(ctx context.Context, rec *pipeline.Record) (*wire.Block, error) {
	f := s.follower
	block, err := wire.DecodeBlock(rec.Value)
	if err != nil {
		f.ignore(rec, faultUndecodable, err)
		return nil, nil
	}
	if block.Pipeline != f.Pipeline || int(block.Partition) != rec.Partition {
		return nil, nil
	}
	kind := faultFuture
	if !rec.Time.After(f.Clock().Add(plausibleLead)) {
		kind, err = s.verify(ctx, block)
	}
	if err != nil {
		return nil, err
	}
	if kind != "" {
		f.ignore(rec, kind, nil)
		return nil, nil
	}
	block.From, block.To = plausible(block.From, rec.Time), plausible(block.To, rec.Time)
	return block, nil
}

// plausibleLead is by how much an event may be later than the record of its block, and this record
// later than the clock: clocks differ by less.
const plausibleLead = time.Hour

// plausible returns the time of an event, or the time of its block's record if the event would be
// from the future. An event with a wrong time would otherwise be the newest one for as long as that
// lies ahead.
func plausible(event, published time.Time) time.Time {
	if latest := published.Add(plausibleLead); event.After(latest) {
		return published
	}
	return event
}

// add adds a block to the window.
func (f *Follower) add(b *wire.Block) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.window.Add(b)
}

// announce makes a new report.
func (f *Follower) announce() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report = f.window.Report()
	close(f.changed)
	f.changed = make(chan struct{})
}
