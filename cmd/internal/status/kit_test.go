package status

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/eerf-stream/eerf/cmd/internal/admin"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/demo"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/topics"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site is a process with all stages, its page, and a broker.
type site struct {
	t       testing.TB
	broker  *stagestest.Broker
	service cli.Service
	url     string
	sent    int64
}

// siteOptions configures a site.
type siteOptions struct {
	configure func(*config.Config)
	stages    []meter.Stage // nil = all
	noTopics  bool
}

// newSite starts a pipeline on an embedded broker, without events, until the end of the test.
func newSite(t testing.TB, o siteOptions) *site {
	t.Helper()
	s := &site{t: t, broker: stagestest.NewBroker(t)}
	loaded := siteConfig(s.broker.Addr())
	if o.configure != nil {
		o.configure(loaded)
	}
	if err := loaded.Validate(); err != nil {
		t.Fatal(err)
	}
	if o.stages == nil {
		o.stages = stages.Names()
	}
	s.start(loaded, o)
	return s
}

func siteConfig(broker string) *config.Config {
	c := config.Default()
	c.Kafka.Brokers = []string{broker}
	c.Kafka.FetchMaxWait = 20 * time.Millisecond
	c.Kafka.RequestTimeout = 20 * time.Second
	c.Stages.Topics.Partitions = 2
	c.Stages.Events.Label = []string{demo.SyntheticLabel}
	e := &c.Stages.Exploration
	e.Criterion = scoring.Residual
	e.Features = 24
	e.Candidates = 480
	e.SampleRate = 1
	e.SampleRows = 4000
	e.CalibrationRows = 400
	c.Stages.Subsample.CheckpointInterval, c.Stages.Featurize.CommitInterval = 200*time.Millisecond, 200*time.Millisecond
	c.Stages.Train.Interval = time.Second
	return c
}

func (s *site) start(loaded *config.Config, o siteOptions) {
	s.t.Helper()
	logger := zap.NewNop()
	if testing.Verbose() {
		logger = zaptest.NewLogger(s.t, zaptest.Level(zap.InfoLevel))
	}
	client, err := kafka.New(loaded.Kafka, logger)
	if err != nil {
		s.t.Fatal(err)
	}
	runtime := stages.NewProcess(pipeline.Observe(client), loaded.Stages, logger)
	if !o.noTopics {
		if _, err := topics.Create(s.t.Context(), runtime.Env.Broker, loaded.Stages.Topics); err != nil {
			s.t.Fatal(err)
		}
	}
	s.service = cli.Service{Process: runtime, Config: loaded, Stages: o.stages, Build: cli.BuildOf("featurizer")}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := runtime.Run(ctx, o.stages...); err != nil && ctx.Err() == nil {
			s.t.Error(err)
		}
	})
	var end func()
	server, err := admin.Start(admin.Options{
		Listen: "127.0.0.1:0", Logger: logger, Ready: s.service.Conditions, Metrics: http.NotFoundHandler(),
		Mount: func(mux *http.ServeMux) { end = Mount(mux, s.service) },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.url = "http://" + server.Addr()
	s.t.Cleanup(func() {
		stop()
		running.Wait()
		server.Close()
		if end != nil {
			end()
		}
		if err := client.Close(); err != nil {
			s.t.Error(err)
		}
	})
}

// produce writes generated rows to events.
func (s *site) produce(rows int64) {
	s.t.Helper()
	if err := s.tryProduce(s.t.Context(), rows); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) tryProduce(ctx context.Context, rows int64) error {
	producer, err := events.NewProducer(ctx, s.service.Process.Env.Broker, s.service.Process.Settings.Topics.Events, 64)
	if err != nil {
		return err
	}
	s.sent++
	return send(ctx, producer, demo.Generate(uint64(s.sent), rows))
}

// send writes all rows of a reader.
func send(ctx context.Context, producer *events.Producer, reader events.RowReader) error {
	for {
		batch, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return producer.Flush(ctx)
		}
		if err != nil {
			return err
		}
		err = producer.Add(ctx, batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
}

// poison writes a message that no stage can use.
func (s *site) poison(value string) {
	s.t.Helper()
	record := pipeline.Record{Value: []byte(value), Time: time.Now()}
	if _, err := s.service.Process.Env.Broker.Produce(s.t.Context(), s.service.Process.Settings.Topics.Events, 0,
		[]pipeline.Record{record}); err != nil {
		s.t.Fatal(err)
	}
}

// client closes its connections after each answer.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// answered is the result of a request.
type answered struct {
	code   int
	header http.Header
	body   string
}

// get asks for a path.
func (s *site) get(path string) answered {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.do(request)
}

func (s *site) do(request *http.Request) answered {
	s.t.Helper()
	response, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answered{response.StatusCode, response.Header, string(body)}
}
