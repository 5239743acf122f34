package formats

import (
	"fmt"
	"sync"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/internal/bytecache"
)

// Plans are the compiled schemas of several decoders, and the schemas that cannot be used, within [PlansBytes]. They are
// safe for concurrent use.
type Plans struct {
	mu        sync.Mutex // guards cache
	cache     bytecache.Cache[planKey, compiled]
	compiling sync.Mutex // one schema is compiled at a time: it bounds the memory for that
}

// PlansBytes is the most memory that [Plans] take.
const PlansBytes = keptPlansBytes + compilingBytes

const (
	keptPlansBytes = 48 << 20
	// compilingBytes is the most that compiling a schema holds at a time; TestCompilingIsBounded measures it.
	compilingBytes = 64 << 20
)

// NewPlans returns plans for decoders to share.
func NewPlans() *Plans {
	return &Plans{cache: bytecache.Cache[planKey, compiled]{Most: keptPlansBytes}}
}

// planKey is everything that a plan depends on.
type planKey struct {
	schema, wanted Hash
	message        string // bytes that name the type of a message within its schema
	maxColumns     int
}

// compiled is a plan or, with an error, why there is none.
type compiled struct {
	plan plan
	err  error
}

// plan is a compiled schema. It is immutable.
type plan interface {
	columnsOf() []planned
	heldBytes() int64
}

// planCost is the least that a plan or a refusal takes.
const planCost = 512

// of returns the plan for a key, made by compile if it is not known.
func (p *Plans) of(key planKey, compile func() (plan, error)) (plan, error) {
	if found, ok := p.known(key); ok {
		return found.plan, found.err
	}
	p.compiling.Lock()
	defer p.compiling.Unlock()
	if found, ok := p.known(key); ok {
		return found.plan, found.err
	}
	made, err := guarded(compile)
	bytes := int64(planCost + len(key.message))
	if err != nil {
		made, bytes = nil, bytes+int64(len(err.Error()))
	} else {
		bytes += made.heldBytes()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache.Put(key, compiled{made, err}, bytes)
	return made, err
}

func (p *Plans) known(key planKey) (compiled, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cache.Get(key)
}

const parserFailed = "its parser failed"

// guarded compiles. Libraries parse schemas, and one may panic.
func guarded(compile func() (plan, error)) (made plan, err error) {
	defer func() {
		if p := recover(); p != nil {
			made, err = nil, arrowio.Wrap(ErrBadSchema, "%s: %s", parserFailed, arrowio.Quote(fmt.Sprint(p)))
		}
	}()
	return compile()
}

// planner is how a reader of one format gets the plans of its messages.
type planner struct {
	given      *Schema // for messages that name none; nil = there is none
	plans      *Plans
	wanted     *wanted
	maxColumns int
	compile    func(s *Schema, message string, w *wanted, maxColumns int) (plan, error)

	// The last plan, of which a decoder may keep one that is small, and what it is of.
	last    plan
	schema  Hash
	message string
}

func newPlanner(f Format, o *Options, w *wanted, compile func(*Schema, string, *wanted, int) (plan, error)) planner {
	p := planner{plans: o.Plans, wanted: w, maxColumns: o.Limits.MaxColumns, compile: compile}
	if o.Schema != "" {
		p.given = NewSchema(f, o.Schema)
	}
	return p
}

// schemaOf returns the schema of a message.
func (p *planner) schemaOf(m message) (*Schema, error) {
	switch {
	case m.schema != nil:
		return m.schema, nil
	case p.given == nil:
		return nil, arrowio.Wrap(ErrUnknownSchema, "the message names none: set events.schema, or registry.url for messages that name one")
	}
	return p.given, nil
}

// of returns the plan for a message whose type within the schema these bytes name.
func (p *planner) of(s *Schema, message []byte) (plan, error) {
	hash := s.Hash()
	if p.last != nil && hash == p.schema && string(message) == p.message {
		return p.last, nil
	}
	if string(message) != p.message {
		p.message = string(message)
	}
	p.last, p.schema = nil, hash
	key := planKey{schema: hash, message: p.message, maxColumns: p.maxColumns}
	if p.wanted != nil {
		key.wanted = p.wanted.hash
	}
	found, err := p.plans.of(key, func() (plan, error) { return p.compile(s, key.message, p.wanted, p.maxColumns) })
	if err == nil && found.heldBytes() <= restingPlan {
		p.last = found
	}
	return found, err
}

// effort counts what is done for a schema, before it is done: compiling takes time for it, also where it gives nothing.
type effort struct{ left int64 }

// maxSteps bounds them. A step takes about a tenth of a microsecond, or a token of its text eight.
const maxSteps = 1 << 20

const tokenSteps = 8

func (s *effort) take(n int64) error {
	if s.left -= n; s.left < 0 {
		return arrowio.Wrap(ErrBadSchema, "its names and nested types take more than %d steps", maxSteps)
	}
	return nil
}
