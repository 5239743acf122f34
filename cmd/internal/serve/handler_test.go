package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/serve"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

const row = `{"a": 10, "b": 0.5, "color": "red", "ok": true, "v": [1, 2]}`

func TestRefusedRequests(t *testing.T) {
	pair, _ := pairOf(t, stagestest.Binary)
	alone, err := featurize.NewPair(pair.Set, nil)
	must(t, err)
	many := "[" + strings.TrimSuffix(strings.Repeat(row+",", 20), ",") + "]"
	tests := []struct {
		name    string
		pair    *featurize.Pair
		config  func(*serve.Config)
		path    string
		body    string
		headers []string
		code    int
		reason  string
	}{
		{name: "no JSON", body: `{"a": `, code: 400, reason: "bad_json"},
		{name: "no rows", body: `[1]`, code: 400, reason: "bad_json"},
		{name: "another schema", body: `{"z": 1}`, code: 400, reason: "wrong_schema"},
		{name: "JSON declared as Arrow", body: row, headers: []string{"Content-Type", typeArrow}, code: 400,
			reason: "not_arrow"},
		{name: "another content type", body: row, headers: []string{"Content-Type", "text/plain"}, code: 415,
			reason: "content_type"},
		{name: "a compressed body", body: row, headers: []string{"Content-Type", typeJSON, "Content-Encoding", "gzip"},
			code: 415, reason: "content_encoding"},
		{name: "a long body", body: many, config: func(c *serve.Config) { c.MaxBodyBytes = 100 }, code: 413,
			reason: "too_large"},
		{name: "many rows", body: many, config: func(c *serve.Config) { c.MaxRows = 10 }, code: 413, reason: "too_large"},
		{name: "a long answer", body: many, config: func(c *serve.Config) { c.MaxResponseBytes = frameBytes + 1000 },
			code: 413, reason: "too_large"},
		{name: "no memory", body: many, config: func(c *serve.Config) { c.Memory = 100 }, code: 503, reason: "no_memory"},
		{name: "no budget", body: many, config: func(c *serve.Config) { c.BudgetBytes = 1000 }, code: 413,
			reason: "over_budget"},
		{name: "no token", body: row, config: func(c *serve.Config) { c.Token = "0123456789abcdef" }, code: 401,
			reason: "unauthorized"},
		{name: "another token", body: row, config: func(c *serve.Config) { c.Token = "0123456789abcdef" },
			headers: []string{"Content-Type", typeJSON, "Authorization",
				"Bearer 0123456789abcdeF"}, code: 401, reason: "unauthorized"},
		{name: "predictions without a model", pair: alone, body: row, code: 503, reason: "no_model"},
		{name: "another model", path: "/v2/models/other/infer", body: `{}`, code: 404, reason: "no_such_model"},
		{name: "another version", path: "/v2/models/shop/versions/m-1/infer", body: `{}`, code: 404,
			reason: "no_such_version"},
		{name: "no tensors", path: "/v2/models/shop/infer", body: `{}`, code: 400, reason: "bad_tensors"},
		{name: "a header of more than the body", path: "/v2/models/shop/infer", body: `{}`,
			headers: []string{headerLength, "3"}, code: 400, reason: "bad_tensors"},
		{
			name:   "tensors of another schema",
			path:   "/v2/models/shop/infer",
			body:   `{"inputs": [{"name": "a", "shape": [1], "datatype": "FP32", "data": [1]}]}`,
			code:   400,
			reason: "wrong_schema",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.pair == nil {
				test.pair = pair
			}
			if test.path == "" {
				test.path = "/v1/predict"
			}
			if test.headers == nil {
				test.headers = []string{"Content-Type", typeJSON}
			}
			d := newTestServer(t, test.pair, test.config)
			w := d.ask(http.MethodPost, test.path, []byte(test.body), test.headers...)
			var said struct{ Error, Reason string }
			if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || said.Error == "" {
				t.Fatalf("%v: %s", err, w.Body)
			}
			if w.Code != test.code || said.Reason != test.reason {
				t.Errorf("status %d, %+v; want %d %s", w.Code, said, test.code, test.reason)
			}
			d.free()
		})
	}
}

// A body of unknown length is cut off at the limit.
func TestBodyOfUnknownLengthIsBounded(t *testing.T) {
	pair, _ := pairOf(t, stagestest.Binary)
	d := newTestServer(t, pair, func(c *serve.Config) { c.MaxBodyBytes = int64(len(row)) })
	for body, want := range map[string]int{row: http.StatusOK, row + " ": http.StatusRequestEntityTooLarge} {
		r := httptest.NewRequest(http.MethodPost, "/v1/predict", strings.NewReader(body))
		r.Header.Set("Content-Type", typeJSON)
		r.ContentLength = -1
		w := httptest.NewRecorder()
		d.handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%d bytes: status %d, want %d: %s", len(body), w.Code, want, w.Body)
		}
	}
	d.free()
}

