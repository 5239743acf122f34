package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

// letterPipeline is a pipeline whose feature set refuses the events of partition 1.
type letterPipeline struct {
	t      *testing.T
	client *kafka.Client
	config string
	next   [2]int64 // next offsets of events
}

func newLetterPipeline(t *testing.T) *letterPipeline {
	t.Helper()
	broker := clitest.Broker(t)
	client, err := kafka.New(kafka.Config{Brokers: []string{broker}}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	p := &letterPipeline{t: t, client: client, config: pipelineFile(t, broker)}
	fz(t, "topics", "create", "-c", p.config).Want(t, cli.ExitOK)
	p.send(0, numbers(t, 0, 1200))
	p.send(1, numbers(t, 1200, 2400))
	return p
}

// numbers returns events with a number, an id and a label; the rows in bad have no usable number.
func numbers(t *testing.T, first, next int, bad ...int) []byte {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "churned", Type: arrow.FixedWidthTypes.Boolean},
	}, nil))
	defer b.Release()
	for i := first; i < next; i++ {
		x := math.Mod(float64(i)*0.37, 5)
		b.Field(1).(*array.BooleanBuilder).Append(x > 2 && x < 3)
		for _, row := range bad {
			if i-first == row {
				x = math.NaN()
			}
		}
		b.Field(0).(*array.Float64Builder).Append(x)
	}
	rec := b.NewRecord()
	defer rec.Release()
	value, err := arrowio.EncodeStream(rec.Schema(), rec)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// send writes an event and returns its offset.
