package serveload

import (
	"context"
	"encoding/json"
	"errors"

	"fmt"
	"math"
	"os"
	"sync"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/spf13/pflag"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/topics"
)

// load sends requests to a server whose feature set and model change.
type load struct {
	rate        float64
	duration    time.Duration
	swap        time.Duration
	connections int
}

func (l *load) flags(f *pflag.FlagSet) {
	f.Float64Var(&l.rate, "rate", 500, "requests per second")
	f.DurationVar(&l.duration, "duration", 5*time.Minute, "duration of the load")
	f.DurationVar(&l.swap, "swap", 10*time.Second,
		"interval between two feature sets; each model follows half an interval later")
	f.IntVar(&l.connections, "connections", 8, "connections")
}

// known is the number of distinct pairs. They are published in turn, each time with a higher
// sequence number.
const known = 4

func (l *load) run(ctx context.Context) error {
	pairs, err := makePairs(ctx, known)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "serveload")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	broker, err := embedded.Start(embedded.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = broker.Close() }()
	p, err := newPublisher(ctx, broker.Addrs(), pairs)
	if err != nil {
		return err
	}
	defer func() { _ = p.client.Close() }()
	if err := errors.Join(p.publishSet(ctx), p.publishModel(ctx)); err != nil {
		return err
	}
	path, err := build(ctx, dir)
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	program, err := start(ctx, "/v2/health/ready", address, path, "serve", "--set", "serve.listen="+address, "--set",
		"admin.listen=",
		"--set", "kafka.brokers="+broker.Addrs()[0], "--set", "serve.drain_delay=0s", "--set", "log.level=warn")
	if err != nil {
		return err
	}
	err = l.ask(ctx, p, program.address)
	return errors.Join(err, program.stop())
}

// ask sends requests while pairs are being published.
func (l *load) ask(ctx context.Context, p *publisher, address string) error {
	right, err := newOracle(p.pairs)
	if err != nil {
		return err
	}
	publishing, stop := context.WithCancel(ctx)
	published := make(chan error, 1)
	go func() { published <- p.run(publishing, l.swap) }()
	asking := pace{
		address:     address,
		connections: l.connections,
		rate:        l.rate,
		duration:    l.duration,
		requests:    right.requests,
		check:       right.check,
	}
	took, err := asking.run(ctx)
	stop()
	if err := errors.Join(err, <-published); err != nil {
		return err
	}
	fmt.Printf("%d requests in %v, none failed; %d pairs were published, answers name %d of %d; p50 %s, p99 %s, "+
		"p99.9 %s\n",
		len(took), l.duration, p.sequence, len(right.seen), known,
		micros(took.quantile(0.5)), micros(took.quantile(0.99)), micros(took.quantile(0.999)))
	// the last pair may have come too late for any request
	if want := min(int(p.sequence)-1, known); len(right.seen) < want {
		return fmt.Errorf("answers came from %d pairs, want at least %d", len(right.seen), want)
	}
	return nil
}

// publisher publishes pairs like the pipeline: the set and its pointer, and later the model and its
// pointer.
type publisher struct {
	client   *kafka.Client
	settings stages.Settings
	pairs    []*featurize.Pair
	sequence int64
}

func newPublisher(ctx context.Context, brokers []string, pairs []*featurize.Pair) (*publisher, error) {
	config := kafka.DefaultConfig()
	config.Brokers = brokers
	client, err := kafka.New(config, zap.NewNop())
	if err != nil {
		return nil, err
	}
	p := &publisher{client: client, settings: stages.Default(), pairs: pairs, sequence: 0}
	p.settings.Topics.Partitions = 1
	_, err = topics.Create(ctx, client, p.settings.Topics)
	return p, err
}

