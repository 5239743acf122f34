package formats

import (
	"fmt"
	"sync"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/internal/bytecache"
)

// Plans caches the compiled and the refused schemas of several decoders, within [PlansBytes]. It is
// safe for concurrent use.
type Plans struct {
	mu        sync.Mutex // guards cache
	cache     bytecache.Cache[planKey, compiled]
	compiling sync.Mutex // serialises compilation, which bounds its memory
}

// PlansBytes is the maximum memory of [Plans].
const PlansBytes = keptPlansBytes + compilingBytes

const (
	keptPlansBytes = 48 << 20
	// compilingBytes is the maximum memory for compiling a schema; TestCompilingIsBounded measures
	// it.
	compilingBytes = 64 << 20
)

// NewPlans returns plans for decoders to share.
func NewPlans() *Plans {
	return &Plans{cache: bytecache.Cache[planKey, compiled]{Most: keptPlansBytes}}
}

// planKey holds everything that determines a plan.
type planKey struct {
	schema, wanted Hash
	message        string // encoded message indexes, which select the type within the schema
	maxColumns     int
}

// compiled is a plan, or the error of a refused schema.
type compiled struct {
	plan plan
	err  error
}

// plan is a compiled schema. It is immutable.
type plan interface {
	columnsOf() []planned
	heldBytes() int64
}

// planCost is the minimum memory of a plan or a refusal.
const planCost = 512

// of returns the plan for a key. It calls compile if the plan is not cached.
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

const parserFailed = "schema parser panicked"

// guarded calls compile and turns a panic of a parser library into an error.
func guarded(compile func() (plan, error)) (made plan, err error) {
	defer func() {
		if p := recover(); p != nil {
			made, err = nil, arrowio.Wrap(ErrBadSchema, "%s: %s", parserFailed, arrowio.Quote(fmt.Sprint(p)))
		}
	}()
	return compile()
}

// planner looks up the plans of the messages of one format.
type planner struct {
	given      *Schema // for messages that name no schema; nil = not configured
	plans      *Plans
	wanted     *wanted
	maxColumns int
	compile    func(s *Schema, message string, w *wanted, maxColumns int) (plan, error)

	// The last plan, kept if it is small, with its key.
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
		return nil, arrowio.Wrap(
			ErrUnknownSchema,
			"message names no schema; set events.schema, or registry.url for messages that name one",
		)
	}
	return p.given, nil
}

// of returns the plan for a message with the given encoded message indexes.
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

// effort counts the steps of compiling a schema before they are taken, because even a refused
// schema takes time.
type effort struct{ left int64 }

// maxSteps bounds the steps. A step takes about 0.1 µs; a token of the text counts as eight.
const maxSteps = 1 << 20

const tokenSteps = 8

func (s *effort) take(n int64) error {
	if s.left -= n; s.left < 0 {
		return arrowio.Wrap(ErrBadSchema, "names and nested types take more than %d steps to compile", maxSteps)
	}
	return nil
}
