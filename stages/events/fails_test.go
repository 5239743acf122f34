package events

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/registry"
)

const oneInt = `{"schema": "{\"type\":\"record\",\"name\":\"E\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}"}`

// failing is a registry that serves all ids but 7, for which it gives the configured answer, and
// refuses everything while it is down.
type failing struct {
	*httptest.Server
	down atomic.Int32 // status of all answers; 0 = up
}

func newFailing(t *testing.T, seven func(w http.ResponseWriter)) (*failing, *Schemas) {
	t.Helper()
	f := &failing{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case f.down.Load() != 0:
			w.WriteHeader(int(f.down.Load()))
			_, _ = fmt.Fprintf(w, `{"error_code": %d, "message": "no"}`, f.down.Load()*100+3)
		case strings.HasPrefix(r.URL.Path, "/schemas/types"):
			_, _ = w.Write([]byte(`["AVRO"]`))
		case strings.HasPrefix(r.URL.Path, "/schemas/ids/7"):
			seven(w)
		default:
			_, _ = w.Write([]byte(oneInt))
		}
	}))
	t.Cleanup(f.Close)
	client, err := registry.New(registry.Config{URL: []string{f.URL}})
	if err != nil {
		t.Fatal(err)
	}
	return f, NewSchemas(client, zap.NewNop())
}

// TestOneIDThatFailsIsSetAside: while the registry answers for other ids, an id that fails is
// refused, and the partition continues.
func TestOneIDThatFailsIsSetAside(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter){
		"403": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"error_code": 40301, "message": "User is denied operation Read on Subject: other-value"}`))
		},
		"500": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"error_code": 50001, "message": "Error while retrieving schema"}`))
		},
		"HTML": func(w http.ResponseWriter) { _, _ = w.Write([]byte(`<html>hello</html>`)) },
	} {
		for _, others := range []bool{false, true} { // whether another id was served before
			t.Run(fmt.Sprintf("%s %v", name, others), func(t *testing.T) {
				_, schemas := newFailing(t, answer)
				schemas.Patience = 20 * time.Millisecond
				r := Source{Registry: schemas}.Reader(nil)
				if others {
					firstRow(t, r, []byte{0, 0, 0, 0, 1, 14})
				}
				message := []byte{0, 0, 0, 0, 7, 14}
				if err := r.Prepare(t.Context(), &pipeline.Record{Value: message}); err != nil {
					t.Fatal(err)
				}
				if _, err := r.Read(message); formats.Reason(err) != "unknown_schema" {
					t.Errorf("%v", err)
				}
				if schemas.Away() != nil {
					t.Errorf("away: %v", schemas.Away())
				}
				if got := firstRow(t, r, []byte{0, 0, 0, 0, 2, 14}); got != "a=7" {
					t.Error(got)
				}
			})
		}
	}
}

// TestAwayIsWaitedFor: rejected credentials, and refusals of previously served ids, cause no dead
// letters.
func TestAwayIsWaitedFor(t *testing.T) {
	for _, status := range []int32{
		http.StatusUnauthorized,
		http.StatusForbidden,
		http.StatusNotFound,
		http.StatusServiceUnavailable,
	} {
		for _, planned := range []bool{false, true} { // whether this process or a plan knows that the id was served
			t.Run(fmt.Sprintf("%d %v", status, planned), func(t *testing.T) {
				f, schemas := newFailing(t, nil)
				schemas.Patience = time.Nanosecond
				message := []byte{0, 0, 0, 0, 1, 14}
				if planned {
					schemas.Planned = func() []Seen { return []Seen{{ID: 1, Hash: "x"}} }
				} else {
					firstRow(t, Source{Registry: schemas}.Reader(nil), message)
					schemas.answers.Put(formats.SchemaID{Number: 1}, answer{}, keptAnswers) // evicts the answer
				}
				f.down.Store(status)
				ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
				defer cancel()
				r := Source{Registry: schemas}.Reader(nil)
				if err := r.Prepare(ctx, &pipeline.Record{Value: message}); !errors.Is(err, context.DeadlineExceeded) &&
					!strings.Contains(fmt.Sprint(err), "registry") {
					t.Fatalf("an answer: %v", err)
				}
				if schemas.Away() == nil {
					t.Error("the registry does not count as unavailable")
				}
				f.down.Store(0)
				if got := firstRow(t, r, message); got != "a=7" || schemas.Away() != nil {
					t.Errorf("%s, away: %v", got, schemas.Away())
				}
			})
		}
	}
}

// TestSchemasThatAreTooLargeAreNotKept: 64 references of nearly a megabyte are neither read to the
// end nor kept.
func TestSchemasThatAreTooLargeAreNotKept(t *testing.T) {
	_, schemas := newFailing(t, nil)
	big := registry.Schema{Type: registry.TypeAvro, Text: "{}"}
	for range 4 {
		big.References = append(big.References, registry.Reference{Name: "r", Text: strings.Repeat("d", 100<<10)})
	}
	for id := range uint32(100) {
		if a := schemas.keep(answerOf(formats.SchemaID{Number: id}, big)); a.schema != nil ||
			formats.Reason(a.err) != "bad_schema" ||
			a.hash == "" {
			t.Fatalf("%+v", a)
		}
	}
	if held := schemas.answers.Bytes(); held > 100<<10 {
		t.Errorf("%d bytes held of schemas that cannot be used", held)
	}
}
