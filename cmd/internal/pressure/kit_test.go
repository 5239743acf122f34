package pressure

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

// site is a pipeline on a broker whose produce requests the test can delay.
type site struct {
	t       *testing.T
	cluster *kfake.Cluster
	client  *kafka.Client
	config  string
	sent    [2]int64 // rows written to the partitions of events
	refused [2]int64 // offset of a partition's unusable message; -1 = none
}

// newSite starts a broker and makes the topics. settings are sections of the configuration.
func newSite(t *testing.T, settings string) *site {
	t.Helper()
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.DataDir(t.TempDir()),
		kfake.GroupMinSessionTimeout(100*time.Millisecond),
		kfake.BrokerConfigs(
			map[string]string{"log.retention.bytes": fmt.Sprint(512 << 20), "log.segment.bytes": fmt.Sprint(64 << 20)},
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	client, err := kafka.New(kafka.Config{Brokers: cluster.ListenAddrs()}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	s := &site{t: t, cluster: cluster, client: client, refused: [2]int64{-1, -1}}
	s.config = clitest.File(t, "eerf.yaml", fmt.Sprintf(`
pipeline: {name: pressure}
events: {label: [y]}
admin: {listen: ""}
%s`, strings.ReplaceAll(settings, "BROKERS", fmt.Sprintf("%q", cluster.ListenAddrs()[0]))))
	s.run("topics", "create").Want(t, cli.ExitOK)
	return s
}

// run runs a command of featurizer to its end.
func (s *site) run(args ...string) clitest.Result {
	s.t.Helper()
	return clitest.Finish(s.t, clitest.Command(s.t, "featurizer", append(args, "-c", s.config)...))
}

// stages starts `featurizer run` for some stages.
func (s *site) stages(names string, sets ...string) *clitest.Process {
	s.t.Helper()
	args := []string{"run", "--json", "--stages", names, "-c", s.config}
	for _, set := range sets {
		args = append(args, "--set", set)
	}
	return clitest.Start(s.t, clitest.Command(s.t, "featurizer", args...))
}

// explore runs an exploration to its end.
func (s *site) explore() {
	s.t.Helper()
	service := s.stages("calibrate,subsample,selection", "memory.limit=0")
	s.await("a feature set", s.hasSet, service)
	service.Stop(s.t).Want(s.t, cli.ExitOK)
}

// hasSet reports whether a feature set and its pointer exist.
func (s *site) hasSet() bool { return s.next("pressure.feature-sets", 0) >= 2 }

// await waits while records arrive on any topic, because the total time depends on the machine.
func (s *site) await(what string, done func() bool, services ...*clitest.Process) {
	s.t.Helper()
	moved, records := time.Now(), s.records()
	for !done() {
		for _, service := range services {
			select {
			case <-service.Ended():
				s.t.Fatalf("service ended early\n%s", service.Log())
			default:
			}
		}
		if now := s.records(); now != records {
			moved, records = time.Now(), now
		}
		if time.Since(moved) > clitest.Patience {
			s.t.Fatalf("%s: no progress\n%s", what, services[0].Log())
		}
		<-time.After(20 * time.Millisecond)
	}
}

// records counts the records on the topics that the stages write.
func (s *site) records() (n int64) {
	for _, topic := range []string{
		"pressure.explorations",
		"pressure.scores",
		"pressure.samples",
		"pressure.feature-sets",
		"pressure.features",
		"pressure.models",
		"pressure.dead-letters",
	} {
		for partition := range int32(2) {
			n += s.next(topic, partition)
		}
	}
	return n
}

// next is the next offset of a partition.
func (s *site) next(topic string, partition int32) int64 {
	info := s.cluster.PartitionInfo(topic, partition)
	if info == nil {
		return 0
	}
	return info.HighWatermark
}

// send writes messages with the same rows of numbers to both partitions of events in turn.
func (s *site) send(messages, rows, columns int) {
	s.t.Helper()
	value := event(s.t, rows, columns)
	for i := range messages {
		if _, err := s.client.Produce(s.t.Context(), "pressure.events", i%2, []pipeline.Record{{Value: value}}); err != nil {
			s.t.Fatal(err)
		}
		s.sent[i%2] += int64(rows)
	}
}

// poison writes an unusable message to both partitions of events.
func (s *site) poison() {
	s.t.Helper()
	for p := range s.refused {
		at, err := s.client.Produce(s.t.Context(), "pressure.events", p, []pipeline.Record{{Value: []byte("poison")}})
		if err != nil {
			s.t.Fatal(err)
		}
		s.refused[p] = at
	}
}

// event is a message of rows whose label depends on the first number.
func event(t *testing.T, rows, columns int) []byte {
	return message(t, named(columns), rows, func(i, j int) float32 {
		x := float32(i*7919%1000) / 500
		if j == 0 {
			return x*x - x
		}
		return x + float32(i*(j+2)%97)/50
	})
}

// named returns the names of the label and of the given number of columns.
func named(columns int) []string {
	names := []string{"y"}
	for j := range columns {
		names = append(names, fmt.Sprintf("x%03d", j))
	}
	return names
}

// message is a message of rows of numbers; NaN is null.
func message(t *testing.T, names []string, rows int, value func(i, j int) float32) []byte {
	t.Helper()
	var fields []arrow.Field
	for _, name := range names {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float32, Nullable: true})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for j := range names {
		column := b.Field(j).(*array.Float32Builder)
		for i := range rows {
			if v := value(i, j); v == v {
				column.Append(v)
			} else {
				column.AppendNull()
			}
		}
	}
	rec := b.NewRecord()
	defer rec.Release()
	text, err := arrowio.EncodeStream(rec.Schema(), rec)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// hold calls wait for every produce request to a topic before the broker handles it. wait may
// block.
func (s *site) hold(topic string, wait func()) {
	s.cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		s.cluster.KeepControl()
		for _, to := range request.(*kmsg.ProduceRequest).Topics {
			if to.Topic == topic {
				s.cluster.SleepControl(wait)
			}
		}
		return nil, nil, false
	})
}

