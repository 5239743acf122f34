package deadletter

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/wire"
)

// inputPlace is the position of an input that was refused, in whole or in part.
type inputPlace struct {
	topic     string
	partition int32
	offset    int64
}

func placeOf(r wire.Replay) inputPlace { return inputPlace{r.Topic, r.Partition, r.Offset} }

func placeOfDeadLetter(d wire.DeadLetter) inputPlace {
	return inputPlace{d.Topic, d.Partition, d.Offset}
}

// replayed is what the notes say about an input.
type replayed struct {
	whole bool
	rows  map[int32]bool
	begun []wire.ReplayNote // without an end
}

// Ledger knows from the notes on the dead-letters topic which inputs were already fed back to events.
type Ledger struct{ inputs map[inputPlace]*replayed }

// NewLedger returns an empty ledger.
func NewLedger() *Ledger { return &Ledger{map[inputPlace]*replayed{}} }

// Apply applies a note. Notes have to come in the order in which they were written.
func (l *Ledger) Apply(n wire.ReplayNote) {
	of := l.inputs[placeOf(n.Replay)]
	if of == nil {
		of = &replayed{rows: map[int32]bool{}}
		l.inputs[placeOf(n.Replay)] = of
	}
	if !n.Done {
		of.begun = append(of.begun, n)
		return
	}
	of.begun = slices.DeleteFunc(of.begun, func(b wire.ReplayNote) bool { return slices.Equal(b.Rows, n.Rows) })
	of.whole = of.whole || len(n.Rows) == 0
	for _, row := range n.Rows {
		of.rows[row] = true
	}
}

// forget undoes the record that an input, or some of its rows, was replayed.
func (l *Ledger) forget(r wire.Replay) {
	of := l.inputs[placeOf(r)]
	if of == nil {
		return
	}
	if len(r.Rows) == 0 {
		of.whole = false
	}
	for _, row := range r.Rows {
		delete(of.rows, row)
	}
}

// ReplayState says whether an input was replayed.
type ReplayState string

// States of an input.
const (
	ReplayNever  ReplayState = ""
	ReplayBegun  ReplayState = "begun" // a replay did not finish; the next one finds out what it did
	ReplayPartly ReplayState = "partly"
	ReplayDone   ReplayState = "replayed"
)

// State says whether the input of a dead letter was replayed; if rows were rejected, whether all of them were.
func (l *Ledger) State(d wire.DeadLetter) ReplayState {
	of := l.inputs[placeOfDeadLetter(d)]
	switch {
	case of == nil:
		return ReplayNever
	case of.whole, d.Rows > 0 && len(of.rows) >= int(d.Rows):
		return ReplayDone
	case len(of.begun) > 0:
		return ReplayBegun
	default:
		return ReplayPartly
	}
}

// missing returns the rows of an input that were not replayed, and whether the input may be replayed whole.
func (l *Ledger) missing(of inputPlace, rows []int32) (left []int32, whole bool) {
	known := l.inputs[of]
	if known == nil {
		return rows, true
	}
	if known.whole {
		return nil, false
	}
	for _, row := range rows {
		if !known.rows[row] {
			left = append(left, row)
		}
	}
	return left, len(known.rows) == 0
}

// doubt lists the notes of unfinished replays of an input.
func (l *Ledger) doubt(of inputPlace) []wire.ReplayNote {
	if known := l.inputs[of]; known != nil {
		return known.begun
	}
	return nil
}

// settle ends all doubt about an input: whatever was not found has not been replayed.
func (l *Ledger) settle(of inputPlace) {
	if known := l.inputs[of]; known != nil {
		known.begun = nil
		if !known.whole && len(known.rows) == 0 {
			delete(l.inputs, of)
		}
	}
}
