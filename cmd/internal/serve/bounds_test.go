package serve

import (
	"bytes"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/stages/serve"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// nulls repeats a text up to the largest body.
func nulls(before, repeated, after string, most int64) []byte {
	n := (int(most) - len(before) - len(after)) / (len(repeated) + 1)
	return []byte(before + strings.Repeat(repeated+",", n-1) + repeated + after)
}

// Lists of null, which cost few bytes in JSON, are charged like other values: a request allocates
// no more than its body, the budget of decoding and its answer.
func TestListsOfNullAreCharged(t *testing.T) {
	pair, rows := pairOf(t, stagestest.Binary)
	defer rows.Release()
	d := newTestServer(t, pair, func(c *serve.Config) { c.MaxRows = 1 << 20 })
	config := d.Limiter.Config()
	bound := uint64(config.MaxBodyBytes + config.BudgetBytes + config.MaxResponseBytes)
	const input = `{"inputs": [{"name": "a", "datatype": `
	for _, test := range []struct {
		path, before, repeated, after string
	}{
		{"/v1/features", "[", "null", "]"},
		{"/v1/features", "[", "{}", "]"},
		{"/v1/features", `{"v": [`, "null", "]}"},
		{"/v1/features", `[{"a": 1, "b": [`, "null", "]}]"},
		{"/v1/features", `{"a": [`, "[]", "]}"},
		{"/v1/features", `{"z": {"y": [`, "{}", "]}}"},
		{"/v2/models/shop/infer", `{"inputs": [`, "null", "]}"},
		{"/v2/models/shop/infer", `{"inputs": [`, "{}", "]}"},
		{"/v2/models/shop/infer", `{"outputs": [`, "null", `], "inputs": []}`},
		{"/v2/models/shop/infer", input + `"FP32", "shape": [`, "null", `], "data": []}]}`},
		{"/v2/models/shop/infer", input + `"FP32", "shape": [900000], "data": [`, "null", `]}]}`},
		{"/v2/models/shop/infer", input + `"BYTES", "shape": [900000], "data": [`, `""`, `]}]}`},
		{"/v2/models/shop/infer", `{"parameters": [`, "null", `], "inputs": []}`},
	} {
		body := nulls(test.before, test.repeated, test.after, config.MaxBodyBytes)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := d.post(test.path, body)
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if allocated > bound {
			t.Errorf("%s %s%s…: %d bytes allocated, more than %d", test.path, test.before, test.repeated, allocated, bound)
		}
		if w.Code == http.StatusInternalServerError || w.Body.Len() > 64<<10 && w.Code != http.StatusOK {
			t.Errorf("status %d, an answer of %d bytes", w.Code, w.Body.Len())
		}
		d.free()
	}
}

// Values of a request that an error shows are shortened.
func TestErrorsShowNoLongValues(t *testing.T) {
	pair, rows := pairOf(t, stagestest.Binary)
	defer rows.Release()
	d := newTestServer(t, pair, nil)
	long := strings.Repeat("x", 100_000)
	for name, w := range map[string]interface {
		Bytes() []byte
	}{
		"model":            d.post("/v2/models/"+long+"/infer", []byte(`{}`)).Body,
		"version":          d.post("/v2/models/shop/versions/"+long+"/infer", []byte(`{}`)).Body,
		"parameter":        d.post("/v1/predict?"+long+"=1", []byte(row)).Body,
		"value":            d.post("/v1/predict?missing="+long, []byte(row)).Body,
		"column":           d.post("/v1/predict", []byte(`{"`+long+`": 1}`)).Body,
		"text in a number": d.post("/v1/predict", []byte(`{"a": "`+long+`"}`)).Body,
		"content type":     d.ask(http.MethodPost, "/v1/predict", []byte(row), "Content-Type", long).Body,
		"content encoding": d.ask(http.MethodPost, "/v1/predict", []byte(row), "Content-Type", typeJSON,
			"Content-Encoding", long).Body,
		"length of the JSON": d.ask(http.MethodPost, "/v2/models/shop/infer", []byte(`{}`), headerLength, long).Body,
		"accepted type": d.ask(http.MethodPost, "/v1/predict", []byte(`{"a"`), "Content-Type", typeJSON,
			"Accept", long).Body,
	} {
		if text := w.Bytes(); len(text) > 2000 || bytes.Contains(text, []byte(strings.Repeat("x", 300))) {
			t.Errorf("%s: an answer of %d bytes: %.200s", name, len(text), text)
		}
	}
}
