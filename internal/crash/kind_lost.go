package crash

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline/kafka"
)

// KindLost has a broker that restarts without its last records, in all topics.
const KindLost Kind = "lost"

// The acts of KindLost.
const (
	ActSave Act = "save" // the broker is down for a moment, and its data is copied
	ActLose Act = "lose" // the broker is down and restarts with the copy: later records are lost
)

// drawLost copies the broker's data at one time, once or twice, and restores it at a later time.
func drawLost(d drawer, p *Plan) {
	at := d.between(d.session/2, p.Produce/2)
	for range 1 + d.IntN(2) {
		later := at + d.between(d.session/2, d.session*3/2)
		p.Actions = append(p.Actions,
			Action{At: at, Act: ActSave, For: 50 * time.Millisecond},
			Action{At: later, Act: ActLose, For: d.between(50*time.Millisecond, d.session)})
		at = later + d.between(d.session/4, d.session)
	}
}

// OnKafka reports whether schedules of the kind run on Apache Kafka, which cannot be made to lose
// acknowledged records.
func (k Kind) OnKafka() bool { return k != KindLost }

// forgetful is a broker that can return to earlier data while it is down.
type forgetful interface {
	Save() error
	// Forget restores the last copy, and returns a broker with the replaced data.
	Forget(context.Context) (Broker, error)
}

// actLost performs the acts of the kind.
func actLost(ctx context.Context, r *run, a Action) error {
	broker, ok := r.broker.(forgetful)
	if !ok {
		return errors.New("this kind needs the embedded broker")
	}
	if a.Act == ActSave && !r.awaitASet(ctx) || a.Act == ActLose && !r.saved {
		return nil
	}
	r.gate.Lock()
	defer r.gate.Unlock()
	if err := r.broker.Kill(); err != nil {
		return err
	}
	do := broker.Save
	if a.Act == ActLose {
		do = func() error { return r.forget(ctx, broker) }
	}
	if err := do(); err != nil {
		return err
	}
	sleep(ctx, a.For)
	if err := r.broker.Restart(ctx); err != nil {
		return err
	}
	r.note("broker restarted")
	if a.Act == ActSave {
		r.saved = true
		return nil
	}
	for partition := range r.known {
		r.known[partition].next = -1
	}
	for { // a restarted broker may refuse requests for a moment
		err := r.beginLog(ctx, "")
		if err == nil || !sleep(ctx, 100*time.Millisecond) {
			r.note("remaining events: %v (%v)", r.events().sent, err)
			return err
		}
	}
}

// firstSetLimit bounds the wait for the first feature set.
const firstSetLimit = 20 * time.Second

// awaitASet waits for the first feature set, and reports whether it exists. If explorations loses
// its spec after that, no exploration starts on schedule.
func (r *run) awaitASet(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, firstSetLimit)
	defer cancel()
	for {
		if sets, err := r.featureSets(ctx, r.client); err == nil && len(sets) > 0 {
			return true
		}
		if !sleep(ctx, 100*time.Millisecond) {
			r.note("no feature set yet; nothing is lost")
			return false
		}
	}
}

// forget makes a broker lose its last records, and remembers the feature sets among them, which
// features may name.
func (r *run) forget(ctx context.Context, broker forgetful) error {
	lost, err := broker.Forget(ctx)
	if err != nil {
		return err
	}
	defer lost.Close()
	settings := r.loaded.Kafka
	settings.Brokers = lost.Addrs()
	client, err := kafka.New(settings, zap.NewNop())
	if err != nil {
		return err
	}
	sets, err := r.featureSets(ctx, client)
	if err == nil {
		r.lost = merged(r.lost, sets)
	}
	return errors.Join(err, client.Close())
}