// featurized reads features and returns the rows of each partition of events, counting repeated
// rows once, as every reader must.
func (s *site) featurized() (rows [2]int64) {
	s.t.Helper()
	for p := range rows {
		var next [2]int64 // offset and row of events
		for at, end := int64(0), s.next("pressure.features", int32(p)); at < end; {
			fetched, err := s.client.Fetch(s.t.Context(), "pressure.features", p, at)
			if err != nil {
				s.t.Fatal(err)
			}
			for _, rec := range fetched.Records {
				part, err := wire.ParseFeatureHeaders(wireHeaders(rec))
				if err != nil {
					s.t.Fatal(err)
				}
				if next == [2]int64{s.refused[p], 0} {
					next[0]++
				}
				if part.SourceOffset < next[0] || part.SourceOffset == next[0] && int64(part.FirstRow) < next[1] {
					continue
				}
				if part.SourceOffset != next[0] || int64(part.FirstRow) != next[1] {
					s.t.Fatalf("partition %d: offset %d row %d, want offset %d row %d next",
						p, part.SourceOffset, part.FirstRow, next[0], next[1])
				}
				rows[p] += int64(part.RowCount)
				next = [2]int64{part.SourceOffset, int64(part.FirstRow + part.RowCount)}
				if part.Last() {
					next = [2]int64{part.SourceOffset + 1, 0}
				}
			}
			at = fetched.NextOffset
			fetched.Release()
		}
	}
	return rows
}

// awaitFeatures waits until every row sent is featurized.
func (s *site) awaitFeatures(service *clitest.Process) {
	s.t.Helper()
	s.await("every row is featurized", func() bool { return s.atEnd(0) && s.atEnd(1) }, service)
	if rows := s.featurized(); rows != s.sent {
		s.t.Fatalf("%v rows are featurized of %v sent", rows, s.sent)
	}
}

// atEnd reports whether the last message of a partition of features belongs to the last event.
func (s *site) atEnd(partition int) bool {
	end := s.next("pressure.features", int32(partition))
	if end == 0 {
		return false
	}
	const markers = 8 // upper limit, from owners that opened writers after the last message
	reader := pipeline.NewReader(s.client, zap.NewNop(), "pressure.features", partition,
		pipeline.ReadOptions{From: max(end-1-markers, 0), Until: end})
	var last []wire.Header
	for rec, err := range reader.Records(s.t.Context()) {
		if err != nil {
			return false
		}
		last = wireHeaders(rec)
	}
	part, err := wire.ParseFeatureHeaders(last)
	return err == nil && part.Last() && part.SourceOffset+1 == s.next("pressure.events", int32(partition))
}

func wireHeaders(rec pipeline.Record) []wire.Header {
	headers := make([]wire.Header, len(rec.Headers))
	for i, h := range rec.Headers {
		headers[i] = wire.Header{Key: h.Key, Value: h.Value}
	}
	return headers
}

// members returns the number of members of a stage's group.
func (s *site) members(stage string) int {
	info := s.cluster.GroupInfo("eerf-pressure-" + stage)
	if info == nil {
		return 0
	}
	return len(info.Members)
}