// Unusable rows are null in JSON, left out of Arrow, and fail requests with tensors.
func TestUnusableRows(t *testing.T) {
	pair, _ := pairOf(t, stagestest.Regression)
	d := newTestServer(t, pair, nil)
	rows := stagestest.Events(t, stagestest.Regression, 40, 3, stagestest.Faults{BadFeature: 0.5})
	w := d.ask(http.MethodPost, "/v1/predict", stagestest.Message(t, rows), "Content-Type", typeArrow, "Accept", typeJSON)
	got := document[struct {
		FeatureSet  string `json:"feature_set"`
		Model       string
		Predictions []*float64
		Rejected    []struct {
			Row    int
			Reason string
		}
	}](t, w)
	var rejected int
	for i, v := range rows.Column(0).(*array.Float64).Float64Values() {
		if (got.Predictions[i] == nil) != math.IsInf(v, 0) {
			t.Errorf("row %d with %v: prediction %v", i, v, got.Predictions[i])
		}
		if math.IsInf(v, 0) {
			if got.Rejected[rejected].Row != i || got.Rejected[rejected].Reason != "inf_feature" {
				t.Errorf("row %d: %+v", i, got.Rejected[rejected])
			}
			rejected++
		}
	}
	if rejected == 0 || rejected != len(got.Rejected) || len(got.Predictions) != 40 {
		t.Errorf("%d rows rejected: %+v", rejected, got)
	}
	if got.FeatureSet != pair.SetID() || got.Model != pair.ModelID() || w.Header().Get(headerSet) != pair.SetID() ||
		w.Header().Get(headerModel) != pair.ModelID() {
		t.Errorf("made by %s, %s: %v", got.FeatureSet, got.Model, w.Header())
	}
	needed := events.WithoutColumns(rows, "y", "id")
	defer needed.Release()
	body, header := tensorsOf(t, pair, needed, true)
	tensors := d.ask(http.MethodPost, "/v2/models/shop/infer", body, headerLength, fmt.Sprint(header))
	if tensors.Code != http.StatusBadRequest || !strings.Contains(tensors.Body.String(), "is unusable: inf_feature") {
		t.Errorf("tensors: %d %s", tensors.Code, tensors.Body)
	}
	counted := d.meter.Activity().Serving
	if counted.Requests["predict"]["answered"] != 1 || counted.Rows["predict"] != 40 ||
		counted.Rejected["predict"] != int64(rejected) ||
		counted.Requests["infer"]["invalid"] != 1 || counted.Seconds["predict"].Count != 1 || counted.InFlight != 0 {
		t.Errorf("counted %+v", counted)
	}
	d.free()
}

// If all slots are taken, a request waits no longer than its timeout.
func TestRequestWaitsForSlotUntilTimeout(t *testing.T) {
	pair, _ := pairOf(t, stagestest.Binary)
	d := newTestServer(t, pair, func(c *serve.Config) { c.Concurrency, c.Timeout = 1, 1 })
	slot, err := d.Limiter.Slot(t.Context(), stagestest.Noon.AddDate(100, 0, 0))
	must(t, err)
	if w := d.post("/v1/predict", []byte(row)); w.Code != http.StatusServiceUnavailable ||
		w.Header().Get("Retry-After") == "" {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	slot.Close()
	if n := d.meter.Activity().Serving.Requests["predict"][meter.Outcomes()[meter.Busy]]; n != 1 {
		t.Errorf("%d were asked to retry", n)
	}
}

func TestAnswersBeforeFirstPair(t *testing.T) {
	d := newTestServer(t, nil, nil)
	if w := d.post("/v1/predict", []byte(row)); w.Code != http.StatusServiceUnavailable ||
		!strings.Contains(w.Body.String(), "still reading the topics") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	for path, want := range map[string]int{"/v2/health/live": 200, "/v2/health/ready": 503, "/v2/models/shop": 503,
		"/v2/models/shop/ready": 503, "/v2": 200, "/": 200, "/v1": 404} {
		if w := d.ask(http.MethodGet, path, nil); w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
	}
	d.free()
}

func TestMetadata(t *testing.T) {
	pair, _ := pairOf(t, stagestest.Classes)
	d := newTestServer(t, pair, func(c *serve.Config) { c.Token = "0123456789abcdef" })
	if w := d.ask(http.MethodGet, "/v2/models/shop", nil); w.Code != http.StatusUnauthorized {
		t.Errorf("without the token: status %d", w.Code)
	}
	w := d.ask(http.MethodGet, "/v2/models/shop/versions/"+pair.ModelID(), nil, "Authorization", "Bearer 0123456789abcdef")
	got := document[modelMetadata](t, w)
	var inputs, outputs []string
	for _, in := range got.Inputs {
		inputs = append(inputs, in.Name+" "+in.Datatype)
	}
	for _, out := range got.Outputs {
		outputs = append(outputs, out.Name+" "+out.Datatype)
	}
	if strings.Join(inputs, ", ") != "a FP64, b FP64, color BYTES, ok BOOL, v FP64" ||
		strings.Join(outputs, ", ") != "prediction BYTES, probabilities FP32, features FP32" {
		t.Errorf("inputs %v, outputs %v", inputs, outputs)
	}
	if got.Name != "shop" || got.Versions[0] != pair.ModelID() || got.Parameters.FeatureSet != pair.SetID() {
		t.Errorf("metadata %+v", got)
	}
}

// FuzzRows sends arbitrary bodies to every endpoint: no request panics, and all memory and slots
// are released.
func FuzzRows(f *testing.F) {
	pair, _ := pairOf(f, stagestest.Binary)
	d := newTestServer(f, pair, func(c *serve.Config) { c.MaxRows = 100 })
	f.Add([]byte(row), true, false)
	f.Add([]byte(`{"inputs": []}`), true, true)
	f.Fuzz(func(t *testing.T, body []byte, asJSON, tensors bool) {
		d.t = t
		path, kind := "/v1/features", typeArrow
		if asJSON {
			kind = typeJSON
		}
		if tensors {
			path = "/v2/models/shop/infer"
		}
		if w := d.ask(http.MethodPost, path, body, "Content-Type", kind); w.Code >= http.StatusInternalServerError {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		d.free()
	})
}
