package deadletter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/topics"
)

// ReplayOptions says which dead letters are fed back to events, and how.
type ReplayOptions struct {
	Filter Filter
	Limit  int // dead letters that are replayed, from the oldest of the first partition on; 0 = all
	// Repaired, if not nil, returns the value to send instead of the dead letter's own. If ok is false the dead letter
	// is not selected.
	Repaired func(Place) (value []byte, ok bool, err error)
	// Encoder is that of the feature set in use, against which events are checked; nil = only their format is checked.
	Encoder   *encoder.Encoder
	DryRun    bool // nothing is written
	Force     bool // replays again what was replayed before
	Unchecked bool // sends even what would be refused again
	Progress  func(done, total int64)
}

// ReplayOutcome says what became of a dead letter.
type ReplayOutcome string

// Outcomes of dead letters.
const (
	ReplaySent         ReplayOutcome = "replayed"
	ReplayAlready      ReplayOutcome = "replayed_before"
	ReplayRefusedAgain ReplayOutcome = "would_be_refused_again"
	ReplayNoValue      ReplayOutcome = "no_value"      // only coordinates could be kept
	ReplayNotEvents    ReplayOutcome = "not_of_events" // a message of another topic was refused
	ReplayTooLarge     ReplayOutcome = "too_large"     // larger than the events topic accepts
	ReplayBadRepair    ReplayOutcome = "bad_repair"    // repaired rows that do not belong to the dead letter
)

// ReplayedLetter says what became of one dead letter.
type ReplayedLetter struct {
	Letter  Letter
	Outcome ReplayOutcome
	Rows    int64  // sent, of a dead letter of rows
	Dropped int64  // rows that would be rejected again
	Detail  string // why not
}

// ReplayReport says what a replay did, or would do.
type ReplayReport struct {
	Letters []ReplayedLetter
	Events  int64 // messages written
	Rows    int64 // in those that were made of rejected rows
}

// Replayer replays dead letters.
type Replayer struct {
	Broker       pipeline.Broker
	Topics       topics.Config
	Group        string        // the consumer group whose member replays
	Source       events.Source // how the messages that are written again are read
	DrainTimeout time.Duration // bounds the work that is finished after ctx has ended
	Clock        func() time.Time
	Logger       *zap.Logger
}

// Replay feeds dead letters back to events, to the partitions that they came from, each input once: it skips what the
// notes on the dead-letters topic call replayed. One process replays at a time, the owner of the single partition of
// explorations in a group of its own; the others wait. Whatever is interrupted is finished by the next call with the
// same options.
func (r Replayer) Replay(ctx context.Context, options ReplayOptions) (ReplayReport, error) {
	p := &replay{
		Replayer: r, options: options, handled: map[Place]bool{}, ledger: NewLedger(),
		reader: r.Source.Reader(nil), rows: events.NewReader(r.Source.Limits, nil),
	}
	if options.DryRun {
		err := p.run(ctx)
		return p.report, err
	}
	owning, stop := context.WithCancel(ctx)
	defer stop()
	outcome := errNotFinished
	err := r.Broker.Own(owning, r.Group, r.Topics.Explorations, func(owned context.Context, _ pipeline.Ownership) error {
		err := p.run(owned)
		if err != nil && owned.Err() != nil && owning.Err() == nil {
			return nil // a rebalance: it goes on with the next assignment
		}
		outcome = err
		stop()
		return nil
	})
	if err == nil {
		err = outcome
	}
	if ctx.Err() != nil && errors.Is(err, errNotFinished) {
		err = fmt.Errorf("%w: %w", errNotFinished, ctx.Err())
	}
	return p.report, err
}

// errNotFinished says that a replay never had its turn.
var errNotFinished = errors.New("the replay never got its turn")

// replay is one call of [Replayer.Replay].
type replay struct {
	Replayer
	options ReplayOptions
	report  ReplayReport
	handled map[Place]bool // handled by this call
	reader  *events.Reader // of whole messages
	rows    *events.Reader // of dead letters of rows, which are always Arrow

	ledger   *Ledger
	ownNotes []wire.ReplayNote // written by this call, if it has to replay what was replayed before
	batch    replayBatch
	chosen   int // dead letters that are sent or will be, of Limit
}

