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

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/topics"
)

// Limits of what takes a second on a machine that has nothing else to do.
const (
	restLimit = 10 * time.Minute // for coming to rest, once nobody disturbs the pipeline
	endLimit  = time.Minute      // for the end of a process that was told to; it allows itself less
	nudgesMax = 2
)

// Options say how a plan is run.
type Options struct {
	Programs Programs
	Broker   func(ctx context.Context, dir string) (Broker, error)
	Session  time.Duration // timeout of the consumer groups
	Dir      string        // for logs and data, must exist
	Name     string        // of the pipeline and its topics: another one for each schedule of a broker
	// Nudge, if not 0, is how long the way to rest may take before one more of each program joins, and again after that. Only the
	// embedded broker needs it: a member whose answer to a join found the connection closed is never timed out there, and
	// its partitions wait until somebody else comes or goes.
	Nudge time.Duration
}

// Result is what came of a plan.
type Result struct {
	Faults []string       // what must not be; none = the promises were kept
	Hits   map[string]int // triggers that acted
	Done   map[Kind]int   // actions that were done
	Nudges int            // times that processes joined because the embedded broker had lost sight of a dead one

	Unfinished int // processes that were told to end and could not finish in time, for a stop or a dead broker
	Stats
	Took  time.Duration
	Stall time.Duration // the longest that this process was kept waiting: a machine that stands still pauses everybody
}

// run is a plan that is being run.
type run struct {
	Options
	plan   *Plan
	config string
	loaded *config.Config
	input  *Input
	sets   []*explored // that stand on their topic, by sequence number
	last   string      // id of the set in use at the end
	spoilt bool        // the samples, under mu
	dir    string
	began  time.Time
	broker Broker
	client *kafka.Client
	slots  []*slot
	known  [partitions]struct { // of features, when its end was at next
		next     int64
		messages []feature
	}

	// gate keeps the broker from being killed while an event is sent: the input is to be known exactly.
	gate sync.RWMutex

	giveUp context.CancelFunc // ends the schedule, after a fault

	mu     sync.Mutex
	log    io.Writer
	result Result
}

// Run runs a plan. An error means that it could not be run; what the pipeline did wrong is in the result.
func Run(ctx context.Context, plan *Plan, o Options) (*Result, error) {
	r := &run{Options: o, plan: plan, dir: o.Dir, began: time.Now(), config: filepath.Join(o.Dir, "eerf.yaml")}
	r.result.Hits, r.result.Done = map[string]int{}, map[Kind]int{}
	log, err := os.Create(filepath.Join(o.Dir, "schedule.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r.log = log
	fmt.Fprint(log, plan)
	if r.input, err = NewInput(plan.Input); err != nil {
		return nil, err
	}
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
	t := quickTiming
	t.session, t.heartbeat, t.rebalance = r.Session, r.Session/10, 2*r.Session
	values := keys(r.Name, r.plan, t, r.broker.Addrs())
	if err := writeConfig(r.config, values); err != nil {
		return err
	}
	if r.loaded, err = load(values); err != nil {
		return err
	}
	reading := r.loaded.Kafka
	reading.FetchMaxBytes = 1 << 20 // who checks everything takes little of the machine from those who are checked
	if r.client, err = kafka.New(reading, zap.NewNop()); err != nil {
		return err
	}
	_, err = topics.Create(ctx, r.client, r.loaded.Stages.Topics)
	return err
}

// execute does what the plan says, lets the pipeline come to rest, ends it, and checks what it left.
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
	slots.Go(func() { r.watchMachine(ctx) })
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
		r.note("the plan is through")
		r.nudged(ctx, &slots, r.comeToRest)
	}
	r.closeAll()
	cancel()
	slots.Wait()
	if len(r.result.Faults) > 0 {
		return nil // what is on the topics is not what is in question
	}
	return r.check(outer)
}

// watchMachine notes how late a short sleep ends.
func (r *run) watchMachine(ctx context.Context) {
	const nap = 20 * time.Millisecond
	for {
		began := time.Now()
		if !sleep(ctx, nap) {
			return
		}
		r.mu.Lock()
		r.result.Stall = max(r.result.Stall, time.Since(began)-nap)
		r.mu.Unlock()
	}
}

// nudged runs do and has one more of each program join whenever it takes long, where that is called for.
func (r *run) nudged(ctx context.Context, slots *sync.WaitGroup, do func(context.Context)) {
	waiting, done := context.WithCancel(ctx)
	var nudges sync.WaitGroup
	if r.Nudge > 0 {
		nudges.Go(func() {
			for r.result.Nudges < nudgesMax && sleep(waiting, r.Nudge) {
				r.result.Nudges++
				for name, role := range map[string]Role{"nudge": RoleAll, "nudge-train": RoleTrain} { // of every group
					slot := &slot{run: r, Slot: Slot{Name: name, Role: role}}
					r.slots = append(r.slots, slot)
					slots.Go(func() { slot.keep(ctx) })
				}
			}
		})
	}
	do(ctx)
	done()
	nudges.Wait()
}

// act does one action of the plan; freezes go on in the background.
func (r *run) act(ctx context.Context, a Action, work *sync.WaitGroup) error {
	r.mu.Lock()
	r.result.Done[a.Kind]++
	r.mu.Unlock()
	if a.Kind == ActBroker {
		return r.restartBroker(ctx, a.For)
	}
	for _, s := range r.slots {
		if s.Name != a.Slot {
			continue
		}
		s.with(func(p *process) {
			switch a.Kind {
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

func (r *run) restartBroker(ctx context.Context, away time.Duration) error {
	r.gate.Lock()
	defer r.gate.Unlock()
	r.note("the broker is killed")
	if err := r.broker.Kill(); err != nil {
		return err
	}
	sleep(ctx, away)
	err := r.broker.Restart(context.WithoutCancel(ctx)) // one that is shared is there for the next schedule
	r.note("the broker is back")
	return err
}

// closeAll ends every process in good order, all at once.
func (r *run) closeAll() {
	var ends sync.WaitGroup
	for _, s := range r.slots {
		ends.Go(func() { s.close(endLimit) })
	}
	ends.Wait()
}

// errNotAtRest says that a pipeline does not come to rest.
var errNotAtRest = errors.New("not at rest")
