package telemetry_test

import (
	"context"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/training"
)

// The metrics of a process agree with its counters: every row and every byte has one outcome.
func TestMetricsReconcileWithTheTotals(t *testing.T) {
	b := newBench(t)
	const messages = 20
	bytes := b.fill(messages)
	bytes += b.send(0, pipeline.Record{Value: []byte("no Arrow")})
	damaged := []pipeline.Record{{Key: wire.SpecKey(b.settings.Pipeline.Name), Value: []byte("no spec")}}
	if _, err := b.broker.Produce(b.ctx, b.settings.Topics.Explorations, 0, damaged); err != nil {
		t.Fatal(err)
	}
	p := b.run(nil, meter.Stages()...)
	const rows = partitions * messages * 50
	p.until("everything is featurized", is(rows, "eerf_rows_total", "stage=featurize"))
	p.until("the refused message too", is(1, "eerf_messages_total", "stage=featurize", "outcome=undecodable"))
	p.until("everything is trained on or without a label", func(m families) bool {
		total, _ := sum(m, "eerf_rows_total", "stage=train")
		rejected, _ := sum(m, "eerf_rows_total", "stage=featurize", "outcome=rejected")
		return total == rows-rejected
	})
	p.until("its model is out", func(m families) bool { _, found := sum(m, "eerf_model_info"); return found })
	m := p.until("no lag", is(0, "eerf_lag_messages"))
	totals := p.Meter.Totals()

	for name, want := range map[string]int64{
		"eerf_rows_total stage=subsample":                                        totals.Scoring.Rows,
		"eerf_rows_total stage=subsample outcome=scored":                         totals.Scoring.Scored,
		"eerf_rows_total stage=featurize outcome=featurized":                     totals.Featurize.Featurized,
		"eerf_rows_total stage=train outcome=trained":                            totals.Train.Rows,
		"eerf_messages_total stage=calibrate":                                    totals.Calibrate.Messages,
		"eerf_messages_total stage=subsample":                                    totals.Scoring.Messages,
		"eerf_messages_total stage=featurize":                                    totals.Featurize.Messages,
		"eerf_messages_total stage=train":                                        totals.Train.Messages,
		"eerf_message_bytes_total stage=featurize":                               bytes,
		"eerf_message_bytes_total stage=featurize outcome=undecodable":           int64(len("no Arrow")),
		"eerf_message_handling_seconds stage=featurize":                          totals.Featurize.Messages,
		"eerf_feature_delay_seconds":                                             totals.Train.Messages, // one output for each message here
		"eerf_output_messages_total stage=featurize":                             totals.Train.Messages,
		"eerf_dead_letters_total stage=featurize reason=not_arrow":               1,
		"eerf_owned_partitions stage=featurize":                                  partitions,
		"eerf_group_joins_total stage=train":                                     1,
		"eerf_exploration_missing_rows pipeline=bench":                           0,
		"eerf_feature_set_features pipeline=bench":                               8,
		"eerf_unsaved_rows":                                                      0,
		"eerf_output_messages_total stage=subsample":                             p.Meter.Activity().Traffic[meter.StageSubsample].OutputMessages,
		"eerf_undecodable_records_total topic=" + b.settings.Topics.Explorations: 1,
		"eerf_undecodable_records_total":                                         1,
		"eerf_memory_budget_bytes setting=exploration.sample_memory":             b.settings.Exploration.SampleMemory,
		"eerf_unseen_class_rows_total stage=featurize":                           0,
	} {
		words := strings.Fields(name)
		have, _ := sum(m, words[0], words[1:]...)
		if have != float64(want) {
			t.Errorf("%s: %v, want %d", name, have, want)
		}
	}
	if n, _ := sum(m, "eerf_output_bytes_total", "stage=subsample"); n < float64(8*totals.Scoring.Scored) { // two columns
		t.Errorf("%d sampled rows take %v bytes", totals.Scoring.Scored, n)
	}
	if s := totals.Scoring; s.Rows != s.Scored+s.NotSampled+s.Unlabelled+s.Rejected || s.Rows == 0 {
		t.Errorf("%+v", s)
	}
	if errors, found := sum(m, "eerf_model_error_ratio", "measure=unexplained_variance"); !found || errors <= 0 || errors > 1.5 {
		t.Errorf("unexplained variance %v", errors)
	}
}