// run replays what is selected and not handled yet.
func (p *replay) run(ctx context.Context) error {
	work, cancel := pipeline.Drain(ctx, p.DrainTimeout)
	defer cancel()
	selected, err := p.choose(ctx)
	if err != nil {
		return err
	}
	p.chosen = 0
	for _, l := range p.report.Letters {
		if l.Outcome == ReplaySent {
			p.chosen++
		}
	}
	for partition, deadLetters := range selected {
		if len(deadLetters) == 0 {
			continue
		}
		if err := p.partition(ctx, work, partition, deadLetters); err != nil {
			return fmt.Errorf("replay partition %d: %w", partition, err)
		}
	}
	return nil
}

// choose reads the topic: notes go into the ledger, selected dead letters are returned by partition.
func (p *replay) choose(ctx context.Context) (selected [][]Letter, err error) {
	p.ledger = NewLedger()
	note := p.ledger.Apply
	if p.options.Force { // ignore what was replayed before, but not what this call did before a rebalance
		note = nil
		for _, own := range p.ownNotes {
			p.ledger.Apply(own)
		}
	}
	err = Visit(ctx, p.Broker, p.Logger, p.Topics.DeadLetters, Visitor{
		Letter: func(l Letter, _ pipeline.Record) error {
			if !p.options.Filter.Matches(l) {
				return nil
			}
			if p.options.Repaired != nil {
				if _, ok, err := p.options.Repaired(l.Place); err != nil || !ok {
					return err
				}
			}
			for len(selected) <= l.Place.Partition {
				selected = append(selected, nil)
			}
			selected[l.Place.Partition] = append(selected[l.Place.Partition], l)
			return nil
		},
		Note:     note,
		Progress: p.options.Progress,
	})
	return selected, err
}

// partition replays dead letters of one partition. ctx bounds reading, work bounds the current batch.
func (p *replay) partition(ctx, work context.Context, partition int, deadLetters []Letter) error {
	if err := p.resolve(ctx, partition, deadLetters); err != nil {
		return err
	}
	at := map[int64]Letter{}
	for _, l := range deadLetters {
		if !p.handled[l.Place] {
			at[l.Place.Offset] = l
		}
	}
	p.batch = replayBatch{partition: partition}
	first, last := deadLetters[0].Place.Offset, deadLetters[len(deadLetters)-1].Place.Offset
	err := topics.ReadSpan(ctx, p.Broker, p.Logger, p.Topics.DeadLetters, partition, first, last+1, func(rec pipeline.Record) error {
		deadLetter, ok := at[rec.Offset]
		if !ok {
			return nil
		}
		return p.add(work, deadLetter, rec)
	})
	if err != nil {
		return err
	}
	return p.flush(work)
}

// add prepares a dead letter. If the batch would become too large, it sends the batch first.
func (p *replay) add(work context.Context, deadLetter Letter, rec pipeline.Record) error {
	if p.options.Limit > 0 && p.chosen >= p.options.Limit {
		return nil
	}
	done := ReplayedLetter{Letter: deadLetter}
	made, err := p.prepare(work, &done, rec)
	if err != nil {
		return fmt.Errorf("dead letter %v: %w", deadLetter.Place, err)
	}
	if done.Outcome == ReplaySent {
		p.chosen++
	}
	size := 0
	for _, e := range made {
		size += e.record.Size()
	}
	if len(p.batch.events) > 0 && p.batch.bytes+size > events.RequestBytes {
		if err := p.flush(work); err != nil {
			return err
		}
	}
	p.batch.bytes += size
	for _, e := range made {
		e.deadLetter = len(p.batch.deadLetters)
		p.batch.events = append(p.batch.events, e)
		p.ledger.Apply(wire.ReplayNote{Replay: e.replay, Done: true}) // later dead letters of the same input need it
	}
	p.batch.deadLetters = append(p.batch.deadLetters, done)
	return nil
}
