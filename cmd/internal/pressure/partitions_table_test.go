package pressure

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/pipeline"
)

// tableEnv gives the numbers of partitions for the table of TestPartitionsTable, such as 10,100,1000.
const tableEnv = "EERF_TEST_PARTITIONS_TABLE"

// The cost of more partitions for the same rows: a table for docs/internals/performance.md. The broker is in the test's process.
func TestPartitionsTable(t *testing.T) {
	list := os.Getenv(tableEnv)
	if list == "" {
		t.Skip("measures for minutes: ", tableEnv)
	}
	table := "| partitions | plan, s | first set, s | featurizing, rows/s | resident, MB | worst case, MB | sockets | a rebalance reads, KB |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n"
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
	s := newSite(t, fmt.Sprintf("kafka: {brokers: [BROKERS]}\ntopics: {partitions: %d}\nexploration: {features: 100, criterion: correlation}\n", partitions))
	value := event(t, rows, 10)
	for i := range messages {
		if _, err := s.client.Produce(t.Context(), "pressure.events", i%partitions, []pipeline.Record{{Value: value}}); err != nil {
			t.Fatal(err)
		}
	}
	begun := time.Now()
	first := s.stages("calibrate,subsample,select,featurize", "admin.listen=127.0.0.1:0")
	s.await("a plan", func() bool { return s.next("pressure.explorations", 0) >= 1 }, first)
	planned := time.Since(begun)
	s.await("a feature set", s.hasSet, first)
	selected := time.Since(begun)
	s.await("every row is featurized", func() bool { return s.written("pressure.features", partitions) >= messages }, first)
	featurized := time.Since(begun) - selected
	resident, worst, open := peak(t, first.PID()), gauge(t, first, "eerf_memory_worst_case_bytes"), sockets(t, first.PID())

	before := bytesRead(t, first.PID())
	second := s.stages("featurize")
	s.await("a rebalance", func() bool { return s.members("featurize") == 2 }, first)
	second.LogLine(t, "featurizing")
	read := bytesRead(t, first.PID()) + bytesRead(t, second.PID()) - before
	second.Stop(t).Want(t, cli.ExitOK)
	first.Stop(t).Want(t, cli.ExitOK)
	return fmt.Sprintf("| %d | %.1f | %.1f | %s | %d | %.0f | %d | %d |\n", partitions, planned.Seconds(), selected.Seconds(),
		cli.Thousands(messages*rows/featurized.Seconds()), resident/1_000_000, worst/1e6, open, read/1000)
}

// written is how many records a topic has.
func (s *site) written(topic string, partitions int) (n int64) {
	for p := range partitions {
		n += s.next(topic, int32(p))
	}
	return n
}

// sockets is how many connections a process has.
func sockets(t *testing.T, pid int) (n int) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if to, err := os.Readlink(file); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// bytesRead is how many bytes a process has read from files and connections.
func bytesRead(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		t.Skip("the kernel does not say:", err)
	}
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte("rchar: ")); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("no rchar")
	return 0
}
