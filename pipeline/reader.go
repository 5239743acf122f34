package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"go.uber.org/zap"
)

// Special values of From and Until in [ReadOptions].
const (
	// FirstOffset starts at the first offset that the partition holds.
	FirstOffset int64 = -1
	// PresentEnd is the end of the partition at the time when reading begins.
	PresentEnd int64 = -1
	// Forever keeps reading new records.
	Forever int64 = -2
)

// ReadOptions select the records of a [Reader]. The zero value reads from offset 0 to offset 0:
// nothing.
type ReadOptions struct {
	// From is the first offset to read, or [FirstOffset].
	From int64
	// Until is the next offset at which reading ends, [PresentEnd] or [Forever]. An offset must not
	// exceed an end that [Log.Offsets] returned: the reader does not wait for a log that ends
	// before it, but takes it for truncated.
	Until int64
	// Ahead keeps one fetch under way while the caller handles the records of the previous one, as
	// long as memory is free. At most two fetches are in memory. The fetch ends with the context of
	// the call of Next that began it.
	Ahead bool
	// Watch selects the checks that the log is still the log of Place, and later the log that was
	// read last. A different log is a [Gap] of kind [GapRecreated] or [GapTruncated].
	Watch Watch
	// Place is the place before From. An empty one belongs to the current log.
	Place Place
	// BatchBudget limits the batches that can be read, see [WithBatchBudget]; 0 = the broker's own
	// limit.
	BatchBudget int64
	// OnGap, if set, is called with each [Gap] instead of logging it. Reading continues at its To
	// unless OnGap calls [Reader.MoveTo] or fails; [io.EOF] ends reading without an error.
	OnGap func(Gap) error
}

// Reader reads the records of one partition in offset order. It is the only way to read a topic: it
// retries while the broker is unavailable ([Retry]) and skips unreadable records by the rules of
// [GapKind]. One goroutine uses it. With Ahead it needs [Reader.Close], which its iterators call.
type Reader struct {
	log       Log
	logger    *zap.Logger
	topic     string
	partition int
	options   ReadOptions

	begun    bool
	probe    bool  // the position is beyond the current end: the log was truncated, or a transaction before it is open
	next     int64 // next offset to fetch
	end      int64 // until, or the end of the partition when reading began; -1 = unknown
	until    int64 // Forever, or the next offset at which reading ends
	last     Fetched
	inFlight *fetchRequest
	watcher  watcher
}

// fetchRequest is a fetch in flight.
type fetchRequest struct {
	offset int64
	done   chan struct{} // closed once fetched or err is set
	cancel context.CancelFunc

	fetched Fetched
	err     error
}

// NewReader returns a reader that has not fetched anything yet.
func NewReader(log Log, logger *zap.Logger, topic string, partition int, o ReadOptions) *Reader {
	return &Reader{
		log:       log,
		logger:    logger,
		topic:     topic,
		partition: partition,
		options:   o,
		next:      o.From,
		until:     o.Until,
		end:       -1,
		watcher:   newWatcher(o.Watch, o.Place),
	}
}

// NextOffset is the offset at which reading continues: after the records of the last fetch,
// including records that an abandoned iterator did not return. It is [FirstOffset] until the first
// offset is known.
func (r *Reader) NextOffset() int64 { return r.next }

// MoveTo sets the offset at which reading continues.
func (r *Reader) MoveTo(next int64) { r.next = next }

// Place is the place after the records of the last fetch, as far as the reader watches the log.
func (r *Reader) Place() Place { return r.watcher.place() }

// CaughtUp reports whether everything up to Until that the partition held when reading began has
// been read or skipped.
func (r *Reader) CaughtUp() bool { return r.end >= 0 && r.next >= r.end }

// Close ends the fetch in flight and releases the last records.
func (r *Reader) Close() {
	r.release()
	r.endAhead()
}

// release releases the memory of the records returned last.
func (r *Reader) release() {
	r.last.Release()
	r.last = Fetched{}
}

// endAhead ends the fetch in flight and discards its records.
func (r *Reader) endAhead() {
	if r.inFlight != nil {
		r.inFlight.cancel()
		<-r.inFlight.done
		r.inFlight.fetched.Release()
		r.inFlight = nil
	}
}

