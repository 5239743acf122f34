package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/internal/outside"
	"github.com/eerf-stream/eerf/pipeline"
)

// Names of the sources that are not topics.
const (
	adminRequests = "requests to the admin server"
	serveRequests = "requests to serve"
	serveParts    = "parts of requests to serve"
	registryName  = "answers of the schema registry"
)

// requests sends extreme requests to every endpoint of the table.
func (a *assault) requests() {
	a.t.Helper()
	impatient := &http.Client{
		Timeout:       300 * time.Millisecond,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer impatient.CloseIdleConnections()
	const atATime = 8
	group := new(errgroup.Group)
	group.SetLimit(atATime)
	addresses := a.addresses()
	for _, s := range outsideSources() {
		servers := map[string][]string{adminRequests: {"featurizer", "trainer", "serve"}, serveRequests: {"serve"}}[s.Name]
		for _, v := range s.Values {
			method, path, ok := strings.Cut(v.Name, " ")
			if !ok || !strings.HasPrefix(path, "/") {
				continue
			}
			a.table.add(s.Name + " " + v.Name)
			for _, server := range servers {
				for _, r := range extremeRequests(method, path, v.Shape) {
					group.Go(func() error {
						a.ask(impatient, server, addresses[server+" "+s.Name], r)
						return nil
					})
				}
			}
		}
	}
	_ = group.Wait() // the test has the errors
	for _, value := range []string{
		adminRequests + " all headers", adminRequests + " connections",
		serveParts + " all headers", serveParts + " Inference-Header-Content-Length", serveParts + " query parameter missing",
		serveParts + " connections",
	} {
		a.table.add(value)
	}
	a.connections(addresses)
}

// extremeRequest is a request with one extreme part.
type extremeRequest struct {
	method, path string
	body         []byte
	headers      map[string]string
}

// extremeRequests are requests to one endpoint.
func extremeRequests(method, path string, body *outside.Shape) (all []extremeRequest) {
	path = strings.TrimSuffix(path, "{$}")
	for _, name := range []string{"model", "", "..%2f..", "%00", strings.Repeat("x", 8<<10), "%ff%1b[2J"} {
		filled := strings.NewReplacer("{name}", name, "{version}", name).Replace(path)
		all = append(all, extremeRequest{method: method, path: filled})
		if filled == path {
			break
		}
	}
	path = all[0].path
	for _, query := range []string{
		"?missing=", "?missing=null", "?missing=" + strings.Repeat("x", 4<<10), "?%zz", "?seconds=-1", "?seconds=1e99",
		"?seconds=9223372036854775807", "?debug=9999999999999999999",
	} {
		all = append(all, extremeRequest{method: method, path: path + query})
	}
	for _, text := range []string{
		"", "null", "{}", "[]", `{"a":1e999}`, `[{"a":NaN}]`, strings.Repeat("[", 100_000), strings.Repeat("x", 70<<10),
		strings.Repeat(`{"a":1}`+"\n", 9000), strings.Repeat(" ", int(body.High)+1), "\xff\xff\xff\xff\xff\xff\xff\x7f",
	} {
		for _, kind := range []string{"application/json", "application/vnd.apache.arrow.stream", "application/octet-stream"} {
			all = append(all, extremeRequest{method, path, []byte(text), map[string]string{"Content-Type": kind}})
		}
	}
	for _, length := range []string{"-1", "0", "9223372036854775807", "NaN", "5"} {
		all = append(all, extremeRequest{method, path, []byte("{}  {}"), map[string]string{
			"Inference-Header-Content-Length": length,
		}})
	}
	for _, h := range []map[string]string{
		{"X": strings.Repeat("x", 128<<10)}, {"Accept": strings.Repeat("*/*,", 2000)}, {"Last-Event-ID": "-1"},
		{"Range": "bytes=9223372036854775807-"}, {"Content-Encoding": "gzip"}, {"Host": "evil"},
		{"Accept-Encoding": "gzip;q=NaN"}, {"traceparent": strings.Repeat("0", 1000)}, {"Expect": "100-continue"},
	} {
		all = append(all, extremeRequest{method: method, path: path, headers: h})
	}
	for _, other := range []string{"HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"} {
		all = append(all, extremeRequest{method: other, path: path, body: []byte("{}")})
	}
	return all
}

// addresses returns the addresses of the servers by process and source.
func (a *assault) addresses() map[string]string {
	a.t.Helper()
	all := map[string]string{
		"serve " + serveRequests: a.processes["serve"].LogLine(a.t, "serving rows").Text(a.t, "address"),
	}
	for name, p := range a.processes {
		line := p.LogLine(a.t, "serving health, metrics and configuration")
		all[name+" "+adminRequests] = line.Text(a.t, "address")
	}
	return all
}

// ask sends one request; any answer will do, or none from an endpoint that streams.
func (a *assault) ask(client *http.Client, server, address string, r extremeRequest) {
	request, err := http.NewRequestWithContext(a.t.Context(), r.method, "http://"+address+r.path, bytes.NewReader(r.body))
	if err != nil {
		return // no client could send it
	}
	for k, v := range r.headers {
		request.Header.Set(k, v)
	}
	response, err := client.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusInternalServerError && response.StatusCode != http.StatusServiceUnavailable &&
		!strings.Contains(r.path, "pprof") {
		text, _ := io.ReadAll(response.Body)
		a.t.Errorf("%s: %s %.100s is answered with %d: %.300s", server, r.method, r.path, response.StatusCode, text)
	}
}

// connections opens more connections than servers allow, from another address than the probes have,
// and leaves them idle or in the middle of a request.
func (a *assault) connections(addresses map[string]string) {
	a.t.Helper()
	other := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for _, address := range addresses {
		for i := range 1100 {
			conn, err := other.DialContext(a.t.Context(), "tcp", address)
			if err != nil {
				a.t.Log("no second loopback address: ", err)
				break
			}
			defer conn.Close()
			begun := []string{"", "G", "GET /livez HTTP/1.1\r\n", "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\n" +
				"Content-Length: 9223372036854775807\r\n\r\n{", "\x16\x03\x01\xff\xff"}
			_, _ = io.WriteString(conn, begun[i%len(begun)]) // the server may have closed it
		}
	}
	a.alive("with too many connections")
}

// hostileRegistry starts a registry that answers every id with an extreme, and returns its address.
func hostileRegistry(t *testing.T, table *coverage) string {
	t.Helper()
	for _, s := range outsideSources() {
		for _, v := range s.Values {
			if s.Name == registryName {
				table.add(s.Name + " " + v.Name)
			}
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := registryAnswers()
		if r.URL.Path == "/schemas/types" {
			_, _ = io.WriteString(w, `["AVRO","JSON","PROTOBUF"]`)
			return
		}
		var id int
		if _, err := fmt.Sscanf(r.URL.Path, "/schemas/ids/%d", &id); err != nil { // a reference
			_ = json.NewEncoder(w).Encode(map[string]any{"id": 1, "subject": "s", "version": 1, "schema": `"string"`,
				"references": []map[string]any{{"name": r.URL.Path, "subject": r.URL.Path + "x", "version": 1}}})
			return
		}
		if id >= len(answers) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error_code":40403,"message":"`+strings.Repeat("\x1b[2J", 30_000)+`"}`)
			return
		}
		_, _ = io.WriteString(w, answers[id])
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// registryAnswers are the answers by id.
func registryAnswers() []string {
	record := func(fields string) string {
		text, _ := json.Marshal(map[string]any{"schema": `{"type":"record","name":"e","fields":[` + fields + `]}`})
		return string(text)
	}
	references := func(n int) string {
		var all []map[string]any
		for i := range n {
			all = append(all, map[string]any{"name": fmt.Sprint(i), "subject": fmt.Sprint(i), "version": 1})
		}
		text, _ := json.Marshal(map[string]any{"schema": `"string"`, "references": all})
		return string(text)
	}
	return []string{
		``, `null`, `{}`, `[]`, `{"schema":null}`, `{"schema":5}`, `{"schema":""}`, `{"schema":"x"}`,
		`{"schema":"\"string\""}`, `{"schema":"` + strings.Repeat("[", 100_000) + `"}`,
		`{"schema":"` + strings.Repeat("x", 1<<20) + `"}`, strings.Repeat("[", 1<<20), strings.Repeat("x", 3<<20),
		`{"schema":"{}","schemaType":"` + strings.Repeat("x", 1<<16) + `"}`, `{"schema":"{}","schemaType":"JSON"}`,
		`{"schema":"syntax = \"proto3\";","schemaType":"PROTOBUF"}`, `{"schema":"x","schemaType":"PROTOBUF"}`,
		record(``), record(`{"name":"a","type":"double"}`), record(`{"name":"a","type":"e"}`),
		record(
			`{"name":"a","type":["null","e"]}`,
		), record(`{"name":"a","type":{"type":"fixed","name":"f","size":9223372036854775807}}`),
		record(`{"name":"a","type":{"type":"fixed","name":"f","size":-1}}`),
		record(`{"name":"a","type":{"type":"bytes","logicalType":"decimal","precision":2147483647,"scale":-2147483648}}`),
		record(`{"name":"a","type":{"type":"array","items":"null"}}`),
		record(`{"name":"` + strings.Repeat("x", 1<<16) + `","type":"double"}`),
		references(1), references(65), references(1000),
	}
}

// schemaIDs are events that name schemas of the registry.
func schemaIDs() (all []attack) {
	ids := []uint32{1<<31 - 1, 1 << 31, 1<<32 - 1}
	for id := range registryAnswers() {
		ids = append(ids, uint32(id))
	}
	for _, id := range ids {
		for _, rest := range []string{
			"",
			"\x00",
			"\x02\x04",
			"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
			strings.Repeat("\x00", 1000),
		} {
			value := append(binary.BigEndian.AppendUint32([]byte{0}, id), rest...)
			all = append(all, attack{registryName + " id, from a message", pipeline.Record{Value: value}})
		}
	}
	return all
}

// eventBounds are Arrow messages at and beyond the bounds of the decoder.
func eventBounds(t *testing.T) (all []attack) {
	t.Helper()
	for _, s := range outsideSources() {
		for _, v := range s.Values {
			if s.Name != "Arrow messages" || v.Shape.Kind != outside.Whole {
				continue
			}
			for _, value := range boundMessages(t, v.Name, int64(v.Shape.High)) {
				all = append(all, attack{s.Name + " " + v.Name, pipeline.Record{Value: value}})
			}
		}
	}
	return all
}

// boundMessages are messages around one bound.
func boundMessages(t *testing.T, name string, bound int64) (values [][]byte) {
	t.Helper()
	pack := func(rows int64, fields []arrow.Field, columns []arrow.Array) []byte {
		var out bytes.Buffer
		schema := arrow.NewSchema(fields, nil)
		w := ipc.NewWriter(&out, ipc.WithSchema(schema), ipc.WithZstd())
		if err := w.Write(array.NewRecord(schema, columns, rows)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	zeros := func(n int64) arrow.Array {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		b.AppendValues(make([]float64, n), nil)
		return b.NewArray()
	}
	one := []arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Float64}}
	switch {
	case strings.HasPrefix(name, "bytes"):
		return [][]byte{make([]byte, bound), make([]byte, bound+1)}
	case strings.HasPrefix(name, "memory"):
		return [][]byte{pack(bound/8+1, one, []arrow.Array{zeros(bound/8 + 1)})}
	case strings.HasPrefix(name, "rows"):
		return [][]byte{pack(0, one, []arrow.Array{zeros(0)}), pack(bound+1, one, []arrow.Array{zeros(bound + 1)})}
	}
	for _, n := range []int64{0, bound, bound + 1} {
		var fields []arrow.Field
		var columns []arrow.Array
		column := zeros(1)
		for i := range n {
			fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: arrow.PrimitiveTypes.Float64})
			columns = append(columns, column)
		}
		values = append(values, pack(1, fields, columns))
	}
	return values
}
