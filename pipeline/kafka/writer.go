package kafka

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

var _ pipeline.Sink = (*Client)(nil)

// renewAfter is the age at which an identity is renewed. Coordinators forget identities that are
// unused for a week (transactional.id.expiration.ms), and could then not distinguish the identity
// of the next owner. A process that was paused for so long learns from the renewal that it is no
// longer the owner.
const renewAfter = 6 * time.Hour

// OpenWriter implements [pipeline.Sink]. The transactional id is the text of the WriterID.
func (c *Client) OpenWriter(
	ctx context.Context,
	id *pipeline.WriterID,
	targets ...pipeline.Target,
) (pipeline.Producer, error) {
	if c.config.Idempotence == IdempotenceOff {
		return c, nil
	}
	if id != nil {
		w, err := c.fence(ctx, place{"open a writer for", id.Topic, id.Partition}, id.String(), targets)
		if err == nil {
			return w, nil
		}
		if !errors.Is(err, errRefused) {
			return nil, err
		}
		c.onceUnfenced.Do(func() {
			c.log.Warn("brokers do not refuse late writes of earlier owners; duplicates are possible, and readers drop them",
				zap.Error(err))
		})
	}
	w := &writer{client: c, at: place{doing: "open a writer"}, streams: map[pipeline.Target]*stream{}}
	err := w.renew(ctx)
	if err == nil {
		return w, nil
	}
	if !errors.Is(err, errRefused) {
		return nil, err
	}
	c.onceUnnumbered.Do(func() {
		c.log.Warn("brokers do not support idempotent writes; a lost acknowledgement may cause a duplicate, which readers drop",
			zap.Error(err))
	})
	return c, nil
}

// fence opens a writer and makes the brokers refuse earlier writers with the same id.
func (c *Client) fence(
	ctx context.Context,
	at place,
	transactionalID string,
	targets []pipeline.Target,
) (*writer, error) {
	now, err := c.identify(ctx, at, transactionalID, nobody)
	if err != nil {
		return nil, err
	}
	w := &writer{
		client:          c,
		at:              at,
		transactionalID: transactionalID,
		identity:        now,
		streams:         map[pipeline.Target]*stream{},
	}
	if err := c.mark(ctx, at, transactionalID, now, targets); err != nil {
		return nil, w.fencedErr(err)
	}
	for _, to := range targets {
		s := &stream{seen: c.conns.newest()}
		s.end, err = c.Written(ctx, to.Topic, to.Partition)
		if err != nil {
			return nil, err
		}
		w.streams[to] = s
	}
	return w, w.renew(ctx)
}

// writer is a producer that numbers its batches, partition by partition.
type writer struct {
	client          *Client
	at              place
	transactionalID string // empty = other writers are not fenced

	mu       sync.Mutex // guards the fields below, and serializes requests
	identity identity
	renewed  time.Time
	streams  map[pipeline.Target]*stream
	fenced   error // the error of all further writes
}

// stream is the numbering in one partition.
type stream struct {
	next    int32
	unacked []pipeline.Record // sent with numbers from next and possibly written; nil = none
	end     int64             // of the partition, after its initial and the acknowledged records
	seen    int64             // number of the newest connection when the partition was known to reach end
}

// Protection implements [pipeline.Protected].
func (w *writer) Protection() pipeline.Protection {
	if w.transactionalID == "" {
		return pipeline.ProtectionNumbered
	}
	return pipeline.ProtectionFenced
}

// Produce implements [pipeline.Producer], see [pipeline.Sink].
func (w *writer) Produce(
	ctx context.Context,
	topic string,
	partition int,
	records []pipeline.Record,
) (firstOffset int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	to := pipeline.Target{Topic: topic, Partition: partition}
	s := w.streams[to]
	if s == nil {
		s = &stream{}
		w.streams[to] = s
	}
	if err := w.prepare(ctx, s, records); err != nil {
		return 0, err
	}
	firstOffset, err = w.send(ctx, to, s, records)
	if w.forgotten(err) {
		if err := w.renew(ctx); err != nil {
			return 0, err
		}
		firstOffset, err = w.send(ctx, to, s, records)
	}
	return firstOffset, w.fencedErr(err)
}

