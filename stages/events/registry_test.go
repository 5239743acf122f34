package events

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sr"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/registry"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// realRegistry is a client of the registry that scripts/registry.sh started.
func realRegistry(t *testing.T) (*registry.Client, string) {
	t.Helper()
	address := os.Getenv("EERF_TEST_REGISTRY")
	if address == "" {
		t.Skip("no registry: scripts/registry.sh run go test ./stages/events -run TestRegistry")
	}
	client, err := registry.New(registry.Config{URL: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	return client, address
}

// firstRow reads a message and formats its first row.
func firstRow(t *testing.T, r *Reader, value []byte) string {
	t.Helper()
	if err := r.Prepare(t.Context(), &pipeline.Record{Value: value}); err != nil {
		t.Fatal(err)
	}
	batches, err := r.Read(value)
	if err != nil {
		t.Fatal(err)
	}
	defer Release(batches)
	var cells []string
	for i, f := range batches[0].Schema().Fields() {
		cells = append(cells, f.Name+"="+batches[0].Column(i).ValueStr(0))
	}
	return strings.Join(cells, " ")
}

// TestRegistryOfConfluentsSerializers reads messages from confluent-kafka's own serializers.
func TestRegistryOfConfluentsSerializers(t *testing.T) {
	client, address := realRegistry(t)
	python := os.Getenv("EERF_TEST_PYTHON")
	if python == "" {
		t.Skip("EERF_TEST_PYTHON names no python3 with confluent-kafka[avro,protobuf,json,schemaregistry]")
	}
	command := exec.Command(python, filepath.Join("testdata", "serialize.py"), address)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"avro":      "amount=2.5 age=-7 country=se who.member=true price=-2.5 at=2023-11-14 22:13:20Z v=[1,2.5]",
		"avro null": "amount=(null) age=-7 country=se who.member=true price=-2.5 at=2023-11-14 22:13:20Z v=[1,2.5]",
		"json":      "amount=2.5 age=-7 country=se",
		"protobuf":  "amount=2.5 age=-7 country=se at=2023-11-14 22:13:20Z v=[1,2.5]",
	}
	r := Source{Registry: NewSchemas(client, zap.NewNop())}.Reader(nil)
	for line := range bytes.Lines(output) {
		var message struct{ Name, Value string }
		if err := json.Unmarshal(line, &message); err != nil {
			t.Fatal(err)
		}
		value, err := hex.DecodeString(message.Value)
		if err != nil {
			t.Fatal(err)
		}
		if got := firstRow(t, r, value); got != want[message.Name] {
			t.Errorf("%s: %s, want %s", message.Name, got, want[message.Name])
		}
		delete(want, message.Name)
	}
	if len(want) > 0 {
		t.Errorf("not written: %v", want)
	}
}

// TestRegistryIsKilledAndComesBack: readers wait for the registry, and accept that it lacks a
// schema.
func TestRegistryIsKilledAndComesBack(t *testing.T) {
	client, address := realRegistry(t)
	registrar, err := sr.NewClient(sr.URLs(address))
	if err != nil {
		t.Fatal(err)
	}
	script := func(what string) {
		if output, err := exec.Command(os.Getenv("EERF_TEST_REGISTRY_SCRIPT"), what).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, output)
		}
	}
	const schema = `{"type": "record", "name": "E", "fields": [{"name": "a", "type": "int"}]}`
	register := func() uint32 {
		made, err := registrar.CreateSchema(t.Context(), "killed-value", sr.Schema{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		return uint32(made.ID)
	}
	id := register()
	message := []byte{0, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id), 14}
	script("stop")
	schemas := NewSchemas(client, zap.NewNop())
	r := Source{Registry: schemas}.Reader(nil)
	waited := make(chan error, 1)
	go func() { waited <- r.Prepare(t.Context(), &pipeline.Record{Value: message}) }()
	stagestest.Until(t, "the unavailable registry is noticed", func() bool { return schemas.Away() != nil })
	script("start")
	// The registry has lost everything; any answer suffices.
	if err := <-waited; err != nil || schemas.Away() != nil {
		t.Fatal(err, schemas.Away())
	}
	id = register()
	message = []byte{0, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id), 14}
	fresh := Source{Registry: NewSchemas(client, zap.NewNop())}.Reader(nil)
	if got := firstRow(t, fresh, message); got != "a=7" {
		t.Error(got)
	}
	unknown := []byte{0, 0, 1, 0, 0, 14}
	if err := fresh.Prepare(t.Context(), &pipeline.Record{Value: unknown}); err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.Read(unknown); formats.Reason(err) != "unknown_schema" {
		t.Error(err)
	}
}

// TestSchemasOfAServer uses a server that requires a password, refers to another schema, and is
// down at first.
func TestSchemasOfAServer(t *testing.T) {
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch tries++; {
		case tries < 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case user != "eerf" || password != "secret":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/schemas/ids/5":
			_, _ = w.Write(
				[]byte(`{"schema": "{\"type\":\"record\",\"name\":\"E\",\"fields\":[{\"name\":\"in\",\"type\":\"shop.In\"}]}",
				"references": [{"name": "shop.In", "subject": "in", "version": 2}]}`),
			)
		case r.URL.Path == "/subjects/in/versions/2":
			_, _ = w.Write([]byte(`{"id": 4, "subject": "in", "version": 2,
				"schema": "{\"type\":\"record\",\"name\":\"In\",\"namespace\":\"shop\",\"fields\":[{\"name\":\"a\",\"type\":\"int\"}]}"}`))
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error_code": 40403, "message": "Schema not found"}`))
		}
	}))
	defer server.Close()
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	client, err := registry.New(
		registry.Config{URL: []string{server.URL}, User: "eerf", PasswordFile: password, AllowPlaintext: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	r := Source{Registry: NewSchemas(client, zap.NewNop())}.Reader(nil)
	if got := firstRow(t, r, []byte{0, 0, 0, 0, 5, 14}); got != "in.a=7" {
		t.Error(got)
	}
	before := tries
	firstRow(t, r, []byte{0, 0, 0, 0, 5, 14})
	for range 2 {
		if err := r.Prepare(t.Context(), &pipeline.Record{Value: []byte{0, 0, 0, 0, 6, 14}}); err != nil {
			t.Fatal(err)
		}
	}
	if tries != before+1 {
		t.Errorf("%d requests for a schema that is known and one that is refused twice", tries-before)
	}
	if err := os.WriteFile(password, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := r.Prepare(ctx, &pipeline.Record{Value: []byte{0, 0, 0, 0, 7, 14}}); err == nil ||
		errors.Is(err, registry.ErrNoSchema) {
		t.Errorf("a wrong password is an answer: %v", err)
	}
}