// run publishes a pair every interval until ctx ends.
func (p *publisher) run(ctx context.Context, interval time.Duration) error {
	half := time.NewTicker(interval / 2)
	defer half.Stop()
	for model := true; ; model = !model {
		select {
		case <-ctx.Done():
			return nil
		case <-half.C:
		}
		publish := p.publishSet
		if !model {
			publish = p.publishModel
		}
		if err := publish(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// publishSet publishes the next set.
func (p *publisher) publishSet(ctx context.Context) error {
	p.sequence++
	set := p.pairs[p.sequence%known].Set
	value, err := wire.EncodeFeatureSet(set)
	if err != nil {
		return err
	}
	return p.write(ctx, p.settings.Topics.FeatureSets, set.ID(), value)
}

// publishModel publishes the model trained on the newest set.
func (p *publisher) publishModel(ctx context.Context) error {
	model := p.pairs[p.sequence%known].Model
	value, err := wire.EncodeModel(model)
	if err != nil {
		return err
	}
	return p.write(ctx, p.settings.Topics.Models, model.ID, value)
}

func (p *publisher) write(ctx context.Context, topic, id string, value []byte) error {
	now := time.Now()
	pointer, err := wire.EncodeCurrent(&wire.Current{ID: id, Sequence: p.sequence, Time: now})
	if err != nil {
		return err
	}
	name := p.settings.Pipeline.Name
	_, err = p.client.Produce(ctx, topic, 0, []pipeline.Record{
		{Key: wire.SetKey(name, id), Value: value, Time: now}, {Key: wire.CurrentKey(name), Value: pointer, Time: now},
	})
	return err
}

// oracle holds the expected answers. It is safe for concurrent use.
type oracle struct {
	requests []request
	rows     []arrow.Record           // rows of each request
	probable []map[string][][]float32 // expected answers to each request, by feature set and model

	mu   sync.Mutex
	seen map[string]bool
}

// newOracle makes the requests and computes the expected answers.
func newOracle(pairs []*featurize.Pair) (*oracle, error) {
	j := &oracle{seen: map[string]bool{}}
	for i, n := range []int{1, 1, 1, 40, 3} {
		rows := rowsOf(n + i)
		j.rows = append(j.rows, rows)
		r, err := requestOf(i, rows)
		if err != nil {
			return nil, err
		}
		j.requests = append(j.requests, r)
		right := map[string][][]float32{}
		for _, pair := range pairs {
			made, err := pair.NewMapper().Map([]arrow.Record{rows}, false, func() error { return nil })
			if err != nil {
				return nil, err
			}
			var lists [][]float32
			for row := range made.Row {
				lists = append(lists, made.Probabilities[2*row:2*row+2])
			}
			right[pair.SetID()+" "+pair.ModelID()] = lists
		}
		j.probable = append(j.probable, right)
	}
	return j, nil
}

// requestOf makes a request: number 2 in Arrow, number 4 in tensors, the others in JSON.
func requestOf(number int, rows arrow.Record) (request, error) {
	switch number {
	case 2:
		stream, err := arrowRows(rows)
		return newRequest("/v1/predict", "application/vnd.apache.arrow.stream\r\nAccept: application/json", stream), err
	case 4:
		return newRequest("/v2/models/default/infer", "application/json", tensorRows(rows)), nil
	}
	return newRequest("/v1/predict", "application/json", jsonRows(rows)), nil
}

// answer decodes both kinds of answers.
type answer struct {
	FeatureSet    string      `json:"feature_set"`
	Model         string      `json:"model"`
	Probabilities [][]float32 `json:"probabilities"`

	ModelVersion string `json:"model_version"`
	Parameters   struct {
		FeatureSet string `json:"feature_set"`
	} `json:"parameters"`
	Outputs []struct {
		Name string          `json:"name"`
		Data json.RawMessage `json:"data"`
	} `json:"outputs"`
}

// check compares an answer with the expected one of the pair that it names.
func (j *oracle) check(which, status int, body []byte) error {
	if err := isOK(which, status, body); err != nil {
		return err
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return err
	}
	if a.ModelVersion != "" {
		a.FeatureSet, a.Model = a.Parameters.FeatureSet, a.ModelVersion
		for _, o := range a.Outputs {
			if o.Name != wire.ColumnProbabilities {
				continue
			}
			var flat []float32
			if err := json.Unmarshal(o.Data, &flat); err != nil {
				return err
			}
			for i := 0; i+1 < len(flat); i += 2 {
				a.Probabilities = append(a.Probabilities, flat[i:i+2])
			}
		}
	}
	right, ok := j.probable[which][a.FeatureSet+" "+a.Model]
	if !ok {
		return fmt.Errorf("answer from feature set %s and model %s, which are not a pair", a.FeatureSet, a.Model)
	}
	if len(right) != len(a.Probabilities) {
		return fmt.Errorf("%d serving rows, not %d", len(a.Probabilities), len(right))
	}
	for row := range right {
		for class, p := range right[row] {
			if got := a.Probabilities[row][class]; math.Float32bits(got) != math.Float32bits(p) {
				return fmt.Errorf("row %d: probability %v of class %d, model %s gives %v", row, got, class, a.Model, p)
			}
		}
	}
	j.mu.Lock()
	j.seen[a.Model] = true
	j.mu.Unlock()
	return nil
}
