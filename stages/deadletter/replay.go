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

// ReplayOptions say which dead letters are fed back to events and how.
type ReplayOptions struct {
	Filter Filter
	Limit  int // dead letters that are replayed, from the oldest of the first partition on; 0 = all
	// Repaired, if not nil, returns the value to send in place of a dead letter's own; one for which ok is false is not selected.
	Repaired func(Place) (value []byte, ok bool, err error)
	// Encoder is that of the feature set in use, against which events are checked; nil = only their format is.
	Encoder   *encoder.Encoder
	DryRun    bool // nothing is written
	Force     bool // what was replayed before is replayed again
	Unchecked bool // what would be refused again is sent
	Progress  func(done, total int64)
}

// ReplayOutcome is what became of a dead letter.
type ReplayOutcome string

// Outcomes of dead letters.
const (
	ReplaySent         ReplayOutcome = "replayed"
	ReplayAlready      ReplayOutcome = "replayed_before"
	ReplayRefusedAgain ReplayOutcome = "would_be_refused_again"
	ReplayNoValue      ReplayOutcome = "no_value"      // only coordinates could be kept
	ReplayNotEvents    ReplayOutcome = "not_of_events" // a message of another topic was refused
	ReplayTooLarge     ReplayOutcome = "too_large"     // for the topic of events
	ReplayBadRepair    ReplayOutcome = "bad_repair"    // repaired rows that are not the dead letter's
)

// ReplayedLetter is what became of one dead letter.
type ReplayedLetter struct {
	Letter  Letter
	Outcome ReplayOutcome
	Rows    int64  // sent of a dead letter of rows
	Dropped int64  // rows of it that would be rejected again
	Detail  string // why not
}

// ReplayReport says what a replay did, or would do.
type ReplayReport struct {
	Letters []ReplayedLetter
	Events  int64 // messages written
	Rows    int64 // in those that were made of rejected rows
}

// Replayer is what a replay needs.
type Replayer struct {
	Broker       pipeline.Broker
	Topics       topics.Config
	Group        string        // whose member replays
	Source       events.Source // says how the messages are read that are written again
	DrainTimeout time.Duration // bounds the work that is finished after ctx has ended
	Clock        func() time.Time
	Logger       *zap.Logger
}

// Replay feeds dead letters back to events, to the partitions that they came from, each input once: what the notes on the
// dead-letters topic call replayed is skipped. One process at a time replays, the owner of the single partition of
// explorations in a group of its own; others wait for it. What is interrupted at any moment is finished by the next call with
// the same options.
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
	handled map[Place]bool // by this call
	reader  *events.Reader // of whole messages
	rows    *events.Reader // of dead letters of rows, which are always Arrow

	ledger   *Ledger
	ownNotes []wire.ReplayNote // by this call, where it has to replay what was replayed before
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

// choose reads the topic: the notes into the ledger, and the dead letters that are selected, by partition.
func (p *replay) choose(ctx context.Context) (selected [][]Letter, err error) {
	p.ledger = NewLedger()
	note := p.ledger.Apply
	if p.options.Force { // what was replayed before does not count, but what this call has done before a rebalance does
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

// partition replays dead letters of one partition. ctx bounds reading, work the batch in hand.
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

// add prepares a dead letter, and first sends the batch where it would become too large.
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
		p.ledger.Apply(wire.ReplayNote{Replay: e.replay, Done: true}) // for dead letters of the same input that come later
	}
	p.batch.deadLetters = append(p.batch.deadLetters, done)
	return nil
}
