package status

import (
	"time"

	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
)

// window keeps recent samples, for rates between the oldest and the newest.
type window[T any] struct {
	span    time.Duration
	samples []sample[T]
}

type sample[T any] struct {
	at    time.Time
	value T
}

// add adds a sample and drops samples older than the span, except the newest of them.
func (w *window[T]) add(at time.Time, value T) {
	w.samples = append(w.samples, sample[T]{at, value})
	old := 0
	for old+1 < len(w.samples)-1 && at.Sub(w.samples[old+1].at) >= w.span {
		old++
	}
	w.samples = append(w.samples[:0], w.samples[old:]...)
}

// ends returns the oldest and the newest sample and the seconds between them; ok is false without
// samples.
func (w *window[T]) ends() (oldest, newest T, seconds float64, ok bool) {
	if len(w.samples) < 2 {
		return oldest, newest, 0, false
	}
	first, last := w.samples[0], w.samples[len(w.samples)-1]
	seconds = last.at.Sub(first.at).Seconds()
	return first.value, last.value, seconds, seconds > 0
}

// work holds the counters of a stage of this process.
type work struct{ rows, messages, bytes, refused, seconds float64 }

// workOf takes the counters of the stages from a snapshot.
func workOf(s stages.Snapshot) map[meter.Stage]work {
	t, traffic := s.Totals, s.Activity.Traffic
	of := func(stage meter.Stage, rows, messages, refused int64) work {
		bytes := traffic[stage].UsedBytes + traffic[stage].UndecodableBytes + traffic[stage].OtherSetBytes
		return work{float64(rows), float64(messages), float64(bytes), float64(refused), t.Seconds[stage]}
	}
	return map[meter.Stage]work{
		meter.StageCalibrate: of(meter.StageCalibrate, t.Calibrate.Rows, t.Calibrate.Messages, t.Calibrate.Undecodable),
		meter.StageSubsample: of(meter.StageSubsample, t.Scoring.Rows, t.Scoring.Messages,
			t.Scoring.Rejected+t.Scoring.Undecodable),
		meter.StageSelection: of(meter.StageSelection, 0, 0, 0),
		meter.StageFeaturize: of(meter.StageFeaturize, t.Featurize.Featurized, t.Featurize.Messages,
			t.Featurize.Rejected+t.Featurize.Undecodable),
		meter.StageTrain: of(meter.StageTrain, t.Train.Rows, t.Train.Messages, t.Train.Undecodable),
	}
}

// rate returns the growth of a counter per second. A counter that fell was restarted.
func rate(before, now, seconds float64) float64 { return max(0, now-before) / seconds }
