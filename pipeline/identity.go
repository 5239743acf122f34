package pipeline

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.uber.org/zap"
)

// LogID identifies the log of a topic. A recreated topic has a new log under the same name. A place
// or an offset saved with an empty id may belong to any log.
type LogID string

// AnyPartition lets any broker answer [Log.Identity].
const AnyPartition = -1

// Mark distinguishes a record batch from other batches at the same offset, past or future. The zero
// mark belongs to no batch.
type Mark struct {
	Offset   int64  // of the batch, not above its first record's offset
	Checksum uint32 // from its header
	// Epoch is the epoch of the leader that accepted the batch. Marks of one batch may differ in
	// it; a new epoch is only a reason to check the log.
	Epoch int32
}

// Is reports whether two marks belong to the same batch.
func (m Mark) Is(other Mark) bool { return m.Offset == other.Offset && m.Checksum == other.Checksum }

// Place is the position of a reader in a log, with enough information to check later, also in
// another process, whether the log still holds the records before it. An empty place is unknown.
type Place struct {
	Log LogID
	// Batch is the last batch of which a record was read. A log that was truncated (an unclean
	// leader election, a broker that returned without its last records) and has grown since holds a
	// different batch at that offset, or no batch.
	Batch Mark
}

// Watch selects the checks by which a [Reader] ensures that it continues in the same log.
type Watch int

const (
	// WatchNothing relies on offsets alone. It is for a partition that is read once, from its first
	// offset to its current end.
	WatchNothing Watch = iota
	// WatchLog also checks the identity of the log.
	WatchLog
	// WatchBatches also checks the batch that was read last. It is for topics without compaction,
	// where batches do not change.
	WatchBatches
	// WatchCompacted does the same for compacted topics: if the batch is missing, the last existing
	// one before it is checked. A batch that compaction rewrote counts as a different one, so a
	// topic may be reread needlessly.
	WatchCompacted
)

// batches reports whether a reader checks batches.
func (w Watch) batches() bool { return w == WatchBatches || w == WatchCompacted }

// rememberedBatches is the number of batches that a reader remembers, to find where a truncated log
// departs from the records that it read.
const rememberedBatches = 512

// watcher holds the knowledge of a [Reader] about its log.
type watcher struct {
	how      Watch
	log      LogID
	batches  []Mark // the last ones read, in offset order
	end      int64  // the greatest end seen
	renewals int64  // Fetched.Renewals of the records returned last
	alarmed  bool   // the log may have changed and has to be checked
}

func newWatcher(how Watch, at Place) watcher {
	w := watcher{how: how, log: at.Log, alarmed: true}
	if at.Batch != (Mark{}) {
		w.batches = []Mark{at.Batch}
	}
	return w
}

// place returns the place after the records that were read.
func (w *watcher) place() Place {
	p := Place{Log: w.log}
	if n := len(w.batches); n > 0 {
		p.Batch = w.batches[n-1]
	}
	return p
}

// read remembers the batches of returned records.
func (w *watcher) read(f Fetched) {
	if w.how != WatchNothing {
		w.end, w.renewals = max(w.end, f.End), f.Renewals
	}
	if !w.how.batches() {
		return
	}
	for i := range f.Records {
		mark := f.Records[i].Batch
		if n := len(w.batches); mark != (Mark{}) && (n == 0 || w.batches[n-1].Offset < mark.Offset) {
			w.batches = append(w.batches, mark)
		}
	}
	if n := len(w.batches); n > 2*rememberedBatches {
		w.batches = append(w.batches[:0], w.batches[n-rememberedBatches:]...)
	}
}

// suspectsReset reports whether a fetch at an offset suggests another log, or follows a renewal of
// the connections.
func (w *watcher) suspectsReset(f Fetched, offset int64) bool {
	if f.retried || f.Renewals != w.renewals || f.End < w.end || f.Log != w.log {
		return true
	}
	if len(f.Records) == 0 || f.Records[0].Batch == (Mark{}) {
		return false
	}
	first, n := f.Records[0].Batch, len(w.batches)
	return first.Offset < offset || n > 0 && first.Epoch != w.batches[n-1].Epoch
}

