package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// unreadable holds the unreadable messages of a range.
type unreadable struct {
	part     wire.Partition
	first    string   // why the first one could not be read; empty = none
	reported interval // offsets of earlier dead letters
	drafts   []deadletter.Draft
	bytes    int
	end      int64     // the drafts are complete below it
	now      time.Time // time of the dead letters
}

func newUnreadable(part wire.Partition, reported interval, now time.Time) *unreadable {
	if reported.to < part.StartOffset || reported.to > part.EndOffset { // of another range or log
		reported = interval{part.StartOffset, part.StartOffset}
	}
	return &unreadable{part: part, reported: reported, end: part.EndOffset, now: now}
}

// add remembers a message that is not reported yet. Messages beyond [deadletter.PendingBytes] wait
// for the next plan.
func (u *unreadable) add(record pipeline.Record, cause error) {
	if u.first == "" {
		u.first = cause.Error()
	}
	if record.Offset >= u.reported.from && record.Offset < u.reported.to || record.Offset >= u.end {
		return
	}
	draft := deadletter.Refused(meter.StageCalibrate, record, cause, u.now).Clone()
	u.drafts, u.bytes = append(u.drafts, draft), u.bytes+draft.Memory()
	if u.bytes > deadletter.PendingBytes {
		u.end = record.Offset + 1
	}
}

// tooFewRows describes why the ranges have too few labelled rows.
func tooFewRows(s Settings, scans []*scan, labels *encoder.LabelCounter, counts meter.CalibrateCounts) error {
	few := &TooFewRowsError{Have: labels.MostRows(), Want: s.Exploration.MinRows, Rows: counts.Rows}
	var parts []string
	note := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	first := ""
	for _, one := range scans {
		if one.unreadable != nil {
			few.unreadable = append(few.unreadable, one.unreadable)
			first = cmp.Or(first, one.unreadable.first)
		}
	}
	switch n := counts.Undecodable; {
	case n > 0 && n == counts.Messages-counts.Tombstones:
		note("%d messages, none could be read: %s", n, first)
	case n > 0:
		note("%d of %d messages could not be read, the first because: %s", n, counts.Messages, first)
	}
	switch absent := labels.Absent(); {
	case absent == 0:
	case absent < counts.Rows:
		note("%d rows lack the label column %s", absent, quoted(s.Events.Label))
	default:
		note("no row has the label column %s; columns are %s", quoted(s.Events.Label), quoted(columnsSeen(s, scans)))
	}
	if refused, label := labels.Refused(); refused > 0 {
		note("%d labels are out of bounds, not finite, or of no configured class, such as %s", refused, label)
	}
	if why := labels.UnusableType(); why != "" {
		note("%s", why)
	}
	few.Unusable = strings.Join(parts, "; ")
	return few
}

// shownColumns is the number of columns that a message names.
const shownColumns = 20

func quoted(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), shownColumns)] {
		list = append(list, arrowio.Quote(name))
	}
	if more := len(names) - shownColumns; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return cmp.Or(strings.Join(list, ", "), "none")
}

func columnNames(schema *arrow.Schema) (names []string) {
	for _, field := range schema.Fields() {
		names = append(names, field.Name)
	}
	return names
}

// columnsSeen returns the columns of the first readable message.
func columnsSeen(s Settings, scans []*scan) []string {
	reader := formats.NewDecoder(formats.Options{Format: formats.JSON, Limits: s.Limits.Decoder()})
	for _, one := range scans {
		if len(one.columns) > 0 {
			return one.columns
		}
		if len(one.kept.text.rows) == 0 {
			continue
		}
		if recs, err := reader.Decode(one.kept.text.at(0)); err == nil {
			defer events.Release(recs)
			return columnNames(recs[0].Schema())
		}
	}
	return nil
}

// reportedUnreadable returns the offsets whose unreadable messages this or an earlier planner has
// reported, before the first exploration. Without the right to read dead letters it knows only its
// own.
func (p *Planner) reportedUnreadable(ctx context.Context) (map[int32]interval, error) {
	if p.unreadable != nil {
		return maps.Clone(p.unreadable), nil
	}
	found := make(map[int32]interval)
	err := deadletter.Visit(ctx, p.Env.Broker, p.Env.Logger, p.Env.Topics.DeadLetters,
		func(l deadletter.Letter, _ pipeline.Record) error {
			if l.Stage == string(meter.StageCalibrate) && l.Topic == p.Env.Topics.Events {
				at, known := found[l.Partition]
				if !known {
					at.from = l.Offset
				}
				found[l.Partition] = interval{min(at.from, l.Offset), max(at.to, l.Offset+1)}
			}
			return nil
		}, nil)
	if err != nil && !errors.Is(err, pipeline.ErrDenied) && !errors.Is(err, pipeline.ErrUnknownTopic) {
		return nil, err
	}
	p.unreadable = found
	return maps.Clone(found), nil
}

// reportUnreadable sends the dead letters of unreadable messages, once there are too few rows for
// the first exploration: no other stage reads events before it. A failure only delays them.
func (p *Planner) reportUnreadable(ctx context.Context, few *TooFewRowsError) {
	sender := deadletter.Sender{
		To: p.Env.Broker, Topic: p.Env.Topics.DeadLetters, Meter: p.Env.Meter, Logger: p.Env.Logger,
	}
	for _, u := range few.unreadable {
		if u.first == "" {
			continue
		}
		if err := sender.Send(ctx, int(u.part.Partition), u.drafts); err != nil {
			p.Env.Logger.Warn("could not send dead letters of unreadable messages; retrying with the next plan", zap.Error(err))
			continue
		}
		p.unreadable[u.part.Partition] = interval{min(u.part.StartOffset, u.reported.from), max(u.end, u.reported.to)}
		u.drafts = nil
	}
}
