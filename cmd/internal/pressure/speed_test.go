package pressure

import (
	"os"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// speedEnv is how long TestFullSpeed lasts, such as 30m.
const speedEnv = "EERF_TEST_SPEED"

// Increases from the middle third of the time to the last that do not count as growth.
const (
	residentSlack   = 1.1
	goroutinesSlack = 8
)

// level holds the largest values of the measurements of a process that must not grow.
type level struct{ resident, goroutines float64 }

// Rows are sent as fast as they are featurized, with a new exploration every two minutes. Resident
// memory and goroutines do not grow with time.
func TestFullSpeed(t *testing.T) {
	if os.Getenv(speedEnv) == "" {
		t.Skip("skipped unless it names a duration: ", speedEnv)
	}
	duration, err := time.ParseDuration(os.Getenv(speedEnv))
	if err != nil {
		t.Fatal(err)
	}
	const limit, trainLimit = 1792 << 20, 320 << 20
	s := newSite(t, tight+`
exploration: {features: 100, candidates: 1000, sample_rate: 0.1, sample_rows: 10000, every: 2m, candidate_memory: 16MiB}
train: {loss: squared, interval: 20s}
`)
	stages := s.stages("calibrate,subsample,selection,featurize", served(limit)...)
	trainer := s.stages("train", served(trainLimit)...)
	var all, learning [3]level
	for third := range 3 {
		for began := time.Now(); time.Since(began) < duration/3; {
			const messages = 200
			s.send(messages, 1024, 64)
			s.await("the lag is small again", func() bool { return s.lag() <= messages }, stages, trainer)
			s.cluster.ApplyRetention()
			all[third].raise(t, stages)
			learning[third].raise(t, trainer)
		}
		t.Logf("%d rows, stages %+v, training %+v", s.sent[0]+s.sent[1], all[third], learning[third])
	}
	for name, of := range map[string][3]level{"the stages": all, "training": learning} {
		if of[2].resident > residentSlack*of[1].resident || of[2].goroutines > of[1].goroutines+goroutinesSlack {
			t.Errorf("%s: grew to %+v from %+v", name, of[2], of[1])
		}
	}
	s.within("the stages", stages, limit)
	s.within("training", trainer, trainLimit)
	for _, service := range []*clitest.Process{stages, trainer} {
		service.Stop(t).Want(t, cli.ExitOK)
	}
}

// raise measures a process and keeps the larger values.
func (l *level) raise(t *testing.T, service *clitest.Process) {
	t.Helper()
	l.resident = max(l.resident, gauge(t, service, "process_resident_memory_bytes"))
	l.goroutines = max(l.goroutines, gauge(t, service, "go_goroutines"))
}

// lag returns the number of messages that are not yet featurized.
func (s *site) lag() (n int64) {
	s.t.Helper()
	for p := range 2 {
		found, err := s.client.Committed(s.t.Context(), "eerf-pressure-featurize", "pressure.events", p)
		if err != nil {
			s.t.Fatal(err)
		}
		n += s.next("pressure.events", int32(p)) - max(found.Next, 0)
	}
	return n
}