func (p *letterPipeline) send(partition int, value []byte) int64 {
	p.t.Helper()
	at, err := p.client.Produce(p.t.Context(), "default.events", partition,
		[]pipeline.Record{{Key: []byte("key"), Value: value}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.next[partition] = at + 1
	return at
}

// events reads partition 1 of events from an offset.
func (p *letterPipeline) events(from int64) (list []pipeline.Record) {
	p.t.Helper()
	r := pipeline.NewReader(p.client, zap.NewNop(), "default.events", 1,
		pipeline.ReadOptions{From: from, Until: pipeline.PresentEnd})
	for rec, err := range r.Records(p.t.Context()) {
		if err != nil {
			p.t.Fatal(err)
		}
		list = append(list, rec)
	}
	return list
}

// list waits until the topic has the given number of dead letters of a stage.
func (p *letterPipeline) list(letters int, args ...string) clitest.Object {
	p.t.Helper()
	return await(p.t, func(o clitest.Object) bool { return o.Number(p.t, "letters") == float64(letters) },
		append([]string{"dead-letters", "list", "-c", p.config, "--json"}, args...)...)
}

// all returns the objects of a list at a path.
func all(t *testing.T, o clitest.Object, path string) (list []clitest.Object) {
	t.Helper()
	for _, one := range o.At(t, path).([]any) {
		list = append(list, clitest.Object(one.(map[string]any)))
	}
	return list
}

func TestDeadLettersAreListedRepairedAndReplayed(t *testing.T) {
	p := newLetterPipeline(t)
	running(t, "-c", p.config, "--stages", "calibrate,subsample,selection,featurize")
	await(t, always, "inspect", "-c", p.config, "--json")
	broken := numbers(t, 0, 50)[:300]
	p.send(1, broken)
	p.send(1, numbers(t, 0, 50, 3, 7, 8))
	end := p.next[1]
	stage := []string{"--stage", "featurize"}

	list := p.list(2, stage...)
	byReason := map[string]clitest.Object{}
	for _, count := range all(t, list, "counts") {
		byReason[count.Text(t, "reason")] = count
	}
	if byReason["truncated"].Number(t, "letters") != 1 || byReason["nan_feature"].Number(t, "rows") != 3 {
		t.Errorf("%v", byReason)
	}
	for _, l := range all(t, list, "newest") {
		if l.Text(t, "source.topic") != "default.events" || l.Number(t, "source.partition") != 1 ||
			l.Number(t, "letter.partition") != 1 {
			t.Errorf("%v", l)
		}
	}
	out := fz(t, append([]string{"dead-letters", "list", "-c", p.config, "--limit", "1"}, stage...)...).
		Want(t, cli.ExitOK).Out
	for _, text := range []string{"nan_feature", "truncated", "events/1/", "1 older dead letters"} {
		if !strings.Contains(out, text) {
			t.Errorf("no %q in\n%s", text, out)
		}
	}

	replay := func(args ...string) clitest.Object {
		t.Helper()
		return fz(t, append([]string{"dead-letters", "replay", "-c", p.config, "--json"}, args...)...).Want(t, cli.ExitOK).
			Object(t)
	}
	folder := filepath.Join(t.TempDir(), "letters")
	exported := fz(t, append([]string{"dead-letters", "export", "-c", p.config, "--out", folder, "--json"}, stage...)...).
		Want(t, cli.ExitOK).Object(t)
	archive := fz(t, append([]string{"dead-letters", "export", "-c", p.config, "--out", "-"}, stage...)...).
		Want(t, cli.ExitOK)
	checkArchive(t, archive.Out, folder)
	whole := numbers(t, 0, 50)
	for _, l := range all(t, exported, "letters") {
		p.repair(filepath.Join(folder, l.Text(t, "file")), l.Text(t, "reason"), broken, whole)
	}
	if o := replay("--from", folder, "--dry-run"); o.Number(t, "events") != 1 || o.At(t, "dry_run") != true ||
		len(p.events(end)) != 0 {
		t.Errorf("%v", o)
	}
	if o := replay("--from", folder); o.Number(t, "events") != 1 || o.Number(t, "outcomes.replayed") != 1 {
		t.Errorf("%v", o)
	}
	events := p.events(end)
	if len(events) != 1 || string(events[0].Key) != "key" || !bytes.Equal(events[0].Value, whole) {
		t.Fatalf("%d events", len(events))
	}
	if _, kept := events[0].Header(wire.HeaderErrorOffset); kept {
		t.Errorf("headers %v", events[0].Headers)
	}
	if o := replay("--from", folder, "--limit", "1"); o.Number(t, "events") != 1 || len(p.events(end)) != 2 {
		t.Errorf("%v", o)
	}
	again := fz(t, "dead-letters", "export", "-c", p.config, "--out", filepath.Join(t.TempDir(), "again"), "--limit", "1",
		"--json", "--stage", "featurize").
		Want(t, cli.ExitOK).Object(t)
	if letters := all(t, again, "letters"); len(letters) != 1 || again.Number(t, "left_out") != 1 {
		t.Errorf("%v", again)
	}
}

// repair restores an exported message, and deletes the file of rows that should not be sent.
func (p *letterPipeline) repair(path, reason string, broken, whole []byte) {
	p.t.Helper()
	value, err := os.ReadFile(path)
	switch {
	case err != nil:
	case reason == "truncated" && !bytes.Equal(value, broken):
		p.t.Error("the exported message differs from the refused one")
	case reason == "truncated":
		err = os.WriteFile(path, whole, 0o600)
	default:
		err = os.Remove(path)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func TestInvalidDeadLetterFlags(t *testing.T) {
	empty, full := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, says string }{
		{"list --since yesterday", "--since"},
		{"list --stage featurise", "unknown stage"},
		{"list --letter 7", "expected the partition and offset"},
		{"list --letter 1/-1", "expected the partition and offset"},
		{"list --limit -1", "--limit -1"},
		{"export", "--out is required"},
		{"replay", "nothing selected"},
		{"export --out - --json", "--out - does not go with --json"},
		{"replay --from " + empty, "no file has a name"},
	} {
		fz(t, append([]string{"dead-letters"}, strings.Fields(tt.args)...)...).Want(t, cli.ExitUsage, tt.says)
	}
	fz(t, "dead-letters", "replay", "--from", "absent").Want(t, cli.ExitFailure, "absent")
	config := pipelineFile(t, clitest.Broker(t))
	fz(t, "topics", "create", "-c", config).Want(t, cli.ExitOK)
	fz(t, "dead-letters", "export", "-c", config, "--out", full).Want(t, cli.ExitUsage, "not empty")
}

func TestSinceAcceptsDayTimeOrAge(t *testing.T) {
	now := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"": {}, "90m": now.Add(-90 * time.Minute), "2026-11-02T01:02:03Z": time.Date(2026, 11, 2, 1, 2, 3, 0, time.UTC),
		"2026-11-02": time.Date(2026, 11, 2, 0, 0, 0, 0, time.Local),
	} {
		if got, err := parseSince(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := parseSince("-5m", now); err == nil {
		t.Error("the future")
	}
}

// checkArchive compares the archive of one export with the folder of another.
func checkArchive(t *testing.T, archive, folder string) {
	t.Helper()
	files := 0
	for reader := tar.NewReader(strings.NewReader(archive)); ; files++ {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(folder, strings.TrimPrefix(header.Name, "letters/")))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the folder: %v", header.Name, err)
		}
	}
	if inFolder, err := os.ReadDir(folder); err != nil || len(inFolder) != files {
		t.Errorf("%d files in the archive, %d in the folder: %v", files, len(inFolder), err)
	}
}
