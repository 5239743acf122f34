package stages

import (
	"context"
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// ReplayOptions say which dead letters are fed back to events and how.
type ReplayOptions struct {
	Filter LetterFilter
	Limit  int // letters that are replayed, from the oldest of the first partition on; 0 = all
	// Repaired, if not nil, returns what takes the place of a letter's value; letters for which ok is false are not selected.
	Repaired func(LetterPlace) (value []byte, ok bool, err error)
	// Encoder is that of the feature set in use, against which events are checked; nil = only their format is.
	Encoder   *encoder.Encoder
	DryRun    bool // nothing is written
	Force     bool // what was replayed before is replayed again
	Unchecked bool // what would be refused again is sent
	Progress  func(done, total int64)
}

// ReplayOutcome is what became of a letter.
type ReplayOutcome string

// Outcomes of letters.
const (
	ReplaySent         ReplayOutcome = "replayed"
	ReplayAlready      ReplayOutcome = "replayed_before"
	ReplayRefusedAgain ReplayOutcome = "would_be_refused_again"
	ReplayNoValue      ReplayOutcome = "no_value"      // only coordinates could be kept
	ReplayNotEvents    ReplayOutcome = "not_of_events" // a message of another topic was refused
	ReplayTooLarge     ReplayOutcome = "too_large"     // for the topic of events
	ReplayBadRepair    ReplayOutcome = "bad_repair"    // repaired rows that are not the letter's
)

// ReplayedLetter is what became of one letter.
type ReplayedLetter struct {
	Letter  Letter
	Outcome ReplayOutcome
	Rows    int64  // sent of a letter of rows
	Dropped int64  // rows of it that would be rejected again
	Detail  string // why not
}

// ReplayReport says what a replay did, or would do.
type ReplayReport struct {
	Letters []ReplayedLetter
	Events  int64 // messages written
	Rows    int64 // in those that were made of rejected rows
}

// Replay feeds dead letters back to events, to the partitions that they came from, each input once: what the notes on the
// dead-letters topic call replayed is passed over. One process at a time replays, the owner of the single partition of
// explorations in a group of its own; others wait for it. What is interrupted at any moment is finished by the next call with
// the same options.
func Replay(ctx context.Context, r *Runtime, options ReplayOptions) (ReplayReport, error) {
	p := &replayer{
		Runtime: r, options: options, handled: map[LetterPlace]bool{}, ledger: NewReplayLedger(),
		reader: newEventReader(r.Settings.Limits.decoder(), nil),
	}
	if options.DryRun {
		err := p.run(ctx)
		return p.report, err
	}
	owning, stop := context.WithCancel(ctx)
	defer stop()
	outcome := errNotFinished
	err := r.Broker.Own(owning, r.group("replay"), r.Settings.Topics.Explorations, func(owned context.Context, _ pipeline.Ownership) error {
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
var errNotFinished = errors.New("the replay did not get its turn")

// replayer is one call of Replay.
type replayer struct {
	*Runtime
	options ReplayOptions
	report  ReplayReport
	handled map[LetterPlace]bool // by this call
	reader  *eventReader

	ledger *ReplayLedger
	noted  []wire.ReplayNote // by this call, where it has to replay what was replayed before
	batch  replayBatch
	chosen int // letters that are sent or will be, of Limit
}

// run replays what is selected and not handled yet.
func (p *replayer) run(ctx context.Context) error {
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
	for partition, letters := range selected {
		if len(letters) == 0 {
			continue
		}
		if err := p.partition(ctx, work, partition, letters); err != nil {
			return fmt.Errorf("replay partition %d: %w", partition, err)
		}
	}
	return nil
}

// choose reads the topic: the notes into the ledger, and the letters that are selected, by partition.
func (p *replayer) choose(ctx context.Context) (selected [][]Letter, err error) {
	p.ledger = NewReplayLedger()
	note := p.ledger.Note
	if p.options.Force { // what was replayed before does not count, but what this call has done before a rebalance does
		note = nil
		for _, own := range p.noted {
			p.ledger.Note(own)
		}
	}
	err = VisitLetters(ctx, p.Runtime, LetterVisitor{
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

// partition replays letters of one partition. ctx ends the reading, work what is in hand.
func (p *replayer) partition(ctx, work context.Context, partition int, letters []Letter) error {
	if err := p.resolve(ctx, partition, letters); err != nil {
		return err
	}
	at := map[int64]Letter{}
	for _, l := range letters {
		if !p.handled[l.Place] {
			at[l.Place.Offset] = l
		}
	}
	p.batch = replayBatch{partition: partition}
	first, last := letters[0].Place.Offset, letters[len(letters)-1].Place.Offset
	err := readSpan(ctx, p.Runtime, p.Settings.Topics.DeadLetters, partition, first, last+1, func(rec pipeline.Record) error {
		letter, ok := at[rec.Offset]
		if !ok {
			return nil
		}
		return p.add(work, letter, rec)
	})
	if err != nil {
		return err
	}
	return p.flush(work)
}

// add prepares a letter and sends the batch where it would become too much with it.
func (p *replayer) add(work context.Context, letter Letter, rec pipeline.Record) error {
	if p.options.Limit > 0 && p.chosen >= p.options.Limit {
		return nil
	}
	done := ReplayedLetter{Letter: letter}
	events, err := p.prepare(&done, rec)
	if err != nil {
		return fmt.Errorf("dead letter %v: %w", letter.Place, err)
	}
	if done.Outcome == ReplaySent {
		p.chosen++
	}
	size := 0
	for _, e := range events {
		size += e.record.Size()
	}
	if len(p.batch.events) > 0 && p.batch.bytes+size > requestBytes {
		if err := p.flush(work); err != nil {
			return err
		}
	}
	p.batch.bytes += size
	for _, e := range events {
		e.letter = len(p.batch.letters)
		p.batch.events = append(p.batch.events, e)
		p.ledger.Note(wire.ReplayNote{Replay: e.replay, Done: true}) // for letters of the same input that come later
	}
	p.batch.letters = append(p.batch.letters, done)
	return nil
}
