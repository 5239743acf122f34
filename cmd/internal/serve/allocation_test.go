package serve

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/eerf-stream/eerf/stages/stagestest"
)

// TestARowTakesFewObjects, even with a missing value and a category, once a slot has seen such rows.
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
