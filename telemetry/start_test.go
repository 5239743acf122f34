package telemetry_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
)

// combinations are the labels of the counters in a scrape, by family.
func combinations(m families) map[string][]string {
	found := map[string][]string{}
	for name, metrics := range m {
		if !strings.HasPrefix(name, "eerf_") || metrics[0].kind != "counter" {
			continue
		}
		for _, one := range metrics {
			found[name] = append(found[name], strings.Join(one.labels, " "))
		}
		slices.Sort(found[name])
	}
	return found
}

// A counter exists before it counts: the metrics of a process at its start and after everything has
// happened differ only in their numbers. Columns are unknown at the start.
func TestCountersAreThereFromTheStart(t *testing.T) {
	b := newBench(t)
	p := b.run(nil, stages.Names()...)
	first := combinations(p.until("the groups", func(m families) bool {
		n, _ := sum(m, "eerf_group_joined")
		return n == float64(len(stages.Names()))
	}))
	for name, series := range first {
		if total, _ := sum(p.scrape(), name); total > 0 && strings.HasPrefix(name, "eerf_dead_letters") {
			t.Errorf("%s: %v in %d series before anything came", name, total, len(series))
		}
	}
	b.fill(20)
	for _, value := range []string{"no Arrow", "\xff\xff\xff\xff\xff\xff\xff\x7fno stream"} {
		b.send(0, pipeline.Record{Value: []byte(value)})
	}
	if _, err := b.broker.Produce(b.ctx, b.settings.Topics.Features, 0, []pipeline.Record{
		{Value: []byte("no features")},
	}); err != nil {
		t.Fatal(err)
	}
	p.until("everything is trained on", func(m families) bool { n, _ := sum(m, "eerf_model_info"); return n > 0 })
	p.until("dead letters of subsample or featurize", func(m families) bool {
		n, _ := sum(m, "eerf_dead_letters_total", "stage=featurize")
		return n >= 2
	})
	m := p.until(
		"dead letters of train",
		func(m families) bool { n, _ := sum(m, "eerf_dead_letters_total", "stage=train"); return n > 0 },
	)
	last := combinations(m)
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if !slices.Equal(first[name], last[name]) && !strings.HasPrefix(name, "eerf_column_") {
			t.Errorf(
				"%s: labels are now\n%s\nand were at the start\n%s",
				name,
				strings.Join(last[name], "\n"),
				strings.Join(first[name], "\n"),
			)
		}
	}
}
