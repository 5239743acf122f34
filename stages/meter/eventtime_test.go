package meter

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

func TestTimesOutOfBoundsAreUnknown(t *testing.T) {
	const none = "no header"
	noon := stagestest.Noon
	latest := noon.Add(time.Hour)
	inNanoseconds := time.UnixMilli(noon.UnixNano())
	millis := func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
	for name, c := range map[string]struct {
		own     time.Time
		header  string
		want    time.Time
		ignored int64
	}{
		"own":                      {noon, none, noon, 0},
		"own, at the bound":        {latest, none, latest, 0},
		"own, ahead":               {latest.Add(time.Millisecond), none, unknownTime, 1},
		"own, in nanoseconds":      {inNanoseconds, none, unknownTime, 1},
		"none":                     {time.UnixMilli(-1), none, unknownTime, 0},
		"header":                   {noon, millis(noon.Add(-time.Hour)), noon.Add(-time.Hour), 0},
		"header, in nanoseconds":   {noon, millis(inNanoseconds), noon, 1},
		"header, ahead":            {noon, millis(latest.Add(time.Hour)), noon, 1},
		"header, empty":            {noon, "", noon, 1},
		"header, negative":         {noon, "-1", noon, 1},
		"header, largest number":   {noon, "9223372036854775807", noon, 1},
		"header, of another kind":  {noon, "today", noon, 1},
		"both in nanoseconds":      {inNanoseconds, millis(inNanoseconds), unknownTime, 1},
		"own in nanoseconds, good": {inNanoseconds, millis(noon), noon, 0},
	} {
		r := pipeline.Record{Topic: "events", Time: c.own, Headers: []pipeline.Header{{Key: "k"}}}
		if c.header != none {
			r.Headers = append(r.Headers, pipeline.Header{Key: wire.HeaderEventTime, Value: []byte(c.header)})
		}
		core, logs := observer.New(zap.WarnLevel)
		m := New()
		made := pipeline.Record{Time: noon}
		for range 3 {
			one := r
			m.CheckTime(zap.New(core), &one, noon, time.Hour)
			made.Headers = WithEventTime(&one)
			if got := EventTime(&one); !got.Equal(c.want) {
				t.Errorf("%s: time %v, want %v", name, got, c.want)
			}
		}
		if got := m.Activity().IgnoredTimes; got != 3*c.ignored || int64(logs.Len()) != c.ignored {
			t.Errorf("%s: %d ignored and %d lines, want %d and %d", name, got, logs.Len(), 3*c.ignored, c.ignored)
		}
		_, carries := made.Header(wire.HeaderEventTime)
		if carries != knownTime(c.want) ||
			!slices.ContainsFunc(made.Headers, func(h pipeline.Header) bool { return h.Key == "k" }) {
			t.Errorf("%s: headers %v", name, made.Headers)
		}
	}
}

// The clock of the process does not matter if the broker reports when it appended a record.
func TestTimesAreComparedWithTheTimeOfAppending(t *testing.T) {
	noon := stagestest.Noon
	for name, c := range map[string]struct {
		appended bool
		clock    time.Duration // after the record's time
		header   time.Duration // after the record's time
		ignored  int64
	}{
		"appended, clock behind":          {true, -5 * time.Hour, -time.Minute, 0},
		"appended, clock behind, ahead":   {true, -5 * time.Hour, 61 * time.Minute, 1},
		"appended, clock ahead, in bound": {true, 5 * time.Hour, 59 * time.Minute, 0},
		"appended, clock ahead, ahead":    {true, 5 * time.Hour, 61 * time.Minute, 1},
		"created, clock behind":           {false, -5 * time.Hour, -3 * time.Hour, 1},
		"created, clock ahead":            {false, 5 * time.Hour, 61 * time.Minute, 0},
	} {
		header := wire.EventTimeHeader(noon.Add(c.header))
		r := pipeline.Record{Time: noon, Appended: c.appended, Headers: []pipeline.Header{header}}
		m := New()
		m.CheckTime(zap.NewNop(), &r, noon.Add(c.clock), time.Hour)
		if got := m.Activity().IgnoredTimes; got != c.ignored {
			t.Errorf("%s: %d ignored, want %d", name, got, c.ignored)
		}
	}
}

func TestAnEventIsNotLaterThanTheRecordMadeFromIt(t *testing.T) {
	header := wire.EventTimeHeader(stagestest.Noon.Add(time.Hour))
	r := pipeline.Record{Time: stagestest.Noon, Headers: []pipeline.Header{header}}
	if got := EventTime(&r); !got.Equal(stagestest.Noon) {
		t.Errorf("event of %v in a record of %v", got, r.Time)
	}
}
