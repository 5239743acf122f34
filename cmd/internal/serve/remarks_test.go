package serve

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/stages/serve"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// strictServer serves features of which only column b had missing values in exploration.
func strictServer(t *testing.T) *testServer {
	t.Helper()
	pair, _ := pairOf(t, stagestest.Binary)
	columns := pair.Set.Encoder.Columns
	if columns[0].Missing || columns[2].Missing {
		t.Fatalf("columns %+v", columns)
	}
	pair.Set.Lineage.Columns = append(pair.Set.Lineage.Columns,
		encoder.ColumnUse{Column: "customer", Use: encoder.UseLeftOut})
	return newTestServer(t, pair, func(c *serve.Config) { c.Missing = serve.MissingRefuse })
}

const goodRow = `{"a": 10.5, "b": 0.5, "color": "red", "ok": true, "v": [1, 2]`

// A row with a missing or unknown column, or a value of the wrong kind, is refused with all its
// faults.
func TestInvalidRowsAreRefusedWithAllFaults(t *testing.T) {
	fault := func(row int, column, what string) formats.RowFault {
		return formats.RowFault{Row: row, Column: column, Fault: what}
	}
	d := strictServer(t)
	for _, c := range []struct {
		name, query, body string
		want              []formats.RowFault // nil = answered
	}{
		{"good", "", goodRow + `}`, nil},
		{"label and passthrough", "", goodRow + `, "y": "yes", "id": 7}`, nil},
		{"left out by the exploration", "", goodRow + `, "customer": "0023-X"}`, nil},
		{"a name misspelt", "", `{"aa": 10.5, "b": 0.5, "color": "red", "ok": true, "v": [1, 2]}`,
			[]formats.RowFault{fault(0, "aa", "unknown"), fault(0, "a", "missing")}},
		{"wrong kinds", "", `[` + goodRow + `}, {"a": "abc", "b": true, "color": [1], "ok": 3, "v": [1]}]`,
			[]formats.RowFault{
				fault(1, "a", `"abc", not a number`), fault(1, "b", "true, not a number"),
				fault(1, "color", "a list of 1 numbers, not a text"), fault(1, "ok", "3, not true or false"),
				fault(1, "v", "a list of 1 numbers, not a list of 2 numbers")}},
		{"text of the right kind", "", `{"a": "10.5", "b": " 5e-1 ", "color": "red", "ok": "True", "v": [1, 2]}`, nil},
		{"one column", "", `{"a": 1}`,
			[]formats.RowFault{fault(0, "b", "missing"), fault(0, "color", "missing"), fault(0, "ok", "missing"), fault(0, "v",
				"missing")}},
		{"one column, allowed", "?missing=allow", `{"a": 1}`, nil},
		{"unknown, allowed", "?missing=allow", `{"a": 1, "z": {"y": 2}}`, []formats.RowFault{fault(0, "z.y", "unknown")}},
		{"null", "", `{"a": null, "b": 0.5, "color": "red", "ok": true, "v": [1, 2]}`,
			[]formats.RowFault{fault(0, "a", "null, which no explored row was")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := d.post("/v1/predict"+c.query, []byte(c.body))
			if c.want == nil {
				if w.Code != http.StatusOK {
					t.Fatalf("status %d: %s", w.Code, w.Body)
				}
				return
			}
			var got struct {
				Error, Reason string
				Rows          []formats.RowFault
			}
			must(t, json.Unmarshal(w.Body.Bytes(), &got))
			if hint := strings.Contains(got.Error, "missing=allow"); hint != slices.ContainsFunc(c.want,
				formats.RowFault.Missing) {
				t.Errorf("error %s", got.Error)
			}
			if w.Code != http.StatusUnprocessableEntity || got.Reason != badRows || !reflect.DeepEqual(got.Rows, c.want) {
				t.Errorf("status %d: %s, want %v", w.Code, w.Body, c.want)
			}
		})
	}
	for _, query := range []string{"missing=perhaps", "mising=allow"} {
		if w := d.post("/v1/predict?"+query, []byte(goodRow+`}`)); w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), "refuse or allow") {
			t.Errorf("%s: status %d: %s", query, w.Code, w.Body)
		}
	}
	d.free()
}

// Answers name imputed columns and unseen categories.
func TestAnswersNameImputedColumnsAndUnseenCategories(t *testing.T) {
	d := strictServer(t)
	w := d.post("/v1/predict?missing=allow", []byte(`[`+goodRow+`}, {"a": null, "b": 0.5, "color": "mauve", "ok": true}]`))
	got := document[struct{ Imputed, Unseen json.RawMessage }](t, w)
	if string(got.Imputed) != `[{"row":1,"column":"a"},{"row":1,"column":"v"}]` ||
		string(got.Unseen) != `[{"row":1,"column":"color","value":"mauve"}]` {
		t.Errorf("imputed %s, unseen %s", got.Imputed, got.Unseen)
	}
	if w.Header().Get(headerImputed) != "a, v" || w.Header().Get(headerUnseen) != "color" {
		t.Errorf("headers %v", w.Header())
	}
	if w := d.post("/v1/predict", []byte(goodRow+`}`)); strings.Contains(w.Body.String(), "imputed") ||
		w.Header().Get(headerImputed) != "" {
		t.Errorf("nothing was imputed: %v %s", w.Header(), w.Body)
	}
	d.free()
}

// Tensors without a value are refused as the protocol requires, or named in the parameters.
func TestTensorsWithoutValues(t *testing.T) {
	d := strictServer(t)
	pair, rows := pairOf(t, stagestest.Binary)
	part := rows.NewSlice(0, 8)
	defer part.Release()
	without := withMissing(part)
	defer without.Release()
	body, _ := tensorsOf(t, pair, without, false)
	if w := d.post("/v2/models/shop/infer", body); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), `column \"a\" is null`) {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	got := document[struct{ Parameters map[string]string }](t, d.post("/v2/models/shop/infer?missing=allow", body))
	if got.Parameters["imputed"] != "a" {
		t.Errorf("parameters %v", got.Parameters)
	}
	d.free()
}
