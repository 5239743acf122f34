package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// Header keys of replayed events, and of the notes about them on the dead-letters topic.
const (
	replayPrefix = "__eerf.replay."

	HeaderReplayTopic      = replayPrefix + "topic"
	HeaderReplayPartition  = replayPrefix + "partition"
	HeaderReplayOffset     = replayPrefix + "offset"
	HeaderReplayRows       = replayPrefix + "rows"
	HeaderReplayDeadLetter = replayPrefix + "letter"

	HeaderReplayState      = replayPrefix + "state"       // of notes only
	HeaderReplayNextOffset = replayPrefix + "next_offset" // of notes only
)

// MaxReplayRows bounds how many rows one replayed event or note names, so that its headers stay small.
const MaxReplayRows = 4096

// Replay says which input an event repeats, and from which dead letter it was taken. It is carried in the event's
// headers.
type Replay struct {
	Topic      string // where the refused message was
	Partition  int32
	Offset     int64
	Rows       []int32 // of that message, ascending, at most [MaxReplayRows]; empty = the message as a whole
	DeadLetter int64   // offset of the dead letter, in the partition of the same number
}

// Headers returns the message headers for r.
func (r Replay) Headers() []Header {
	return []Header{
		textHeader(HeaderReplayTopic, r.Topic),
		numberHeader(HeaderReplayPartition, int64(r.Partition)),
		numberHeader(HeaderReplayOffset, r.Offset),
		textHeader(HeaderReplayRows, formatRows(r.Rows)),
		numberHeader(HeaderReplayDeadLetter, r.DeadLetter),
	}
}

// ParseReplayHeaders reads the result of [Replay.Headers]. Headers with other keys are skipped; of duplicate keys the
// last one counts. The error wraps [ErrHeaders].
func ParseReplayHeaders(headers []Header) (Replay, error) {
	r := readHeaders(headers)
	return r.replay(), r.err
}

func (r *headerReader) replay() Replay {
	replay := Replay{
		Topic:      r.text(HeaderReplayTopic),
		Partition:  int32(r.number(HeaderReplayPartition, 32)),
		Offset:     r.number(HeaderReplayOffset, 64),
		DeadLetter: r.number(HeaderReplayDeadLetter, 64),
	}
	var err error
	if replay.Rows, err = parseRows(r.text(HeaderReplayRows)); err != nil {
		r.fail("%s: %v", HeaderReplayRows, err)
	}
	if r.err != nil {
		return Replay{}
	}
	return replay
}

// States of a replay.
const (
	replayBegun = "begun"
	replayDone  = "done"
)

// ReplayNote is a record without a value on the dead-letters topic that says how far a replay has come. One is written
// before the event and one after it. If the second is missing, the event is looked for from NextOffset on.
type ReplayNote struct {
	Replay
	Done bool
	// NextOffset is the next offset of the events partition when the replay began.
	NextOffset int64
}

// Headers returns the message headers for n.
func (n ReplayNote) Headers() []Header {
	state := replayBegun
	if n.Done {
		state = replayDone
	}
	return append(n.Replay.Headers(), textHeader(HeaderReplayState, state), numberHeader(HeaderReplayNextOffset, n.NextOffset))
}

// ParseReplayNote reads the result of [ReplayNote.Headers]. ok is false for headers that are not those of a note. The
// error wraps [ErrHeaders].
func ParseReplayNote(headers []Header) (note ReplayNote, ok bool, err error) {
	r := readHeaders(headers)
	if _, there := r.find(HeaderReplayState); !there {
		return ReplayNote{}, false, nil
	}
	note = ReplayNote{Replay: r.replay(), NextOffset: r.number(HeaderReplayNextOffset, 64)}
	switch state := r.text(HeaderReplayState); state {
	case replayDone:
		note.Done = true
	case replayBegun:
	default:
		r.fail("%s: %.40q is neither %s nor %s", HeaderReplayState, state, replayBegun, replayDone)
	}
	if r.err != nil {
		return ReplayNote{}, true, r.err
	}
	return note, true, nil
}

// formatRows writes ascending numbers as ranges: 3,5-7.
func formatRows(rows []int32) string {
	var b strings.Builder
	for first := 0; first < len(rows); {
		last := first
		for last+1 < len(rows) && rows[last+1] == rows[last]+1 {
			last++
		}
		if first > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, rows[first])
		if last > first {
			fmt.Fprintf(&b, "-%d", rows[last])
		}
		first = last + 1
	}
	return b.String()
}

// parseRows reads what formatRows wrote.
func parseRows(text string) (rows []int32, err error) {
	if text == "" {
		return nil, nil
	}
	for piece := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(piece, "-")
		if !isRange {
			to = from
		}
		first, err1 := strconv.ParseInt(from, 10, 32)
		last, err2 := strconv.ParseInt(to, 10, 32)
		if err1 != nil || err2 != nil || first < 0 || last < first {
			return nil, fmt.Errorf("%.40q is no row and no range of rows", piece)
		}
		if last-first >= int64(MaxReplayRows-len(rows)) {
			return nil, fmt.Errorf("more than %d rows", MaxReplayRows)
		}
		for row := first; row <= last; row++ {
			rows = append(rows, int32(row))
		}
	}
	return rows, checkAscending(rows)
}
