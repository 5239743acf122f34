package pressure

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

// Twelve messages of 1 KB, which zstd expands to 8.3 MB of unusable rows, keep a featurizer with
// the default settings within the bound of `config check`.
func TestTwelveSmallMessagesStayWithinTheStatedBound(t *testing.T) {
	if os.Getenv(partitionsEnv) == "" {
		t.Skip("takes half a minute: ", partitionsEnv)
	}
	const partitions = 4
	s := newSite(
		t,
		fmt.Sprintf(
			"kafka: {brokers: [BROKERS]}\ntopics: {partitions: %d}\nexploration: {min_rows: 100, criterion: correlation}\n",
			partitions,
		),
	)
	good := pipeline.Record{Value: event(t, 200, 2)}
	bad := pipeline.Record{
		Value: message(t, named(2)[1:], 1_040_000, func(int, int) float32 { return float32(math.Inf(1)) }),
	}
	client := s.compressing(kafka.CompressionZstd)
	for p := range partitions {
		s.write(client, p, good)
	}
	s.explore()
	for p := range partitions {
		s.write(client, p, bad, bad, bad, good)
	}
	limit := s.stated("featurize")
	featurizer := s.stages("featurize", served(limit)...)
	s.await("every partition is at its end", s.atEnds(partitions), featurizer)
	s.within("featurizing after twelve messages", featurizer, limit)
	featurizer.Stop(t).Want(t, cli.ExitOK)
}

// Messages of 252 schemas with 3,000 columns, which exceed the memory of all plans, keep scoring
// and featurizing within the bound of `config check`. The test also logs the time for messages
// whose schema has to be recompiled.
func TestManySchemasStayWithinTheStatedBound(t *testing.T) {
	if os.Getenv(partitionsEnv) == "" {
		t.Skip("takes minutes: ", partitionsEnv)
	}
	const schemas, partitions, rounds = 252, 4, 4
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var id int
		if _, err := fmt.Sscanf(r.URL.Path, "/schemas/ids/%d", &id); err != nil {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"schema": wideSchema(id), "schemaType": "AVRO"})
	}))
	defer registry.Close()
	s := newSite(
		t,
		fmt.Sprintf(
			"kafka: {brokers: [BROKERS]}\ntopics: {partitions: %d}\nregistry: {url: [%q]}\n",
			partitions,
			registry.URL,
		)+
			"exploration: {min_rows: 100, features: 16, candidates: 64, criterion: correlation, calibration_rows: 100, sample_rate: 1}\n",
	)
	client := s.compressing(kafka.CompressionZstd)
	for i := range rounds * schemas {
		s.write(client, i%partitions, wideRow(i%schemas+1, float64(i)))
	}
	const planning, working = "calibrate,selection", "subsample,featurize"
	limits := map[string]int64{planning: s.stated(planning), working: s.stated(working)}
	began := time.Now()
	planner := s.stages(planning, append(served(limits[planning]), "events.features=x")...)
	worker := s.stages(working, append(served(limits[working]), "events.features=x")...)
	s.await("a feature set", s.hasSet, worker, planner)
	explored := time.Now()
	s.within("planning and selecting with 252 schemas", planner, limits[planning])
	s.await("every partition is at its end", s.atEnds(partitions), worker, planner)
	t.Logf("%d messages explored in %v, featurized in %v", schemas*rounds, explored.Sub(began), time.Since(explored))
	s.within("scoring and featurizing with 252 schemas", worker, limits[working])
	worker.Stop(t).Want(t, cli.ExitOK)
	planner.Stop(t).Want(t, cli.ExitOK)
}

// atEnds reports whether features contains the last event of every partition.
func (s *site) atEnds(partitions int) func() bool {
	return func() bool {
		for p := range partitions {
			if !s.atEnd(p) {
				return false
			}
		}
		return true
	}
}

// compressing returns a client that compresses its batches.
func (s *site) compressing(c kafka.Compression) *kafka.Client {
	s.t.Helper()
	client, err := kafka.New(kafka.Config{Brokers: s.cluster.ListenAddrs(), Compression: c}, zap.NewNop())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}

// write writes records to a partition of events, each in its own batch.
func (s *site) write(client *kafka.Client, partition int, records ...pipeline.Record) {
	s.t.Helper()
	for _, r := range records {
		if _, err := client.Produce(s.t.Context(), "pressure.events", partition, []pipeline.Record{r}); err != nil {
			s.t.Fatal(err)
		}
	}
}

const wideColumns = 3000

// wideSchema is an Avro schema whose column names no other schema has.
func wideSchema(id int) string {
	var b strings.Builder
	b.WriteString(
		`{"type": "record", "name": "E", "fields": [{"name": "x", "type": "double"}, {"name": "y", "type": "double"}`,
	)
	for i := range wideColumns {
		fmt.Fprintf(&b, `, {"name": "c%d_%d", "type": ["null", "int"]}`, id, i)
	}
	return b.String() + `]}`
}

// wideRow is a message of wideSchema.
func wideRow(id int, n float64) pipeline.Record {
	x := math.Mod(n, 97) / 10
	value := binary.BigEndian.AppendUint32([]byte{0}, uint32(id))
	for _, v := range []float64{x, math.Cos(x)} {
		value = binary.LittleEndian.AppendUint64(value, math.Float64bits(v))
	}
	return pipeline.Record{Value: append(value, make([]byte, wideColumns)...)}
}
