package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/serve"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/train"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rowsOnce reads a record.
type rowsOnce struct{ rec arrow.Record }

func (o *rowsOnce) Next() (arrow.Record, error) {
	rec := o.rec
	o.rec = nil
	if rec == nil {
		return nil, io.EOF
	}
	rec.Retain()
	return rec, nil
}

// fit fits a model of a set to the rows that it was explored on.
func fit(t testing.TB, set *wire.FeatureSet, rows arrow.Record) *wire.Model {
	t.Helper()
	model, _, err := offline.Fit(t.Context(), set, train.Default(), "rows", nil,
		func() (events.RowReader, error) { return &rowsOnce{rows}, nil })
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// pairOf explores generated events of a task and trains on them.
func pairOf(t testing.TB, task string) (*featurize.Pair, arrow.Record) {
	t.Helper()
	rows := stagestest.Events(t, task, 2000, 7, stagestest.Faults{UnseenCategory: 0.05})
	e := explored.Events(task)
	e.NaN, e.MaxCategories = encoder.NaNMissing, 1 // other categories have effects
	set := mixed(explored.FeatureSet(t, e, explored.Exploration(), rows))
	pair, err := featurize.NewPair(set, fit(t, set, rows))
	if err != nil {
		t.Fatal(err)
	}
	return pair, rows
}

// mixed returns a set with ramps, hinges and boxes after the cosines of another.
func mixed(of *wire.FeatureSet) *wire.FeatureSet {
	set := *of
	f := *set.Set.Features
	cosines := f.Len()
	f.Ramps = 2
	f.Omega = append(slices.Clone(f.Omega), f.Omega[:f.Ramps*f.Dim]...)
	f.Phase = append(slices.Clone(f.Phase), 0.25, -0.5)
	thresholds := []float32{-0.125, 0.5, 0}
	for _, box := range []bool{false, true} {
		for j := range f.Dim {
			p := scoring.Product{Box: box, Order: uint8(1 + j%min(f.Dim, scoring.MaxOrder))}
			for a := range int(p.Order) {
				p.Coordinate[a] = uint16((j + a) % f.Dim)
				p.Sign[a] = float32(1 - 2*(j/2%2))
				p.Threshold[a] = thresholds[a]
			}
			f.Products = append(f.Products, p)
		}
	}
	set.Set = scoring.FeatureSet{Features: &f, Scale: set.Set.Scale, Weight: slices.Clone(set.Set.Weight)}
	for i := range f.Len() {
		set.Set.Index = append(set.Set.Index, int32(i))
		if i >= cosines && set.Set.Weight != nil {
			set.Set.Weight = append(set.Set.Weight, 1.5)
		}
	}
	set.Set.Score, set.Set.S = make([]float64, f.Len()), make([]float64, f.Len()*len(set.Coding.Gain))
	set.Candidates.Count = max(set.Candidates.Count, f.Len())
	return &set
}

// testServer is a server in this process without a listener.
type testServer struct {
	*Server
	t       testing.TB
	handler http.Handler
	pairs   *serve.Pairs
	meter   *meter.Meter
}

// newTestServer returns a server of a pair; nil = none yet.
func newTestServer(t testing.TB, pair *featurize.Pair, change func(*serve.Config)) *testServer {
	t.Helper()
	config := serve.Default()
	config.Concurrency, config.Missing = 2, serve.MissingAllow
	if change != nil {
		change(&config)
	}
	m := meter.New()
	pairs := &serve.Pairs{Predictions: true, Serving: m.Serving(), Logger: stagestest.Logger(t)}
	if pair != nil {
		pairs.Serve(pair)
	}
	d := serve.NewLimiter(config, 100, pairs)
	s := &Server{Options: Options{Limiter: d, Serving: m.Serving(), Model: "shop", Version: "v1",
		Logger: stagestest.Logger(t)}, config: d.Config()}
	return &testServer{Server: s, t: t, handler: s.routes(), pairs: pairs, meter: m}
}

// ask sends a request; headers alternate with their values.
func (d *testServer) ask(method, path string, body []byte, headers ...string) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w
}

// post asks with rows of JSON.
func (d *testServer) post(path string, body []byte) *httptest.ResponseRecorder {
	return d.ask(http.MethodPost, path, body, "Content-Type", typeJSON)
}

// free fails the test if memory or slots were not returned.
func (d *testServer) free() {
	d.t.Helper()
	if !d.Limiter.Reserve(d.config.Memory) {
		d.t.Error("memory of requests was not released")
	}
	d.Limiter.Release(d.config.Memory)
	for range d.config.Slots() {
		slot, err := d.Limiter.Slot(d.t.Context(), time.Now().Add(time.Millisecond))
		if errors.Is(err, serve.ErrNoPair) {
			continue
		}
		if err != nil {
			d.t.Fatalf("a slot was not released: %v", err)
		}
		defer slot.Close()
	}
}

// document decodes an answer in JSON.
func document[T any](t testing.TB, w *httptest.ResponseRecorder) (d T) {
	t.Helper()
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return d
}

// otherModel returns a model of the same set with other weights.
func otherModel(pair *featurize.Pair) *wire.Model {
	model, weights := *pair.Model, *pair.Model.Model
	model.ID = "m-other"
	weights.Theta = slices.Clone(weights.Theta)
	for i := range weights.Theta {
		weights.Theta[i] *= -1
	}
	model.Model = &weights
	return &model
}
