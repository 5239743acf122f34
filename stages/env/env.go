package env

import (
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/supervise"
	"github.com/eerf-stream/eerf/stages/topics"
)

// Env is the environment of a stage. All stages of a process have the same one, except for the
// fields that [Env.For] sets. The holder of a copy may change its fields; the values behind its
// pointers are safe for concurrent use.
type Env struct {
	Broker   pipeline.Broker
	Topics   topics.Config
	Pipeline string          // name of the pipeline
	Group    string          // consumer group of the stage; set by For
	State    *state.Follower // follows explorations, feature sets and models
	Live     *live.Follower  // follows live errors; only train and status pages need it
	Meter    *meter.Meter
	Logger   *zap.Logger
	Clock    func() time.Time // source of published times
	Tracer   trace.Tracer     // starts the spans of messages; nil = incoming traces are passed on unchanged

	// Registry holds the schemas that messages name by id; nil = such messages are unreadable.
	Registry *events.Schemas
	// Slots hold the messages in work; nil = each partition has memory for one.
	Slots *events.Slots
	// Partitions is the maximum number of events partitions that the process owns. It determines
	// the memory bound of each; 0 = 1.
	Partitions int
	// MaxAhead is how far the time of an event may be after the time of appending its record.
	MaxAhead time.Duration
	// DrainTimeout bounds the time for finishing work after a shutdown has begun.
	DrainTimeout time.Duration
	// Quarantine decides when a partition whose work failed is retried. The zero value ends the
	// stage with the error.
	Quarantine supervise.Policy
	// FailFast is for one-shot commands: a plan or a selection that the data do not permit is an
	// error instead of being retried. A failed partition is an error too, because For then clears
	// Quarantine.
	FailFast bool
}

// For returns the environment of a stage.
func (e Env) For(stage meter.Stage) Env {
	e.Group = Group(e.Pipeline, stage)
	e.Logger = e.Logger.With(zap.String("stage", string(stage)))
	if e.FailFast {
		e.Quarantine = supervise.Policy{}
	}
	return e
}

// Group returns the name of the consumer group of a stage.
func Group(pipeline string, stage meter.Stage) string {
	return "eerf-" + pipeline + "-" + string(stage)
}
