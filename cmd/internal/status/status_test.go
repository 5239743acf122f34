package status

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/topics"
)

// snapshot asks for everything until ok holds.
func (s *site) snapshot(what string, ok func(Snapshot) bool) Snapshot {
	s.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		answer := s.get("/api/status")
		var snapshot Snapshot
		if err := json.Unmarshal([]byte(answer.body), &snapshot); err != nil || answer.code != http.StatusOK {
			s.t.Fatalf("%d %v\n%s", answer.code, err, answer.body)
		}
		if ok(snapshot) {
			return snapshot
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("timed out: %s\n%s", what, answer.body)
		}
		select {
		case <-s.t.Context().Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func TestSnapshotShowsWholePipeline(t *testing.T) {
	t.Parallel()
	s := newSite(t, siteOptions{configure: func(c *config.Config) {
		e := &c.Stages.Exploration
		e.MinRows = 4000
		e.SampleRate = calibrate.RateAuto
		e.SampleRows = 2000
	}})
	empty := s.snapshot("a look", func(s Snapshot) bool { return !s.Process.LookedAt.IsZero() })
	if empty.Exploration.Status != "none" || len(empty.Flow.Stages) != 5 || len(empty.Flow.Topics) != 9 ||
		len(empty.Flow.Partitions) != 2 ||
		empty.History.Sets == nil || empty.History.Models == nil || empty.Letters.Reasons == nil {
		t.Errorf("an empty pipeline: %+v", empty)
	}
	s.poison("no Arrow")
	s.produce(1000) // 16 messages
	few := s.snapshot("missing rows",
		func(s Snapshot) bool { return s.Exploration.MissingRows > 0 && s.Exploration.MissingRows <= 3000 })
	if few.Exploration.MissingRows != 3000 || few.Exploration.Status != "none" {
		t.Errorf("too few rows: %+v", few.Exploration)
	}
	s.produce(3000) // 47 messages
	done := s.snapshot("all is done", func(s Snapshot) bool {
		return len(s.History.Sets) == 1 && s.History.Sets[0].Model != nil && len(s.Letters.Reasons) == 2 &&
			s.Exploration.Spectrum != nil &&
			s.Flow.Partitions[0].Featurize != nil && s.Flow.Partitions[0].Featurize.Lag == 0 &&
			s.Flow.Partitions[1].Featurize != nil && s.Flow.Partitions[1].Featurize.Lag == 0
	})
	if e := done.Exploration; e.Status != "published" || e.Sequence != 1 || e.Criterion != "residual" ||
		e.Candidates != 480 ||
		e.From != "recent" || e.LabelledRows != 4000 || e.SampleRate != 0.625 || e.SampleRows != 2000 ||
		e.ScoredRows < 1800 ||
		e.ScoredRows > 2200 ||
		e.Partitions != 2 || e.Closed != 2 || e.Round != 1 || e.Rounds != 1 || e.MissingRows != 0 || e.Reason == "" {
		t.Errorf("exploration %+v", e)
	}
	set := done.History.Sets[0]
	if !set.Current || set.Features < 1 || set.Features > 24 || set.Rows != done.Exploration.ScoredRows ||
		set.Model.Error == nil || *set.Model.Error >= *set.Model.Constant {
		t.Errorf("set %+v, model %+v", set, set.Model)
	}
	if next := done.Flow.Topics[0]; next.Role != roleEvents || next.Next != 64 || next.Kept != 64 {
		t.Errorf("events %+v", next)
	}
	if p := done.Flow.Partitions[0]; !p.Featurize.Here || p.Subsample == nil || p.Subsample.Scored < 800 ||
		p.Subsample.Expected < 900 || p.Subsample.Closed != "end" {
		t.Errorf("partition 0: %+v, scoring %+v", p, p.Subsample)
	}
	for _, reason := range done.Letters.Reasons {
		if reason.Reason != "unknown_format" || reason.Letters != 1 || reason.Here != 1 {
			t.Errorf("dead letters: %+v", reason)
		}
	}
	if spectrum := done.Exploration.Spectrum; spectrum.Rows != done.Exploration.ScoredRows ||
		spectrum.Features != set.Features || len(spectrum.Rank) != set.Features ||
		spectrum.Kinds == nil || *spectrum.Kinds != (scoring.KindCounts{Cosine: set.Features}) ||
		done.Exploration.Learning != nil {
		t.Errorf("spectrum %+v", spectrum)
	}
	s.streams()
}

// streams reads the stream of a pipeline that has finished its work.
func (s *site) streams() {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/api/status/events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		s.t.Errorf("Content-Type %q", kind)
	}
	seen := map[string]int{}
	var first, last Process
	for lines := bufio.NewScanner(response.Body); lines.Scan() && seen["process"] < 3; {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			seen[name]++
			lines.Scan()
			data, _ := strings.CutPrefix(lines.Text(), "data: ")
			if !json.Valid([]byte(data)) {
				s.t.Errorf("%s: %s", name, data)
			}
			if name == "process" {
				if err := json.Unmarshal([]byte(data), &last); err != nil {
					s.t.Error(err)
				}
				if seen[name] == 1 {
					first = last
				}
			}
		}
	}
	for _, name := range []string{"series", "live", "flow", "exploration", "history", "letters"} {
		if seen[name] == 0 {
			s.t.Errorf("no %s in the stream", name)
		}
	}
	if seen["series"] != 1 || !last.Time.After(first.Time) {
		s.t.Errorf("%d series; time from %v to %v", seen["series"], first.Time, last.Time)
	}
}

