package serve

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/eerf-stream/eerf/internal/cputime"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// BenchmarkRow answers one row of 77 columns with predictions from 1,000 features, and an empty request, without the network.
func BenchmarkRow(b *testing.B) {
	rows := stagestest.WideEvents(b, "columns", 4000)
	e, c := explored.Wide("columns", 1000)
	set := explored.FeatureSet(b, e, c, rows)
	pair, err := featurize.NewPair(set, fit(b, set, rows))
	if err != nil {
		b.Fatal(err)
	}
	one := rows.NewSlice(0, 1)
	defer one.Release()
	unlabelled := events.WithoutColumns(one, "y")
	defer unlabelled.Release()
	body := jsonOf(b, unlabelled)
	d := newTestServer(b, pair, nil)
	for _, path := range []string{"/v1/predict", "/v1/features", "/v2/health/live"} {
		b.Run(path, func(b *testing.B) {
			method := http.MethodPost
			if path == "/v2/health/live" {
				method = http.MethodGet
			}
			reader := bytes.NewReader(body)
			r := httptest.NewRequest(method, path, reader)
			r.Header.Set("Content-Type", typeJSON)
			w := &discard{header: http.Header{}}
			b.ReportAllocs()
			used := cputime.Process()
			for b.Loop() {
				reader.Reset(body)
				d.handler.ServeHTTP(w, r)
				if w.code > http.StatusOK {
					b.Fatal(w.code)
				}
			}
			used = cputime.Process() - used
			b.ReportMetric(float64(used.Nanoseconds())/1e3/float64(b.N), "cpu-us/op")
		})
	}
}

// TestARowTakesFewObjects, even with a missing value and a category, once a place has seen such rows.
func TestARowTakesFewObjects(t *testing.T) {
	pair, rows := pairOf(t, stagestest.Binary)
	d := newTestServer(t, pair, nil)
	one := rows.NewSlice(0, 1)
	defer one.Release()
	body := jsonOf(t, one)
	reader := bytes.NewReader(body)
	r := httptest.NewRequest(http.MethodPost, "/v1/predict", reader)
	r.Header.Set("Content-Type", typeJSON)
	w := &discard{header: http.Header{}}
	const most = 12
	if n := testing.AllocsPerRun(100, func() {
		reader.Reset(body)
		d.handler.ServeHTTP(w, r)
	}); n > most || w.code > http.StatusOK {
		t.Errorf("%s: status %d, %v objects, at most %d are to be", body, w.code, n, most)
	}
}

// discard keeps only the status code.
type discard struct {
	header http.Header
	code   int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(code int)        { d.code = code }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