// prepare begins a new numbering if the current one is used up, too old, or has a gap that these
// records do not fill.
func (w *writer) prepare(ctx context.Context, s *stream, records []pipeline.Record) error {
	if w.fenced != nil {
		return w.fenced
	}
	repeat := s.unacked != nil && len(records) == len(s.unacked) && &records[0] == &s.unacked[0]
	if s.unacked != nil && !repeat || int64(s.next)+int64(len(records)) > math.MaxInt32 || w.old() {
		return w.renew(ctx)
	}
	return nil
}

// old reports whether to renew the identity, which has to wait while records are unacknowledged.
func (w *writer) old() bool {
	if time.Since(w.renewed) < renewAfter {
		return false
	}
	for _, s := range w.streams {
		if s.unacked != nil {
			return false
		}
	}
	return true
}

// renew takes the next epoch of the identity, or a new identity without a transactional id. Numbers
// restart at zero.
func (w *writer) renew(ctx context.Context) error {
	known := w.identity
	if w.transactionalID == "" {
		known = nobody
	}
	now, err := w.client.identify(ctx, w.at, w.transactionalID, known)
	if err != nil {
		return w.fencedErr(err)
	}
	w.identity, w.renewed = now, time.Now()
	for _, s := range w.streams {
		s.next, s.unacked = 0, nil
	}
	return nil
}

func (w *writer) send(ctx context.Context, to pipeline.Target, s *stream, records []pipeline.Record) (int64, error) {
	s.unacked = records
	first, err := w.attempt(ctx, to, s, records)
	for errors.Is(err, errNewConnection) {
		if err = w.checkEnd(ctx, to, s); err == nil {
			first, err = w.attempt(ctx, to, s, records)
		}
	}
	switch {
	case err == nil:
		s.next, s.unacked = s.next+int32(len(records)), nil
		s.end = max(s.end, first+int64(len(records)))
	case errors.Is(err, pipeline.ErrMessageTooLarge):
		s.unacked = nil // refused, not written
	}
	return first, err
}

// errLost means that a partition ends before records that it was known to hold.
var errLost = errors.New("the partition ends before what it was known to hold")

// attempt sends records. With a transactional id it uses only connections older than the last check
// of the partition: a newer one may lead to a broker that came back without its last records. A
// broker that has lost all records of the writer would accept any number, and the records would
// follow a gap.
func (w *writer) attempt(ctx context.Context, to pipeline.Target, s *stream, records []pipeline.Record) (int64, error) {
	connection := s.seen
	if w.transactionalID == "" {
		connection = anyConnection
	}
	as := sequence{w.identity.producer, w.identity.epoch, s.next}
	return w.client.produce(ctx, to.Topic, to.Partition, records, as, connection)
}

// checkEnd checks that the partition has not lost records.
func (w *writer) checkEnd(ctx context.Context, to pipeline.Target, s *stream) error {
	newest := w.client.conns.newest()
	end, err := w.client.Written(ctx, to.Topic, to.Partition)
	switch {
	case err != nil:
		return err
	case end < s.end:
		return fmt.Errorf("%w: it ends at offset %d instead of %d", errLost, end, s.end)
	}
	s.seen = newest
	return nil
}

// forgotten reports whether the partition does not know the writer, or its earlier records, without
// a successor.
func (w *writer) forgotten(err error) bool {
	if errors.Is(err, kafkago.UnknownProducerId) || errors.Is(err, kafkago.InvalidProducerIDMapping) {
		return true
	}
	lost := errors.Is(err, kafkago.OutOfOrderSequenceNumber)
	if w.transactionalID != "" || !lost && !errors.Is(err, kafkago.InvalidProducerEpoch) {
		return false
	}
	w.client.log.Warn("partition does not know the earlier writes; restarting the numbering", zap.Error(err))
	return true
}

// fencedErr converts responses that end the writer to its final error.
func (w *writer) fencedErr(err error) error {
	if w.transactionalID == "" {
		return err
	}
	why := ""
	switch {
	case isAny(err, kafkago.InvalidProducerEpoch, kafkago.ProducerFenced, kafkago.InvalidProducerIDMapping):
		why = "another owner has taken over the partition"
	case errors.Is(err, kafkago.OutOfOrderSequenceNumber), errors.Is(err, errLost):
		why = "the log has lost acknowledged records"
	default:
		return err
	}
	w.fenced = pipeline.Permanent(fmt.Errorf("%w: %s: %w", pipeline.ErrFenced, why, err))
	return w.fenced
}
