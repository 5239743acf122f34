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
// fields that [Env.For] sets. Whoever has a copy may change its fields; what they point to is safe
// for concurrent use.
type Env struct {
	Broker   pipeline.Broker
	Topics   topics.Config
	Pipeline string          // name of the pipeline
	Group    string          // consumer group of the stage; set by For
	State    *state.Follower // of explorations, feature sets and models
	Live     *live.Follower  // of live errors; only train and status pages need it
	Meter    *meter.Meter
	Logger   *zap.Logger
	Clock    func() time.Time // gives the times that are published
	Tracer   trace.Tracer     // starts the spans of messages; nil = incoming traces are passed on unchanged

	// Registry has the schemas that messages name by id; nil = messages that name one cannot be
	// read.
	Registry *events.Schemas
	// Slots hold the messages that are processed at a time; nil = each partition has memory for
	// one.
	Slots *events.Slots
	// Partitions is the largest number of partitions of events that the process owns. It bounds the
	// memory of each; 0 = 1.
	Partitions int
	// MaxAhead is how far the time of an event may be ahead of the clock.
	MaxAhead time.Duration
	// DrainTimeout bounds the work that is finished after a shutdown has begun.
	DrainTimeout time.Duration
	// Quarantine decides when a partition whose work failed is retried. The zero value ends the
	// stage with the error.
	Quarantine supervise.Policy
	// FailFast is for one-shot commands: a plan or a selection that the data do not allow is an
	// error instead of being awaited, and so is a failed partition, because For then clears
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
