package bench

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/internal/cputime"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// poisonEvery is one poison message in so many.
const poisonEvery = 100

// PoisonKit has two topics of events: one in which every hundredth message is poison, and one without.
type PoisonKit struct {
	*Kit
	clean, poisoned PoisonTopic
}

// PoisonTopic is a topic of events.
type PoisonTopic struct {
	Name    string
	Outputs int64 // messages that have good rows
	rows    int64 // good ones
}

// NewPoison writes both topics.
func NewPoison(b *testing.B, rows, messages int64) *PoisonKit {
	b.Helper()
	k := &PoisonKit{Kit: New(b, "columns", 0)}
	good := k.Rows.NewSlice(0, rows)
	defer good.Release()
	poison := poisons(b, good)
	k.clean = k.fill("clean", rows, messages, stagestest.Message(b, good), nil)
	k.poisoned = k.fill("poisoned", rows, messages, stagestest.Message(b, good), poison)
	return k
}

// poison is a bad message with the number of its good rows.
type poison struct {
	value []byte
	good  int64
}

// poisons makes each kind of bad message of good rows.
func poisons(t testing.TB, good arrow.Record) []poison {
	valid := stagestest.Message(t, good)
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
	other := events.WithoutColumns(good, good.ColumnName(1))
	defer other.Release()
	return []poison{
		{valid[:len(valid)/2], 0}, {slices.Repeat([]byte("a,b,c\n"), len(valid)/6), 0}, {stagestest.Message(t, other), 0}, {stagestest.Message(t, nan), good.NumRows() - 2},
	}
}

// fill writes a topic of events.
func (k *PoisonKit) fill(name string, rows, messages int64, valid []byte, bad []poison) PoisonTopic {
	k.Helper()
	_, err := k.Client.CreateTopics(k.Context(), []pipeline.TopicSpec{{Name: name, Partitions: 1, Configs: map[string]string{}}})
	if err != nil {
		k.Fatal(err)
	}
	topic := PoisonTopic{Name: name}
	var batch []pipeline.Record
	for i := range messages {
		one := poison{valid, rows}
		if n := i / poisonEvery; len(bad) > 0 && i%poisonEvery == poisonEvery/2 {
			one = bad[n%int64(len(bad))]
		}
		if topic.rows += one.good; one.good > 0 {
			topic.Outputs++
		}
		batch = append(batch, pipeline.Record{Key: []byte("key"), Value: one.value})
		if len(batch)*len(valid) > 512<<10 || i == messages-1 {
			k.Produce(name, batch...)
			batch = nil
		}
	}
	return topic
}

// Measure alternates rounds of both topics.
func (k *PoisonKit) Measure(b *testing.B, round func(PoisonTopic) time.Duration) {
	round(k.clean) // warms up
	round(k.poisoned)
	var clean, poisoned poisonRounds
	for n := 0; b.Loop(); n++ {
		for i := range 2 { // each is first as often as the other
			topic, rounds := &k.clean, &clean
			if (n+i)%2 == 1 {
				topic, rounds = &k.poisoned, &poisoned
			}
			cpu := cputime.Process()
			took := round(*topic)
			rounds.speed = append(rounds.speed, float64(topic.rows)/took.Seconds())
			rounds.perCPU = append(rounds.perCPU, float64(topic.rows)/(cputime.Process()-cpu).Seconds())
		}
	}
	b.ReportMetric(medianRatio(poisoned.speed, clean.speed), "ratio")
	b.ReportMetric(medianRatio(poisoned.perCPU, clean.perCPU), "cpu-ratio")
	b.ReportMetric(Median(clean.speed), "clean-rows/s")
	b.ReportMetric(Median(poisoned.speed), "rows/s")
}

// poisonRounds are good rows per second, and per second of the processors, of each round.
type poisonRounds struct{ speed, perCPU []float64 }

func medianRatio(of, beside []float64) float64 {
	ratios := make([]float64, len(of))
	for i := range of {
		ratios[i] = of[i] / beside[i]
	}
	return Median(ratios)
}
