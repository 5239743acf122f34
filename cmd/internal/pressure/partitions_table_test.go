package pressure

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/pipeline"
)

// tableEnv gives the numbers of partitions for the table of TestPartitionsTable, such as
// 10,100,1000.
const tableEnv = "EERF_TEST_PARTITIONS_TABLE"

// Measures the cost of more partitions for the same rows: a table for
// docs/internals/performance.md. The broker runs in the process of the test.
func TestPartitionsTable(t *testing.T) {
	list := os.Getenv(tableEnv)
	if list == "" {
		t.Skip("takes minutes: ", tableEnv)
	}
	table := "| partitions | first set, s | featurizing, rows/s | resident, MB | worst case, MB |\n| ---: | ---: | ---: | ---: | ---: |\n"
	for _, one := range strings.Split(list, ",") {
		n, err := strconv.Atoi(one)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(one, func(t *testing.T) { table += rowOf(t, n) })
	}
	t.Log("\n" + table)
}

func rowOf(t *testing.T, partitions int) string {
	const messages, rows = 2000, 100
	s := newSite(
		t,
		fmt.Sprintf(
			"kafka: {brokers: [BROKERS]}\ntopics: {partitions: %d}\nexploration: {features: 100, criterion: correlation}\n",
			partitions,
		),
	)
	value := event(t, rows, 10)
	for i := range messages {
		if _, err := s.client.Produce(t.Context(), "pressure.events", i%partitions, []pipeline.Record{
			{Value: value},
		}); err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	first := s.stages("calibrate,subsample,selection,featurize", "admin.listen=127.0.0.1:0")
	s.await("a feature set", s.hasSet, first)
	selected := time.Since(begun)
	s.await(
		"every row is featurized",
		func() bool { return s.written("pressure.features", partitions) >= messages },
		first,
	)
	featurized := time.Since(begun) - selected
	resident, worst := peak(t, first.PID()), gauge(t, first, "eerf_memory_worst_case_bytes")
	first.Stop(t).Want(t, cli.ExitOK)
	return fmt.Sprintf("| %d | %.1f | %s | %d | %.0f |\n", partitions, selected.Seconds(),
		humanize.Comma(int64(messages*rows/featurized.Seconds())), resident/1_000_000, worst/1e6)
}

// written returns the number of records of a topic.
func (s *site) written(topic string, partitions int) (n int64) {
	for p := range partitions {
		n += s.next(topic, int32(p))
	}
	return n
}
