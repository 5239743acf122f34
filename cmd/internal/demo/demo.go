package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/topics"
	"github.com/eerf-stream/eerf/stages/train"
)

// Names of the parts of a demo other than the stages, as keys of Seconds.
const (
	partProduce  meter.Stage = "produce"
	partBaseline meter.Stage = "baseline"
	partEvaluate meter.Stage = "evaluate"
)

// Options configure a demo.
type Options struct {
	Settings stages.Settings
	// Train returns the rows that become events. Test returns the rows to measure on; if nil,
	// TestFraction of Train is held back by row hash.
	Train, Test  func() (events.RowReader, error)
	TestFraction float64
	// RowsPerMessage is the size of the messages produced.
	RowsPerMessage int
	// Dir keeps the broker's data; empty = a temporary directory that is removed.
	Dir    string
	Logger *zap.Logger
	// Progress reports the current operation; total is 0 if unknown. It may be nil. One goroutine
	// calls it at a time.
	Progress func(what string, done, total int64)
}

// Result is the outcome of a demo.
type Result struct {
	Set   *wire.FeatureSet
	Model Model
	// Seconds is the wall time of each part; RowsPerSecond its rows per second.
	Seconds, RowsPerSecond map[meter.Stage]float64
	Warnings               []string
}

// Model compares a model on the selected features with a model on the same number of plain random
// features, on the same test rows. Errors are in percent: misclassification, or for a regression
// unexplained variance.
type Model struct {
	ID            string           `json:"id"`
	Loss          string           `json:"loss"`
	Lambda        float64          `json:"lambda"`
	Metric        string           `json:"metric"`
	Error         float64          `json:"error"`
	BaselineError float64          `json:"baseline_error"`
	Test          train.TestErrors `json:"test"`
	BaselineTest  train.TestErrors `json:"baseline_test"`
	// ConstantError is the test error without features: the misclassification of the most frequent
	// class, or the unexplained variance of the mean, which is 100 %.
	ConstantError *float64 `json:"constant_error,omitempty"`
}

// run is a demo in progress.
type run struct {
	Options
	broker  pipeline.Broker
	runtime *stages.Process
	test    []arrow.Record
	sent    sent
	result  Result
}

// Run runs a demo.
func Run(ctx context.Context, o Options) (*Result, error) {
	broker, stop, err := connect(&o)
	if err != nil {
		return nil, err
	}
	defer stop()
	r := &run{Options: o, broker: broker}
	r.result.Seconds, r.result.RowsPerSecond = map[meter.Stage]float64{}, map[meter.Stage]float64{}
	defer func() {
		for _, batch := range r.test {
			batch.Release()
		}
	}()
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	return &r.result, nil
}

// connect starts a broker and returns a client of it, and a function that stops both.
func connect(o *Options) (client *kafka.Client, stop func(), err error) {
	server, err := embedded.Start(embedded.Options{Dir: o.Dir, Logger: o.Logger})
	if err != nil {
		return nil, nil, fmt.Errorf("start the embedded broker: %w", err)
	}
	config := kafka.DefaultConfig()
	// Stages count acknowledged messages when their next fetch returns, and demos wait for these
	// counts.
	config.Brokers, config.FetchMaxWait = server.Addrs(), 20*time.Millisecond
	client, err = kafka.New(config, o.Logger)
	if err != nil {
		return nil, nil, errors.Join(err, server.Close())
	}
	return client, func() {
		client.Close() //nolint:errcheck // nothing is in flight
		server.Close() //nolint:errcheck // its data are temporary or already acknowledged
	}, nil
}

func (r *run) all(ctx context.Context) error {
	r.Settings.Train.Forget = false // rows of a file: their send time means nothing
	if _, err := topics.Create(ctx, r.broker, r.Settings.Topics); err != nil {
		return err
	}
	if err := r.timed(partProduce, func() error { return r.produce(ctx) }); err != nil {
		return err
	}
	r.result.RowsPerSecond[partProduce] = rate(r.sent.rows, r.result.Seconds[partProduce])
	r.runtime = stages.NewProcess(r.broker, r.Settings, r.Logger)
	r.runtime.Env.DrainTimeout = 10 * time.Second
	if err := r.preview(ctx); err != nil {
		return err
	}
	set, model, err := r.stream(ctx)
	if err != nil {
		return err
	}
	if err := r.timed(partEvaluate, func() error { return r.evaluate(set, model) }); err != nil {
		return err
	}
	return r.timed(partBaseline, func() error { return r.baseline(ctx, set) })
}

// preview plans as the stages will, to report faults in the rows before the stages run.
func (r *run) preview(ctx context.Context) error {
	request := calibrate.Request{Sequence: 1, Now: r.runtime.Env.Clock()}
	planned, err := r.runtime.Plan(ctx, request)
	if err != nil {
		return err
	}
	for _, tell := range planned.Report.Telltales {
		r.result.Warnings = append(r.result.Warnings, tell.String())
	}
	r.result.Warnings = append(r.result.Warnings, planned.Report.Warnings...)
	return nil
}

func (r *run) timed(name meter.Stage, do func() error) error {
	began := time.Now()
	err := do()
	r.result.Seconds[name] = time.Since(began).Seconds()
	return err
}

func (r *run) progress(what string, done, total int64) {
	if r.Progress != nil {
		r.Progress(what, done, total)
	}
}

func rate(rows int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(rows) / seconds
}

// ErrNoTestRows means that no labelled row is left to measure on.
var ErrNoTestRows = errors.New(
	"no labelled test rows; supply more rows, a larger --test-fraction or --test-file")
