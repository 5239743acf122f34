package stages

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/pipeline"
)

// poisonEvery is one poison message in so many.
const poisonEvery = 100

// BenchmarkPoison measures featurizing and subsampling of a topic in which every hundredth message is poison: cut off,
// not Arrow, of another schema, or with rows that hold NaN, in turn. Rounds alternate with those of a topic without poison;
// ratio is the median throughput, in good rows per second, as a share of that without; cpu-ratio the same of good rows per
// second of the processors, which tells more on a machine that others use.
func BenchmarkPoison(b *testing.B) {
	for _, rows := range []int64{256, 16} {
		messages := 102_400 / rows
		b.Run(fmt.Sprintf("featurize/%d", rows), func(b *testing.B) {
			k := newPoisonBench(b, rows, messages)
			k.publishSet()
			k.follow()
			k.measure(b, k.featurizeRound)
		})
		b.Run(fmt.Sprintf("subsample/%d", rows), func(b *testing.B) {
			k := newPoisonBench(b, rows, messages)
			k.brokerBench.messages = messages
			k.publishSpec(500)
			k.follow()
			k.measure(b, k.subsampleRound)
		})
	}
}

// poisonBench has two topics of events.
type poisonBench struct {
	*brokerBench
	clean, poisoned poisonTopic
}

type poisonTopic struct {
	name    string
	rows    int64 // good ones
	outputs int64 // messages that have good rows
}

func newPoisonBench(b *testing.B, rows, messages int64) *poisonBench {
	b.Helper()
	k := &poisonBench{brokerBench: newBrokerBench(b, "columns", 0)}
	good := k.rows.NewSlice(0, rows)
	defer good.Release()
	poison := poisons(b, good)
	k.clean = k.fill("clean", rows, messages, message(b, good), nil)
	k.poisoned = k.fill("poisoned", rows, messages, message(b, good), poison)
	return k
}

// poison is a bad message with the number of its good rows.
type poison struct {
	value []byte
	good  int64
}

// poisons makes each kind of bad message of good rows.
func poisons(t testing.TB, good arrow.Record) []poison {
	valid := message(t, good)
	columns := slices.Clone(good.Columns())
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(good.Column(0).(*array.Float32).Float32Values(), nil)
	bad := b.NewFloat32Array()
	defer bad.Release()
	bad.Float32Values()[0], bad.Float32Values()[good.NumRows()-1] = float32(math.NaN()), float32(math.Inf(1))
	columns[0] = bad
	nan := array.NewRecord(good.Schema(), columns, good.NumRows())
	defer nan.Release()
	other := withoutColumns(good, good.ColumnName(1))
	defer other.Release()
	return []poison{
		{valid[:len(valid)/2], 0}, {slices.Repeat([]byte("a,b,c\n"), len(valid)/6), 0}, {message(t, other), 0}, {message(t, nan), good.NumRows() - 2},
	}
}

// fill writes a topic of events.
func (k *poisonBench) fill(name string, rows, messages int64, valid []byte, bad []poison) poisonTopic {
	k.Helper()
	_, err := k.client.CreateTopics(k.Context(), []pipeline.TopicSpec{{Name: name, Partitions: 1, Configs: map[string]string{}}})
	if err != nil {
		k.Fatal(err)
	}
	topic := poisonTopic{name: name}
	var batch []pipeline.Record
	for i := range messages {
		one := poison{valid, rows}
		if n := i / poisonEvery; len(bad) > 0 && i%poisonEvery == poisonEvery/2 {
			one = bad[n%int64(len(bad))]
		}
		if topic.rows += one.good; one.good > 0 {
			topic.outputs++
		}
		batch = append(batch, pipeline.Record{Key: []byte("key"), Value: one.value})
		if len(batch)*len(valid) > 512<<10 || i == messages-1 {
			k.produce(name, batch...)
			batch = nil
		}
	}
	return topic
}

// measure alternates rounds of both topics.
func (k *poisonBench) measure(b *testing.B, round func(poisonTopic) time.Duration) {
	round(k.clean) // warms up
	round(k.poisoned)
	var clean, poisoned poisonRounds
	for n := 0; b.Loop(); n++ {
		for i := range 2 { // each is first as often as the other
			topic, rounds := &k.clean, &clean
			if (n+i)%2 == 1 {
				topic, rounds = &k.poisoned, &poisoned
			}
			cpu := cpuTime()
			took := round(*topic)
			rounds.speed = append(rounds.speed, float64(topic.rows)/took.Seconds())
			rounds.perCPU = append(rounds.perCPU, float64(topic.rows)/(cpuTime()-cpu).Seconds())
		}
	}
	b.ReportMetric(medianRatio(poisoned.speed, clean.speed), "ratio")
	b.ReportMetric(medianRatio(poisoned.perCPU, clean.perCPU), "cpu-ratio")
	b.ReportMetric(median(clean.speed), "clean-rows/s")
	b.ReportMetric(median(poisoned.speed), "rows/s")
}

// poisonRounds are good rows per second, and per second of the processors, of each round.
type poisonRounds struct{ speed, perCPU []float64 }

func medianRatio(of, beside []float64) float64 {
	ratios := make([]float64, len(of))
	for i := range of {
		ratios[i] = of[i] / beside[i]
	}
	return median(ratios)
}

func (k *poisonBench) featurizeRound(events poisonTopic) time.Duration {
	output, drop := k.freshTopic(map[string]string{})
	defer drop()
	settings := k.settings
	settings.Topics.Events, settings.Topics.Features = events.name, output
	s := k.stopwatch(output, events.outputs)
	s.events = events.name
	return k.run(s, NewFeaturizeRunner(k.runtime(s, settings)).Run)
}

func (k *poisonBench) subsampleRound(events poisonTopic) time.Duration {
	output, drop := k.freshTopic(map[string]string{"cleanup.policy": "compact"})
	defer drop()
	settings := k.settings
	settings.Topics.Events, settings.Topics.Scores = events.name, output
	settings.Subsample.CheckpointRows, settings.Subsample.CheckpointInterval = 1<<40, time.Hour
	s := k.stopwatch(output, 1)
	s.events = events.name
	return k.run(s, NewSubsampleRunner(k.runtime(s, settings)).Run)
}