// Next returns the next records, which are valid until the next call, or no records if nothing
// arrived for a while. At the end it returns [io.EOF]. Other errors are permanent, or come from ctx
// or OnGap; reading can continue after them.
func (r *Reader) Next(ctx context.Context) (Fetched, error) {
	r.release()
	if err := r.begin(ctx); err != nil {
		return Fetched{}, err
	}
	for r.until == Forever || r.next < r.until || r.probe {
		if err := ctx.Err(); err != nil {
			return Fetched{}, err
		}
		fetched, err := r.fetch(ctx)
		if err == nil {
			err = r.checkEnd(ctx, fetched)
		}
		gap, ok, err := r.changeOr(ctx, fetched, err)
		if ok || err != nil || r.probe { // the records are not returned
			fetched.Release()
		}
		if ok {
			r.probe = false
			if err := r.pass(gap); err != nil {
				return Fetched{}, err
			}
			continue
		}
		if err != nil {
			return Fetched{}, fmt.Errorf("%s at offset %d: %w", r.what(), r.next, err)
		}
		if r.probe {
			r.probe = false
			continue
		}
		fetched = r.cut(fetched)
		r.last = fetched
		r.next = fetched.NextOffset
		r.watcher.read(fetched)
		fetched.Place = r.watcher.place()
		r.askAhead(ctx, fetched)
		return fetched, nil
	}
	return Fetched{}, io.EOF
}

// Fetches iterates over the results of [Reader.Next]. An error is the last thing that it yields. It
// closes the reader.
func (r *Reader) Fetches(ctx context.Context) iter.Seq2[Fetched, error] {
	return func(yield func(Fetched, error) bool) {
		defer r.Close()
		for {
			fetched, err := r.Next(ctx)
			if errors.Is(err, io.EOF) || !yield(fetched, err) || err != nil {
				return
			}
		}
	}
}

// Records iterates over single records, each valid until the next one. An error is the last thing
// that it yields. It closes the reader.
func (r *Reader) Records(ctx context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for fetched, err := range r.Fetches(ctx) {
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, record := range fetched.Records {
				if !yield(record, nil) {
					return
				}
			}
		}
	}
}

func (r *Reader) what() string { return fmt.Sprintf("read %s/%d", r.topic, r.partition) }

// Begin returns the offsets where reading begins and ends, and looks them up unless the options
// give them; end is -1 if it does not matter. Next does that too; Begin is for callers who need the
// offsets first.
func (r *Reader) Begin(ctx context.Context) (next, end int64, err error) {
	err = r.begin(ctx)
	return r.next, r.end, err
}

func (r *Reader) begin(ctx context.Context) error {
	if r.begun {
		return nil
	}
	if r.next == FirstOffset || r.until == PresentEnd {
		first, end, err := r.offsets(ctx)
		if err != nil {
			return err
		}
		r.end = end
		if r.next == FirstOffset {
			r.next = first
		}
		if r.until == PresentEnd {
			r.until, r.probe = end, r.next > end
		}
	}
	if r.until != Forever {
		r.end = r.until
	}
	r.begun = true
	return nil
}

func (r *Reader) offsets(ctx context.Context) (first, end int64, err error) {
	err = Try(ctx, r.logger, "look up offsets of "+r.topic, func() error {
		first, end, err = r.log.Offsets(ctx, r.topic, r.partition)
		return err
	})
	if err != nil {
		err = fmt.Errorf("look up offsets of %s/%d: %w", r.topic, r.partition, err)
	}
	return first, end, err
}

func (r *Reader) fetch(ctx context.Context) (Fetched, error) {
	ahead := r.inFlight
	if ahead == nil || ahead.offset != r.next {
		r.endAhead()
		return r.request(ctx, r.next)
	}
	select {
	case <-ahead.done:
	case <-ctx.Done():
		return Fetched{}, ctx.Err()
	}
	ahead.cancel()
	r.inFlight = nil
	if errors.Is(ahead.err, ErrNoMemory) {
		return r.request(ctx, r.next)
	}
	return ahead.fetched, ahead.err
}

