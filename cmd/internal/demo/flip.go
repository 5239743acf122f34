package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
	"github.com/eerf-stream/eerf/stages/train"
)

// A flip is a stream in simulated time, in seconds of flipRate rows. flipExplored of them exist
// when the stages start.
const (
	flipRate     = 400
	flipExplored = 50
	flipBefore   = 100
	flipAfter    = 120
)

// flipTick is the interval between checks whether the rows of a second are featurized.
const flipTick = 2 * time.Millisecond

// Flipped describes live errors after the largest term of the target changed its sign.
type Flipped struct {
	Rate    int      `json:"rows_per_second"`
	Moments []Moment `json:"seconds"`
}

// Moment describes the end of a second.
type Moment struct {
	Second   int        `json:"second"` // since the flip
	State    live.State `json:"state"`
	Error    *float64   `json:"live_error"` // of the newest [live.ShortRows] rows, in percent of the variance
	Promised *float64   `json:"promised_error"`
	Model    string     `json:"model,omitempty"` // published at the end of the second
	HalfLife float64    `json:"half_life,omitempty"`
}

// At returns the moment at a second after the flip, nil if there is none.
func (f *Flipped) At(second int) *Moment {
	for i := range f.Moments {
		if f.Moments[i].Second == second {
			return &f.Moments[i]
		}
	}
	return nil
}

// Flip runs a generated stream whose relation changes, with the settings of a stream: it trains at
// train.interval, and sooner while live errors exceed the promise. Train, Test and the sizes of o
// have no effect.
func Flip(ctx context.Context, o Options) (*Flipped, error) {
	broker, stop, err := connect(&o)
	if err != nil {
		return nil, err
	}
	defer stop()
	if _, err := topics.Create(ctx, broker, o.Settings.Topics); err != nil {
		return nil, err
	}
	const total = flipBefore + flipAfter
	f := &flipping{run: run{Options: o, broker: broker}, began: time.Now().Add(-total * time.Second).Truncate(time.Second)}
	f.rows = newSynthetic(o.Settings.Exploration.Seed, total*flipRate, flipRate)
	perMessage := max(1, flipRate/o.Settings.Topics.Partitions)
	f.producer, err = events.NewProducer(ctx, &datedSink{broker, f.now}, o.Settings.Topics.Events, perMessage)
	if err != nil {
		return nil, err
	}
	f.runtime = stages.NewProcess(broker, o.Settings, o.Logger)
	f.runtime.Env.DrainTimeout = 10 * time.Second
	f.runtime.Env.Clock = f.now
	f.live = live.NewFollower(broker, o.Logger, f.now, o.Settings.Topics.Live, o.Settings.Pipeline.Name)
	if err := f.all(ctx); err != nil {
		return nil, err
	}
	return &Flipped{Rate: flipRate, Moments: f.moments}, nil
}

// flipping is a flip in progress.
type flipping struct {
	run
	began    time.Time // start of the stream
	rows     *synthetic
	producer *events.Producer
	live     *live.Follower
	trained  int // second of the last training
	moments  []Moment
	trainer  *train.Runner
}

// second returns the number of seconds of the stream produced so far.
func (f *flipping) second() int { return int(f.producer.Rows() / flipRate) }

// now returns the end of the last produced second.
func (f *flipping) now() time.Time { return f.began.Add(time.Duration(f.second()) * time.Second) }

// datedSink writes records with the time of the stream.
type datedSink struct {
	pipeline.Broker
	now func() time.Time
}

// Produce dates the records.
func (s *datedSink) Produce(
	ctx context.Context,
	topic string,
	partition int,
	records []pipeline.Record,
) (int64, error) {
	for i := range records {
		records[i].Time = s.now()
	}
	return s.Broker.Produce(ctx, topic, partition, records)
}

func (f *flipping) all(ctx context.Context) error {
	for f.second() < flipExplored {
		if err := f.produceSecond(ctx); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	running := make(chan error, 1)
	go func() {
		running <- f.runtime.Run(ctx, meter.StageCalibrate, meter.StageSubsample, meter.StageSelection, meter.StageFeaturize)
		stop()
	}()
	err := f.stream(ctx)
	stop()
	if failed := <-running; failed != nil {
		return failed
	}
	return err
}

// stream trains a model on the explored rows, and then runs second by second.
func (f *flipping) stream(ctx context.Context) error {
	f.progress("exploring", 0, 0)
	if _, err := f.runtime.Env.State.Wait(ctx, func(s state.Snapshot) bool { return s.CurrentSet() != nil }); err != nil {
		return err
	}
	if err := f.runtime.Env.State.Ask(); err != nil {
		return err
	}
	f.trainer = f.runtime.Trainer()
	if err := f.settle(ctx); err != nil {
		return err
	}
	if err := f.train(ctx, &Moment{}); err != nil {
		return err
	}
	for f.second() < flipBefore+flipAfter {
		if f.second() == flipBefore {
			f.rows.sign = -1
		}
		if err := f.step(ctx); err != nil {
			return fmt.Errorf("second %d: %w", f.second(), err)
		}
		f.progress("streaming", int64(f.second()), flipBefore+flipAfter)
	}
	return nil
}

func (f *flipping) produceSecond(ctx context.Context) error {
	rows, err := f.rows.Next()
	if err != nil {
		return err
	}
	defer rows.Release()
	if err := f.producer.Add(ctx, rows); err != nil {
		return err
	}
	return f.producer.Flush(ctx)
}

// step runs one second of the stream: its rows are mapped and compared, and a model is trained if
// due.
func (f *flipping) step(ctx context.Context) error {
	if err := f.produceSecond(ctx); err != nil {
		return err
	}
	if err := f.settle(ctx); err != nil {
		return err
	}
	if err := pipeline.Try(ctx, f.Logger, "read live errors", func() error { return f.live.Look(ctx) }); err != nil {
		return err
	}
	report := f.live.Report()
	moment := Moment{Second: f.second() - flipBefore, State: report.State}
	if s := report.Short; s != nil {
		moment.Error, moment.Promised = &s.Error, s.PromisedError
	}
	if time.Duration(f.second()-f.trained)*time.Second >= f.Settings.Train.Pause(report) {
		if err := f.train(ctx, &moment); err != nil {
			return err
		}
	}
	f.moments = append(f.moments, moment)
	return nil
}

// train trains a model and records it in the moment if it is published.
func (f *flipping) train(ctx context.Context, moment *Moment) error {
	f.trained = f.second()
	fitted, err := f.trainer.Fit(ctx)
	if err == nil && fitted.Current && !fitted.Unchanged {
		moment.Model, moment.HalfLife = fitted.ID, fitted.Metrics.HalfLife
	}
	return err
}

// settle returns when every produced message is featurized.
func (f *flipping) settle(ctx context.Context) error {
	f.sent = sent{messages: f.producer.Messages()}
	return f.awaitFeatures(ctx, flipTick)
}
