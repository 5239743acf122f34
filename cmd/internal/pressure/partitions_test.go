package pressure

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

// partitionsEnv gives the numbers of partitions for TestPartitionsStayWithinTheStatedBound, such as
// 24,200,1000.
const partitionsEnv = "EERF_TEST_PARTITIONS"

// many is a configuration with small budgets, so that the stated bound is close to the memory
// taken.
const many = `
kafka: {brokers: [BROKERS], fetch_max_wait: 100ms, fetch_max_bytes: 1MiB, batch_budget_bytes: 4MiB, fetch_memory: 20MiB, session_timeout: 10s}
topics: {partitions: PARTITIONS, max_message_bytes: 1MiB}
limits: {max_message_bytes: 1MiB, budget_bytes: 4MiB}
memory: {messages: 3}
exploration: {features: 64, candidates: 512, criterion: correlation, calibration_rows: 500, candidate_memory: 16MiB, min_rows: 100}
featurize: {output_memory: 16MiB}
`

// The memory of a process stays within the bound of `config check` for any number of partitions and
// any contents: batches that decompress to a thousand times their size, rows of nulls, records with
// headers alone.
func TestPartitionsStayWithinTheStatedBound(t *testing.T) {
	counts := []int{24}
	if list := os.Getenv(partitionsEnv); list != "" {
		counts = nil
		for _, one := range strings.Split(list, ",") {
			n, err := strconv.Atoi(one)
			if err != nil {
				t.Fatal(err)
			}
			counts = append(counts, n)
		}
	}
	for _, n := range counts {
		t.Run(fmt.Sprint(n), func(t *testing.T) { boundOf(t, n) })
	}
}

func boundOf(t *testing.T, partitions int) {
	s := newSite(t, strings.ReplaceAll(many, "PARTITIONS", fmt.Sprint(partitions)))
	s.sendHostile(partitions)
	const planning, working = "calibrate,selection", "subsample,featurize"
	limits := map[string]int64{planning: s.stated(planning), working: s.stated(working)}
	planner := s.stages(planning, served(limits[planning])...)
	worker := s.stages(working, served(limits[working])...)
	s.await("a feature set", s.hasSet, worker, planner)
	s.within(fmt.Sprintf("planning and selecting, %d partitions", partitions), planner, limits[planning])
	s.await("every partition is featurized", s.featurizedAll(partitions), worker, planner)
	s.within(fmt.Sprintf("scoring and featurizing, %d partitions", partitions), worker, limits[working])
	worker.Stop(t).Want(t, cli.ExitOK)
	planner.Stop(t).Want(t, cli.ExitOK)
}

// With the defaults, 200 partitions run on one worker for each stage in 2 GiB.
func TestTwoHundredPartitionsRunInTwoGiB(t *testing.T) {
	if os.Getenv(partitionsEnv) == "" {
		t.Skip("takes minutes: ", partitionsEnv)
	}
	const partitions, limit = 200, 2 << 30
	s := newSite(
		t,
		fmt.Sprintf(
			"kafka: {brokers: [BROKERS]}\ntopics: {partitions: %d}\nexploration: {min_rows: 100, features: 100}\n",
			partitions,
		),
	)
	s.sendHostile(partitions)
	var services []*clitest.Process
	for _, names := range []string{"calibrate", "selection", "subsample", "featurize"} {
		services = append(services, s.stages(names, served(limit)...))
	}
	s.await("every partition is featurized", s.featurizedAll(partitions), services...)
	for i, names := range []string{"planning", "selecting", "scoring", "featurizing"} {
		s.within(fmt.Sprintf("%s, %d partitions, defaults", names, partitions), services[i], limit)
		services[i].Stop(t).Want(t, cli.ExitOK)
	}
}

// featurizedAll reports whether features contains the last rows of every partition.
func (s *site) featurizedAll(partitions int) func() bool {
	return func() bool {
		for p := range partitions {
			if s.next("pressure.features", int32(p)) < 2 {
				return false
			}
		}
		return true
	}
}

// stated returns the memory limit, in bytes, whose soft limit equals the bound that `config check`
// states for the stages.
func (s *site) stated(names string) int64 {
	s.t.Helper()
	result := s.run("config", "check", "--json", "--stages", names)
	result.Want(s.t, cli.ExitOK)
	var said struct {
		Memory struct {
			Bytes int64 `json:"bytes"`
		} `json:"memory"`
	}
	if err := json.Unmarshal([]byte(result.Out), &said); err != nil || said.Memory.Bytes == 0 {
		s.t.Fatalf("%v: %s", err, result.Out)
	}
	return said.Memory.Bytes + max(said.Memory.Bytes/9, 32<<20) + 1<<20 // the difference between limit and soft limit
}

// sendHostile writes to each partition messages that take far more memory than their size, between
// good rows.
func (s *site) sendHostile(partitions int) {
	s.t.Helper()
	client := s.compressing(kafka.CompressionZstd)
	good := pipeline.Record{Value: event(s.t, 200, 10)}
	requests := [][]pipeline.Record{
		{good},
		{{Value: make([]byte, 3<<20)}},
		{{Value: make([]byte, 16<<20)}}, // over the budget of a batch
		{{Value: message(s.t, named(10), 4000, func(int, int) float32 { return float32(math.NaN()) })}},
		{{Value: []byte("headers"), Headers: make([]pipeline.Header, 60_000)}},
		{good},
	}
	for p := range partitions {
		for i, records := range requests {
			if _, err := client.Produce(s.t.Context(), "pressure.events", p, records); err != nil {
				s.t.Fatalf("request %d to partition %d: %v", i, p, err)
			}
		}
	}
}