// request fetches once, and retries while the broker is unavailable.
func (r *Reader) request(ctx context.Context, offset int64) (Fetched, error) {
	attempts := 0
	ctx = WithBatchBudget(ctx, r.options.BatchBudget)
	fetched, err := Retry(ctx, r.logger, r.what(), func() (Fetched, error) {
		attempts++
		return r.log.Fetch(ctx, r.topic, r.partition, offset)
	})
	fetched.retried = attempts > 1
	return fetched, err
}

// askAhead sends the next request if more remains to be read.
func (r *Reader) askAhead(ctx context.Context, after Fetched) {
	if !r.options.Ahead || r.next >= after.End || r.until != Forever && r.next >= r.until {
		return
	}
	ctx, cancel := context.WithCancel(OnlyFree(ctx))
	ahead := &fetchRequest{offset: r.next, done: make(chan struct{}), cancel: cancel}
	r.inFlight = ahead
	go func() {
		defer close(ahead.done)
		ahead.fetched, ahead.err = r.request(ctx, ahead.offset)
	}()
}

// checkEnd detects a log that ends before its earlier end, which no record would reveal. A new
// leader may briefly answer a fetch with an earlier end than the true one, but not a request for
// its offsets.
func (r *Reader) checkEnd(ctx context.Context, fetched Fetched) error {
	if r.end < 0 {
		r.end = fetched.End
	}
	if len(fetched.Records) > 0 || fetched.NextOffset > r.next || r.CaughtUp() || fetched.End >= r.end {
		return nil
	}
	first, end, err := r.offsets(ctx)
	if err != nil || end >= r.end {
		return err
	}
	return &OffsetOutOfRangeError{Topic: r.topic, Partition: r.partition, Offset: r.next, First: first, Next: end}
}

// cut drops records after the end of reading.
func (r *Reader) cut(f Fetched) Fetched {
	if r.until == Forever || f.NextOffset <= r.until {
		return f
	}
	f.NextOffset = r.until
	for n := len(f.Records); n > 0 && f.Records[n-1].Offset >= r.until; n-- {
		f.Records = f.Records[:n-1]
	}
	return f
}

// changeOr returns the gap caused by a change of the log or by the error of a fetch, if any.
func (r *Reader) changeOr(ctx context.Context, fetched Fetched, err error) (Gap, bool, error) {
	var outOfRange *OffsetOutOfRangeError
	if err != nil && !errors.As(err, &outOfRange) {
		r.watcher.alarmed = true
		gap, ok := r.gapOf(err)
		return gap, ok, err
	}
	changed, failed := r.checkLog(ctx, fetched, outOfRange)
	switch {
	case failed != nil:
		return Gap{}, false, failed
	case changed != nil:
		return *changed, true, err
	}
	gap, ok := r.gapOf(err)
	return gap, ok, err
}

// pass moves the reader past a gap and reports it to OnGap, which may move it elsewhere.
func (r *Reader) pass(g Gap) error {
	if g.Changed() { // the log will not reach its earlier end
		r.end = min(r.end, g.End)
		if r.until != Forever {
			r.until = min(r.until, g.End)
		}
	}
	r.next = g.To
	if r.until != Forever {
		r.next = min(g.To, r.until)
	}
	if r.options.OnGap != nil {
		return r.options.OnGap(g)
	}
	g.Log(r.logger)
	return nil
}

// ReadAll applies the current records of a partition and returns its next offset. It reads with
// [ForState], so apply must not wait for a fetch.
func ReadAll(ctx context.Context, log Log, logger *zap.Logger, topic string, partition int,
	apply func(Record) error) (next int64, err error) {
	r := NewReader(log, logger, topic, partition, ReadOptions{From: FirstOffset, Until: PresentEnd})
	for fetched, err := range r.Fetches(ForState(ctx)) {
		if err == nil {
			err = applyAll(fetched.Records, apply)
		}
		if err != nil {
			return r.NextOffset(), err
		}
	}
	return r.NextOffset(), ctx.Err()
}

func applyAll(records []Record, apply func(Record) error) error {
	for _, record := range records {
		if err := apply(record); err != nil {
			return fmt.Errorf("%s/%d at offset %d: %w", record.Topic, record.Partition, record.Offset, err)
		}
	}
	return nil
}