// The progress of a running exploration comes from its checkpoints.
func TestRunningExplorationShowsProgress(t *testing.T) {
	t.Parallel()
	s := newSite(t, siteOptions{stages: []meter.Stage{meter.StageCalibrate, meter.StageSubsample}}) // no process selects
	s.produce(2000)
	running := s.snapshot("an exploration with scored rows",
		func(s Snapshot) bool { return s.Exploration.Status == "running" && s.Exploration.ScoredRows > 0 })
	if e := running.Exploration; e.Spectrum != nil || e.ScoredRows > e.LabelledRows {
		t.Errorf("%+v", e)
	}
}

func TestSnapshotWithoutBroker(t *testing.T) {
	s := newSite(t, siteOptions{})
	s.broker.Stop()
	away := s.snapshot("an error of the broker", func(s Snapshot) bool { return s.Process.BrokerError != "" })
	if away.Process.Ready {
		t.Errorf("%+v", away.Process)
	}
}

// A process that only scores shows the others' work from their topics, and missing topics as
// errors.
func TestRemoteStagesAndMissingTopics(t *testing.T) {
	t.Parallel()
	s := newSite(t, siteOptions{noTopics: true, stages: []meter.Stage{meter.StageSubsample}})
	missing := s.snapshot("missing topics", func(s Snapshot) bool { return !s.Process.LookedAt.IsZero() })
	if missing.Process.Ready || missing.Process.BrokerError != "" ||
		!strings.Contains(missing.Flow.Topics[0].Error, "unknown topic") {
		t.Errorf("%+v %+v", missing.Process, missing.Flow.Topics[0])
	}
	if _, err := topics.Create(t.Context(), s.service.Process.Env.Broker, s.service.Process.Settings.Topics); err != nil {
		t.Fatal(err)
	}
	s.produce(640)
	there := s.snapshot("the partitions",
		func(s Snapshot) bool { return len(s.Flow.Partitions) == 2 && s.Flow.Topics[0].Next == 10 })
	for _, stage := range there.Flow.Stages {
		if stage.Here != (stage.Name == meter.StageSubsample) {
			t.Errorf("%+v", stage)
		}
	}
	if p := there.Flow.Partitions[0]; p.Featurize != nil || p.Next != 5 {
		t.Errorf("no process featurizes: %+v", p)
	}
}