// checkLog checks the log if it may have changed. If it has, checkLog returns the gap, and the
// fetched records must not be used.
func (r *Reader) checkLog(ctx context.Context, f Fetched, outOfRange *OffsetOutOfRangeError) (*Gap, error) {
	w := &r.watcher
	if w.how == WatchNothing {
		return nil, nil
	}
	w.alarmed = w.alarmed || outOfRange != nil || w.suspectsReset(f, r.next)
	if !w.alarmed {
		return nil, nil
	}
	now := f.Log
	if outOfRange != nil {
		var err error
		if now, err = r.identity(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case w.log != "" && now != w.log:
		return r.recreated(ctx, now)
	case w.log == "":
		w.log = now
	}
	gap, err := r.lostEnd(ctx, outOfRange)
	w.alarmed = err != nil
	return gap, err
}

// identity asks the leader of the partition for the identity of the log; other brokers may not know
// of a change yet.
func (r *Reader) identity(ctx context.Context) (LogID, error) {
	return Retry(ctx, r.logger, "look up the identity of "+r.topic, func() (LogID, error) {
		return r.log.Identity(ctx, r.topic, r.partition, time.Now())
	})
}

// recreated returns the gap before the log that replaced the earlier one.
func (r *Reader) recreated(ctx context.Context, now LogID) (*Gap, error) {
	first, end, err := r.offsets(ctx)
	if err != nil {
		return nil, err
	}
	g := Gap{
		Topic: r.topic, Partition: r.partition, Kind: GapRecreated, From: r.next, To: first, First: first, End: end,
		Lost: max(0, r.watcher.end-r.next), Now: now,
		Err: &LogChangedError{Topic: r.topic, Partition: r.partition, Was: r.watcher.log, Is: now},
	}
	r.watcher = watcher{how: r.watcher.how, log: now}
	return &g, nil
}

// lostEnd checks whether the log holds the batch that was read last, and returns the gap if it does
// not.
func (r *Reader) lostEnd(ctx context.Context, outOfRange *OffsetOutOfRangeError) (*Gap, error) {
	w := &r.watcher
	if !w.how.batches() || len(w.batches) == 0 {
		return nil, nil
	}
	same, _, err := r.holds(ctx, w.batches[len(w.batches)-1])
	switch {
	case err != nil || same && (outOfRange == nil || outOfRange.First > r.next):
		return nil, err
	case same && outOfRange.Next >= r.next: // only unread records are lost
		g := Gap{
			Topic:     r.topic,
			Partition: r.partition,
			Kind:      GapTruncated,
			From:      r.next,
			To:        r.next,
			First:     outOfRange.First,
			End:       outOfRange.Next,
			Err:       outOfRange,
			Lost:      max(w.end, r.end) - outOfRange.Next,
			Now:       w.log,
		}
		w.end = outOfRange.Next
		return &g, nil
	}
	kept, to, err := r.departsAt(ctx)
	if err != nil {
		return nil, err
	}
	first, end, err := r.offsets(ctx)
	if err != nil {
		return nil, err
	}
	g := Gap{
		Topic: r.topic, Partition: r.partition, Kind: GapTruncated, From: r.next, To: to, First: first, End: end, Now: w.log,
		Err: &LogChangedError{
			Topic:     r.topic,
			Partition: r.partition,
			Was:       w.log,
			Is:        w.log,
			At:        w.batches[len(w.batches)-1].Offset,
		},
	}
	if kept == 0 {
		g.To, g.Lost = first, max(w.end, r.next)-min(end, r.next)
	} else {
		g.Lost = max(w.end, r.next) - to
	}
	w.batches, w.end = w.batches[:kept], end
	return &g, nil
}

// departsAt returns how many of the remembered batches the log still holds, and the offset after
// the last of them.
func (r *Reader) departsAt(ctx context.Context) (kept int, next int64, err error) {
	low, high := 0, len(r.watcher.batches) // batches below low exist, batches from high on do not
	for low < high {
		middle := (low + high) / 2
		same, after, err := r.holds(ctx, r.watcher.batches[middle])
		if err != nil {
			return 0, 0, err
		}
		if same {
			low, next = middle+1, after
		} else {
			high = middle
		}
	}
	return low, next, nil
}

// holds reports whether the log still holds a batch, and the offset after its records. A batch that
// retention removed, or that became unreadable, counts as held, because nothing suggests another
// one. The caller holds fetched records, so it reads with [ForState]; readers that use ForState
// themselves do not watch batches.
func (r *Reader) holds(ctx context.Context, m Mark) (same bool, next int64, err error) {
	fetched, err := r.request(ForState(ctx), m.Offset)
	if g, ok := r.gapAt(m.Offset, err); ok {
		return g.Kind != GapTruncated, g.To, nil
	}
	if err != nil {
		return false, 0, err
	}
	defer fetched.Release()
	if len(fetched.Records) == 0 {
		_, end, err := r.offsets(ctx)
		return end > m.Offset, fetched.NextOffset, err
	}
	if first := fetched.Records[0]; r.watcher.how == WatchCompacted && first.Batch.Offset > m.Offset {
		same, err := r.agreesBefore(ctx, m.Offset)
		return same, first.Offset, err
	}
	for _, record := range fetched.Records {
		if record.Batch.Offset == m.Offset {
			next = record.Offset + 1
		}
	}
	return fetched.Records[0].Batch.Is(m), next, nil
}

// agreesBefore reports whether the last batch that the log holds before an offset is one of the
// remembered batches, or older than all of them.
func (r *Reader) agreesBefore(ctx context.Context, offset int64) (bool, error) {
	byOffset := func(m Mark, at int64) int { return cmp.Compare(m.Offset, at) }
	n, _ := slices.BinarySearchFunc(r.watcher.batches, offset, byOffset)
	read := r.watcher.batches[:n]
	for back := 1; back < 2*len(read); back *= 2 {
		last, err := r.lastBatch(ctx, read[max(0, len(read)-back)].Offset, offset)
		if err != nil || last != (Mark{}) {
			return slices.ContainsFunc(read, last.Is), err
		}
	}
	return true, nil
}

// lastBatch returns the last batch that begins in [from, before), or a zero mark.
func (r *Reader) lastBatch(ctx context.Context, from, before int64) (last Mark, err error) {
	for from < before {
		fetched, err := r.request(ForState(ctx), from)
		if g, ok := r.gapAt(from, err); ok && g.To > from {
			from = g.To
			continue
		}
		if err != nil {
			return Mark{}, err
		}
		for _, record := range fetched.Records {
			if record.Batch.Offset < before {
				last = record.Batch
			}
		}
		fetched.Release()
		if fetched.NextOffset <= from {
			break
		}
		from = fetched.NextOffset
	}
	return last, nil
}

// Holds reports whether a partition still holds a batch that was read from it, or lost it to
// retention alone.
func Holds(ctx context.Context, log Log, logger *zap.Logger, topic string, partition int, m Mark) (bool, error) {
	same, _, err := NewReader(log, logger, topic, partition, ReadOptions{}).holds(ctx, m)
	return same, err
}
