package stages_test

import (
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/train"
)

// A producer with timestamps in nanoseconds once ended every process that compared models, because
// JSON cannot represent the year 57,000,000.
func TestFlowEventTimesInNanoseconds(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*pipeline.Record){
		"timestamp": func(r *pipeline.Record) { r.Time = time.UnixMilli(stagestest.Noon.UnixNano()) },
		"header": func(r *pipeline.Record) {
			at := wire.EventTimeHeader(time.UnixMilli(stagestest.Noon.UnixNano()))
			r.Headers = append(r.Headers, at)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 1, func(s *stages.Settings) { s.Train.Promote.Rule = train.PromoteAlways })
			f.sendRows(0, 0, 400)
			w := f.start(everyStage, nil)
			f.set(1)
			judged := func(what string, than int) {
				t.Helper()
				_, err := f.follower.WaitModels(f.ctx, func(s state.Snapshot) bool { return len(s.Models.Entries()) > than })
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			judged("the first model", 0)
			batch := rows(400, 420, nil)
			defer batch.Release()
			odd := message(t, batch, 0, 20)
			spoil(&odd)
			f.produce(f.settings.Topics.Events, 0, odd)
			f.featurizedUpTo(0, 21)
			judged("a model compared on the odd row", len(f.follower.Snapshot().Models.Entries()))
			f.until("the event is counted", func() bool { return w.Env.Meter.Activity().IgnoredTimes == 1 })
			for _, m := range f.features(0) {
				if value := headerOf(m.Record, wire.HeaderEventTime); len(value) > len("1700000000000") {
					t.Errorf("features carry the time %s", value)
				}
			}
		})
	}
}