// Without viewers the curves continue with a minimum of reads; a new viewer gets everything.
func TestCurvesContinueWithoutViewers(t *testing.T) {
	s := newSite(t, siteOptions{})
	s.produce(640)
	s.poison("no Arrow")
	p := newPage(s.service)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.gather(ctx) })
	defer running.Wait()
	defer stop()
	stagestest.Until(t, "a look at the curves", func() bool { return !p.known().positions.at.IsZero() })
	found := p.known()
	if found.at != (time.Time{}) || found.models != nil || found.conditions != nil {
		t.Errorf("more is read than the curves need: %+v", found)
	}
	point := p.point(s.service.Process.Snapshot(), &found)
	if next, _ := found.positions.sum(roleEvents); next < 11 || point.Letters == nil {
		t.Errorf("%d events, %+v", next, point)
	}
	if missed := found.until.Add(time.Second); found.holds(missed) || !found.holds(found.positions.at.Add(idleEvery)) {
		t.Error("positions expire before the next poll")
	}
	p.want()
	stagestest.Until(t, "a look at everything", func() bool { return !p.known().at.IsZero() })
	if looked := p.known(); looked.models == nil || looked.conditions == nil {
		t.Errorf("%+v", looked)
	}
}

func TestFiles(t *testing.T) {
	s := newSite(t, siteOptions{})
	for path, kind := range map[string]string{
		"/": "text/html", "/status/": "text/html", "/status/style.css": "text/css", "/status/main.js": "text/javascript",
		"/status/vendor/uplot/uPlot.esm.js": "text/javascript", "/status/icon.svg": "image/svg+xml",
		"/status/vendor/uplot/LICENSE": "text/plain",
	} {
		answer := s.get(path)
		if answer.code != http.StatusOK || !strings.HasPrefix(answer.header.Get("Content-Type"), kind) || answer.body == "" {
			t.Errorf("%s: %d %v", path, answer.code, answer.header)
		}
		if answer.header.Get("Content-Security-Policy") != policy {
			t.Errorf("%s: no policy: %v", path, answer.header)
		}
	}
	if answer := s.get("/status/elsewhere"); answer.code != http.StatusNotFound {
		t.Errorf("%d", answer.code)
	}
	page, err := assets.ReadFile("assets/index.html")
	if err != nil {
		t.Fatal(err)
	}
	if match := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(>|[^>]*[^>]>[^<])|https?://`).
		Find(page); match != nil {
		t.Errorf("the page has %q in it, which its policy forbids", match)
	}
}

// A stream gets each change once.
func TestStreamSendsEachChangeOnce(t *testing.T) {
	h := newHub()
	sent := map[string]int{}
	names := func() string {
		news, _, _ := h.newest(sent)
		var list bytes.Buffer
		for _, e := range news {
			_, _ = io.WriteString(&list, e.name+" ")
		}
		return list.String()
	}
	h.setAll(Snapshot{})
	if have := names(); have != "process live flow exploration history letters " {
		t.Errorf("at first %q", have)
	}
	_, _, changed := h.newest(sent)
	h.setAll(Snapshot{Letters: Letters{Read: 1}})
	select {
	case <-changed:
	default:
		t.Error("no event for a change")
	}
	if have := names(); have != "letters " {
		t.Errorf("then %q", have)
	}
	if have := names(); have != "" {
		t.Errorf("at last %q", have)
	}
}

func TestSectionsShowNoSecretsOfURLs(t *testing.T) {
	h := newHub()
	h.set("process", map[string]string{"error": `Get "https://u:hunter2@h/?k=hunter2"`})
	news, _, _ := h.newest(map[string]int{})
	if len(news) != 1 || string(news[0].data) != `{"error":"Get \"https://REDACTED@h/?REDACTED\""}` {
		t.Errorf("%s", news[0].data)
	}
	w := httptest.NewRecorder()
	answer(w, http.StatusOK, failure{`Get "https://u:hunter2@h/"`})
	if body := w.Body.String(); strings.Contains(body, "hunter2") || !strings.Contains(body, "REDACTED@h") {
		t.Error(body)
	}
}
