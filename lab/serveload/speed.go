package serveload

import (
	"cmp"
	"context"
	"errors"

	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// speed measures the response times of a server.
type speed struct {
	rate        float64
	duration    time.Duration
	rounds      int
	connections int
	least       float64
	python      string // with fastapi, uvicorn and scikit-learn; empty = no peer
}

func (s *speed) flags(f *pflag.FlagSet) {
	f.Float64Var(&s.rate, "rate", 2000, "requests per second at which predictions are compared with empty answers")
	f.DurationVar(&s.duration, "duration", 5*time.Second, "duration of each measurement")
	f.IntVar(&s.rounds, "rounds", 5, "measurements of each kind; the medians are printed")
	f.IntVar(&s.connections, "connections", 4, "connections")
	f.Float64Var(&s.least, "least", 250, "requests per second at which the search for a p99 of one millisecond begins")
	f.StringVar(&s.python, "python", "", "a Python with fastapi, uvicorn and scikit-learn, to measure these as well")
}

// run prints tables in Markdown to standard output, and each measurement to standard error.
func (s *speed) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "serveload")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	one := rowsOf(1)
	defer one.Release()
	row := jsonRows(one)
	fmt.Printf("One row of %d columns to %d features, %d bytes of JSON; %d connections, medians of %d rounds of %v\n\n",
		columns, features, len(row), s.connections, s.rounds, s.duration)
	server, err := s.start(ctx, dir)
	if err != nil {
		return err
	}
	predict := newRequest("/v1/predict", "application/json", row)
	var found []*search
	err = s.compare(ctx, server, predict)
	if err == nil {
		found, err = s.find(ctx, found, "featurizer serve", server, predict)
	}
	fmt.Printf("The server took at most %d MB of resident memory.\n\n", server.peak()/1e6)
	if err = errors.Join(err, server.stop()); err != nil {
		return err
	}
	if s.python != "" {
		peer, err := s.startPeer(ctx, dir)
		if err != nil {
			return err
		}
		found, err = s.find(ctx, found, "scikit-learn behind FastAPI", peer, predict)
		if err = errors.Join(err, peer.stop()); err != nil {
			return err
		}
	}
	printSearches(found)
	return nil
}

// start starts a server with a model from a file.
func (s *speed) start(ctx context.Context, dir string) (*program, error) {
	pairs, err := makePairs(ctx, 1)
	if err != nil {
		return nil, err
	}
	model, err := wire.EncodeModelFile(pairs[0].Model, pairs[0].Set)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "model.arrow")
	if err := files.WriteWhole(file, model); err != nil {
		return nil, err
	}
	path, err := build(ctx, dir)
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return start(ctx, "/v2/health/ready", address, path, "serve", "--model", file, "--set", "serve.listen="+address,
		"--set", "admin.listen=", "--set", "serve.drain_delay=0s", "--set", "log.level=error")
}

// figures are the results of one measurement.
type figures struct {
	p50, p99, p999 time.Duration
	processor      time.Duration // processor time of the server per request
	answered       float64       // requests per second
}

// measure measures a server at a rate.
func (s *speed) measure(ctx context.Context, name string, server *program, r request, rate float64) (figures, error) {
	p := pace{
		address:     server.address,
		connections: s.connections,
		rate:        rate,
		duration:    s.duration,
		requests:    []request{r},
		check:       isOK,
	}
	begin, before := time.Now(), server.cpu()
	took, err := p.run(ctx)
	if err != nil {
		return figures{}, fmt.Errorf("%s at %.0f requests a second: %w", name, rate, err)
	}
	f := figures{
		p50: took.quantile(0.5), p99: took.quantile(0.99), p999: took.quantile(0.999),
		processor: (server.cpu() - before) / time.Duration(len(took)),
		answered:  float64(len(took)) / (time.Since(begin) - lead).Seconds(),
	}
	fmt.Fprintf(os.Stderr, "%s at %.0f requests a second: %.0f answered a second, p50 %s, p99 %s, p99.9 %s, "+
		"processor time of the server %s\n",
		name, rate, f.answered, micros(f.p50), micros(f.p99), micros(f.p999), micros(f.processor))
	return f, nil
}

// compare prints the response times of empty answers and of predictions, measured alternately.
func (s *speed) compare(ctx context.Context, server *program, predict request) error {
	kinds := []struct {
		name string
		request
		all []figures
	}{{name: "an empty answer", request: newRequest("/v2/health/live", "", nil)}, {name: "a prediction", request: predict}}
	for round := -1; round < s.rounds; round++ { // the first round is a warm-up
		for i := range kinds {
			f, err := s.measure(ctx, kinds[i].name, server, kinds[i].request, s.rate)
			if err != nil {
				return err
			}
			if round >= 0 {
				kinds[i].all = append(kinds[i].all, f)
			}
		}
	}
	fmt.Printf("| %.0f requests a second | p50, µs | p99, µs | p99.9, µs | processor time of the server, µs |\n| --- "+
		"| --- | --- | --- | --- |\n", s.rate)
	for _, kind := range kinds {
		f := medians(kind.all)
		fmt.Printf("| %s | %d | %d | %d | %d |\n", kind.name, f.p50.Microseconds(), f.p99.Microseconds(),
			f.p999.Microseconds(), f.processor.Microseconds())
	}
	var beyond []time.Duration
	for i := range s.rounds {
		beyond = append(beyond, kinds[1].all[i].p99-kinds[0].all[i].p99)
	}
	slices.Sort(beyond)
	fmt.Printf("\nThe p99 of a prediction is %d µs above that of an empty answer (median of the rounds; least %d, "+
		"most %d).\n\n",
		median(beyond).Microseconds(), beyond[0].Microseconds(), beyond[len(beyond)-1].Microseconds())
	return nil
}

// medians returns the median of each figure.
func medians(all []figures) figures {
	return figures{
		p50: medianOf(all, func(f figures) time.Duration { return f.p50 }), p99: medianOf(all, func(f figures) time.Duration {
			return f.p99
		}),
		p999:      medianOf(all, func(f figures) time.Duration { return f.p999 }),
		processor: medianOf(all, func(f figures) time.Duration { return f.processor }),
		answered:  medianOf(all, func(f figures) float64 { return f.answered }),
	}
}

func medianOf[T cmp.Ordered](all []figures, of func(figures) T) T {
	values := make([]T, len(all))
	for i, f := range all {
		values[i] = of(f)
	}
	return median(values)
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