// The reason why there is no plan is shown until there is one.
func TestPlanningSaysWhatIsMissing(t *testing.T) {
	b := newBench(t)
	b.fill(1)
	p := b.run(nil, meter.StageCalibrate)
	m := p.until("rows are missing", func(m families) bool { n, _ := sum(m, "eerf_exploration_planning_missing_rows"); return n > 0 })
	if n, _ := sum(m, "eerf_exploration_planning_missing_rows"); n != 300-2*45 {
		t.Errorf("%v rows are missing", n)
	}
	b.fill(19)
	p.until("a plan", is(1, "eerf_exploration_running"))
	p.until("none are missing", is(0, "eerf_exploration_planning_missing_rows"))
	p.stop()
	b.settings.Exploration.Seed, b.settings.Exploration.SampleMemory = 2, 1
	p = b.run(nil, meter.StageCalibrate)
	p.until("the plan fails", is(1, "eerf_exploration_planning_failed"))
}

// gate is a broker that lets messages to a topic through only when it is open; tombstones always.
type gate struct {
	pipeline.Broker
	topic string
	mu    sync.Mutex
	open  chan struct{}
	free  map[int]int // how many it lets through while closed, by partition
}

// before puts the gate in front of a broker.
func (g *gate) before(broker pipeline.Broker) pipeline.Broker {
	g.Broker = broker
	return g
}

