package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/topics"
)

// Limits for steps that take a second on an idle machine.
const (
	restLimit = 10 * time.Minute // for becoming idle after the plan
	endLimit  = time.Minute      // for an orderly exit; the process itself allows less
	nudgesMax = 2
)

// Options are the environment of a plan.
type Options struct {
	Program string // featurizer, with failpoints
	Broker  func(ctx context.Context, dir string) (Broker, error)
	Session time.Duration // timeout of the consumer groups
	Dir     string        // for logs and data, must exist
	Name    string        // of the pipeline and its topics, different for each schedule on a broker
	// Nudge, if not 0, is the time after which another member of every group joins if the pipeline
	// is not idle, repeatedly. Only the embedded broker needs it: there, a member whose connection
	// is closed when a join is answered never times out, and its partitions wait until another
	// member joins or leaves.
	Nudge time.Duration
}

// Result is the outcome of a plan.
type Result struct {
	Faults []string       // violations; empty = all promises were kept
	Hits   map[string]int // triggers that fired
	Done   map[Act]int    // performed actions
	Stats
	Took time.Duration
}

// run is the state of a running plan.
type run struct {
	Options
	plan     *Plan
	settings []string // the configuration as arguments
	loaded   *config.Config
	logs     []*eventLog                 // logs of events, the present one last; changes while gate is held
	sets     []*explored                 // by sequence number, on their topic or lost with it
	lost     map[string]*wire.FeatureSet // by id, on their topic before it was recreated or truncated
	last     string                      // id of the current set at the end
	saved    bool                        // a copy of the broker's data exists
	dir      string
	began    time.Time
	broker   Broker
	client   *kafka.Client
	slots    []*slot
	resumed  [partitions]int      // events sent before features was recreated; it must contain the later ones
	known    [partitions]struct { // contents of features up to next
		next     int64
		messages []feature
	}

	// gate prevents a restart of the broker and a recreation of events while an event is sent,
	// because the input must be known exactly.
	gate sync.RWMutex

	giveUp context.CancelFunc // ends the schedule after a fault

	mu     sync.Mutex
	log    io.Writer
	result Result
}

// Run runs a plan. An error means that the plan could not be run; faults of the pipeline are in the
// result.
func Run(ctx context.Context, plan *Plan, o Options) (*Result, error) {
	r := &run{Options: o, plan: plan, dir: o.Dir, began: time.Now()}
	r.result.Hits, r.result.Done = map[string]int{}, map[Act]int{}
	r.lost = map[string]*wire.FeatureSet{}
	log, err := os.Create(filepath.Join(o.Dir, "schedule.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r.log = log
	fmt.Fprint(log, plan)
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	defer r.broker.Close()
	defer func() { _ = r.client.Close() }()
	if err := r.execute(ctx); err != nil {
		return nil, err
	}
	r.result.Took = time.Since(r.began).Round(time.Millisecond)
	return &r.result, nil
}

// prepare starts the broker and makes the topics.
func (r *run) prepare(ctx context.Context) (err error) {
	if r.broker, err = r.Broker(ctx, r.dir); err != nil {
		return err
	}
	values := keys(r.Name, r.plan, r.Session, r.broker.Addrs())
	r.settings = arguments(values)
	if r.loaded, err = config.Load(nil, "", values); err != nil {
		return err
	}
	reading := r.loaded.Kafka
	reading.FetchMaxBytes = 1 << 20 // leaves memory to the processes under test
	if r.client, err = kafka.New(reading, zap.NewNop()); err != nil {
		return err
	}
	if prepare := r.plan.Kind.rules().topics; prepare != nil {
		if err := prepare(ctx, r); err != nil {
			return err
		}
	}
	if _, err := topics.Create(ctx, r.client, r.loaded.Stages.Topics); err != nil {
		return err
	}
	return r.beginLog(ctx, "")
}

// execute performs the plan, waits until the pipeline is idle, stops it, and checks the result.
func (r *run) execute(outer context.Context) error {
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	r.began, r.giveUp = time.Now(), cancel
	disturbed, calm := context.WithCancel(ctx)
	var slots, work sync.WaitGroup
	for _, s := range r.plan.Slots {
		slot := &slot{run: r, Slot: s}
		r.slots = append(r.slots, slot)
		slots.Go(func() { slot.keep(ctx) })
	}
	defer slots.Wait()
	defer cancel()
	defer r.closeAll()
	var sent error
	work.Go(func() { sent = r.produceMain(ctx) })
	for _, a := range r.plan.Actions {
		if !sleep(ctx, time.Until(r.began.Add(a.At))) {
			break
		}
		if err := r.act(disturbed, a, &work); err != nil {
			calm()
			return err
		}
	}
	work.Wait()
	calm()
	if sent != nil && ctx.Err() == nil {
		return sent
	}
	if ctx.Err() == nil {
		r.note("plan finished")
		r.comeToRest(ctx, &slots)
	}
	r.closeAll()
	cancel()
	slots.Wait()
	if len(r.result.Faults) > 0 {
		return nil // the contents of the topics no longer matter
	}
	return r.check(outer)
}

// comeToRest waits until everything is processed. With Options.Nudge, further members join if that
// takes long.
func (r *run) comeToRest(ctx context.Context, slots *sync.WaitGroup) {
	waiting, done := context.WithCancel(ctx)
	var nudges sync.WaitGroup
	if r.Nudge > 0 {
		nudges.Go(func() {
			for n := 0; n < nudgesMax && sleep(waiting, r.Nudge); n++ {
				for name, role := range map[string]Role{"nudge": RoleAll, "nudge-train": RoleTrain} { // one per group
					slot := &slot{run: r, Slot: Slot{Name: name, Role: role}}
					r.slots = append(r.slots, slot)
					slots.Go(func() { slot.keep(ctx) })
				}
			}
		})
	}
	r.settle(ctx)
	done()
	nudges.Wait()
}

// act performs an action of the plan. Freezes continue in the background.
func (r *run) act(ctx context.Context, a Action, work *sync.WaitGroup) error {
	r.mu.Lock()
	r.result.Done[a.Act]++
	r.mu.Unlock()
	switch a.Act {
	case ActBroker:
		return r.restartBroker(ctx, a.For)
	case ActKill, ActFreeze, ActLeave:
	default:
		r.note("%s", a.Act)
		return r.plan.Kind.rules().act(ctx, r, a)
	}
	for _, s := range r.slots {
		if s.Name != a.Slot {
			continue
		}
		s.with(func(p *process) {
			switch a.Act {
			case ActKill:
				r.note("%s is killed", s.Name)
				p.kill()
			case ActFreeze:
				work.Go(func() { s.freeze(ctx, p, a.For, true) })
			case ActLeave:
				s.terminate(p)
			}
		})
	}
	return nil
}

func (r *run) restartBroker(ctx context.Context, downtime time.Duration) error {
	r.gate.Lock()
	defer r.gate.Unlock()
	r.note("broker killed")
	if err := r.broker.Kill(); err != nil {
		return err
	}
	sleep(ctx, downtime)
	err := r.broker.Restart(context.WithoutCancel(ctx)) // the next schedule may share it
	r.note("broker restarted")
	return err
}

// closeAll stops all processes in parallel.
func (r *run) closeAll() {
	var ends sync.WaitGroup
	for _, s := range r.slots {
		ends.Go(func() { s.close(endLimit) })
	}
	ends.Wait()
}

// errNotAtRest means that the pipeline does not become idle.
var errNotAtRest = errors.New("not at rest")