func (g *gate) Produce(ctx context.Context, topic string, partition int, records []pipeline.Record) (int64, error) {
	if topic == g.topic && records[0].Value != nil {
		g.mu.Lock()
		open, free := g.open, g.free[partition] > 0
		if free {
			g.free[partition]--
		}
		g.mu.Unlock()
		if !free {
			select {
			case <-open:
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
	}
	return g.Broker.Produce(ctx, topic, partition, records)
}

// OpenWriter returns the broker itself.
func (g *gate) OpenWriter(context.Context, *pipeline.WriterID, ...pipeline.Target) (pipeline.Producer, error) {
	return g, nil
}

// Groups implements [pipeline.GroupReporter].
func (g *gate) Groups() []pipeline.GroupStatus { return g.Broker.(pipeline.GroupReporter).Groups() }

func (g *gate) set(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if open {
		close(g.open)
	} else {
		g.open = make(chan struct{})
	}
}

// Events of known ages whose output is held back: the lag is the age of the oldest event without output.
func TestLagInSecondsIsThatOfKnownDelays(t *testing.T) {
	b := newBench(t)
	b.fill(20)
	g := &gate{topic: b.settings.Topics.Features, open: make(chan struct{})}
	g.set(true)
	p := b.run(g.before,
		meter.StageCalibrate, meter.StageSubsample, meter.StageSelect, meter.StageFeaturize)
	before := p.until("caught up", func(m families) bool {
		return is(2*20*50, "eerf_rows_total", "stage=featurize")(m) && is(0, "eerf_lag_seconds", "stage=featurize")(m)
	})
	g.set(false)
	ages := []time.Duration{90 * time.Second, 40 * time.Second} // by partition
	sent := time.Now()
	for partition, age := range ages {
		for i := range 6 {
			at := sent.Add(-age).Add(time.Duration(i) * 3 * time.Second)
			b.send(partition, b.event(i*50, 50, at))
		}
	}
	for partition, age := range ages {
		label := []string{"stage=featurize", "partition=" + strconv.Itoa(partition)}
		least := (age + time.Since(sent)).Seconds()
		m := p.until("a lag of six messages", is(6, "eerf_lag_messages", label...))
		most := (age + time.Since(sent)).Seconds()
		if lag, _ := sum(m, "eerf_lag_seconds", label...); lag < 0.9*least || lag > 1.1*most {
			t.Errorf("partition %d: lag %v s, want %v to %v", partition, lag, least, most)
		}
		if rows, _ := sum(m, "eerf_lag_rows", label...); rows != 300 {
			t.Errorf("partition %d: lag %v rows, want 300", partition, rows)
		}
	}
	opened := time.Now()
	g.set(true)
	m := p.until("caught up again", func(m families) bool {
		return is(0, "eerf_lag_seconds", "stage=featurize")(m) && is(0, "eerf_lag_messages", "stage=featurize")(m) &&
			delayOf(m).GetSampleCount() == delayOf(before).GetSampleCount()+12
	})
	// Each message waited from its timestamp until the output was open, and at most until now.
	var least float64
	for _, age := range ages {
		for i := range 6 {
			least += (age - time.Duration(i)*3*time.Second + opened.Sub(sent)).Seconds()
		}
	}
	most := least + 12*time.Since(opened).Seconds()
	if have := delayOf(m).GetSampleSum() - delayOf(before).GetSampleSum(); have < 0.9*least || have > 1.1*most {
		t.Errorf("12 delays of %v s, want %v to %v", have, least, most)
	}
}

// Between two fits, training lags by what has been added to features since, as long as that was not there
// before.
func TestTrainingIsBehindUntilTheNextFit(t *testing.T) {
	b := newBench(t)
	b.settings.Train.Interval, b.settings.Train.Loss = time.Hour, training.LossLogistic
	b.classes, b.settings.Events.Classes = true, []string{"no", "yes"}
	b.fill(20)
	mapping := []string{meter.StageCalibrate, meter.StageSubsample, meter.StageSelect, meter.StageFeaturize}
	mapped := b.run(nil, mapping...)
	mapped.until("features", is(40, "eerf_output_messages_total", "stage=featurize"))
	started := time.Now() // earlier messages do not count as lag
	trained := b.run(nil, meter.StageTrain)
	m := trained.until("a model", func(m families) bool { _, found := sum(m, "eerf_model_info"); return found })
	if lag, found := sum(m, "eerf_lag_seconds", "stage=train"); !found || lag != 0 {
		t.Errorf("lag %v s behind a fit of all that there was (found: %v)", lag, found)
	}
	rows, _ := sum(m, "eerf_rows_total", "stage=train")
	if used, _ := sum(m, "eerf_memory_budget_used_bytes", "setting=train.row_memory"); used != rows*(4*(8+1)+1) || rows == 0 {
		t.Errorf("%v rows of 8 features take %v bytes", rows, used)
	}
	if limit, _ := sum(m, "eerf_memory_budget_bytes", "setting=train.row_memory"); limit != float64(b.settings.Train.RowMemory) {
		t.Errorf("of %v bytes", limit)
	}

	b.fill(3)
	m = trained.until("a lag of six messages", is(6, "eerf_lag_messages", "stage=train"))
	for partition := range partitions {
		lag, _ := sum(m, "eerf_lag_seconds", "stage=train", "partition="+strconv.Itoa(partition))
		if limit := time.Since(started).Seconds(); lag <= 0 || lag > limit {
			t.Errorf("partition %d: lag %v s, want at most %v", partition, lag, limit)
		}
	}
	if have, _ := sum(m, "eerf_lag_rows", "stage=train"); math.Abs(have-300) > 30 { // some rows of a message have NaN
		t.Errorf("lag %v rows, want about 300", have)
	}
}

func delayOf(m families) *dto.Histogram {
	return m["eerf_feature_delay_seconds"].GetMetric()[0].GetHistogram()
}
