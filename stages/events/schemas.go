package events

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/internal/bytecache"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/registry"
)

// Fetcher gets schemas from a registry, as [registry.Client] does.
type Fetcher interface {
	Fetch(ctx context.Context, id registry.ID) (registry.Schema, error)
	// Answers returns nil if the registry answers a query that depends on no schema.
	Answers(ctx context.Context) error
}

// Schemas are the schemas of a registry that this process has seen. They are safe for concurrent
// use.
//
// If the registry does not have a schema, the refusal is remembered for a while. If it fails to
// serve an id while it answers other queries, for example for lack of permission, the id counts as
// refused after Patience. Everything else counts as an unavailable registry and is retried,
// including rejected credentials and the refusal of a schema that it served before.
type Schemas struct {
	// Patience is how long an id may fail while the registry answers, two minutes by default. Set
	// it before first use.
	Patience time.Duration
	// Planned, if not nil, returns the newest plan's record of ids. Set it before first use.
	Planned func() []Seen

	from   Fetcher
	logger *zap.Logger
	asking chan struct{} // limits concurrent requests

	mu      sync.Mutex // guards the fields below
	answers bytecache.Cache[formats.SchemaID, answer]
	served  map[formats.SchemaID]bool // ids that the registry had a schema for
	failing map[failure]time.Time     // start of the failure
	away    error                     // error of the last request; nil if it was answered
}

const (
	// SchemasBytes is the maximum memory of [Schemas].
	SchemasBytes = keptAnswers + maxServed*servedBytes + asking*fetchingBytes

	keptAnswers   = 16 << 20
	maxServed     = 1 << 16
	servedBytes   = 48
	asking        = 4
	fetchingBytes = 6 * registry.FetchBytes // a response and its decoded form

	// refusedFor is how long a refusal by the registry is remembered.
	refusedFor = 30 * time.Second
	// defaultPatience equals the patience of stages with a partition that cannot be processed.
	defaultPatience = 2 * time.Minute
)

// NewSchemas returns the schemas of a registry, initially empty.
func NewSchemas(from Fetcher, logger *zap.Logger) *Schemas {
	return &Schemas{
		from:     from,
		logger:   logger,
		asking:   make(chan struct{}, asking),
		answers:  bytecache.Cache[formats.SchemaID, answer]{Most: keptAnswers},
		served:   map[formats.SchemaID]bool{},
		failing:  map[failure]time.Time{},
		Patience: defaultPatience,
	}
}

// answer is the registry's answer for an id: a schema, or the reason for refusing it.
type answer struct {
	id     formats.SchemaID
	schema *formats.Schema
	hash   string // of the schema, even if it is unusable; empty = no schema
	err    error
	at     time.Time
}

// failure identifies a failure: one id, or all ids for lack of permission.
type failure struct {
	forbidden bool
	id        formats.SchemaID
}

func failureOf(id formats.SchemaID, err error) failure {
	if errors.Is(err, registry.ErrForbidden) {
		return failure{forbidden: true}
	}
	return failure{id: id}
}

// answered returns the registry's earlier answer; false if it has not been fetched.
func (s *Schemas) answered(id formats.SchemaID) (answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.answers.Get(id)
	return found, ok && (found.err == nil || time.Since(found.at) < refusedFor)
}

// fetch gets the schema of an id unless it is known. It retries while the registry is unavailable.
// Its only error is the end of ctx: a refusal by the registry is an answer too.
func (s *Schemas) fetch(ctx context.Context, id formats.SchemaID) (answer, error) {
	if known, ok := s.answered(id); ok {
		return known, nil
	}
	found, err := pipeline.Retry(
		ctx,
		s.logger,
		fmt.Sprintf("fetch schema %s from the registry", id),
		func() (answer, error) {
			select {
			case s.asking <- struct{}{}:
				defer func() { <-s.asking }()
			case <-ctx.Done():
				return answer{}, ctx.Err()
			}
			if known, ok := s.answered(id); ok { // fetched meanwhile
				return known, nil
			}
			return s.ask(ctx, id)
		},
	)
	if err != nil {
		return answer{}, fmt.Errorf("schema registry: %w", err)
	}
	return found, nil
}

// ask queries the registry once. An error means that it is unavailable.
func (s *Schemas) ask(ctx context.Context, id formats.SchemaID) (answer, error) {
	schema, err := s.from.Fetch(ctx, registry.ID(id))
	if err == nil {
		return s.keep(answerOf(id, schema)), nil
	}
	switch {
	case errors.Is(err, registry.ErrUnauthorized):
	case s.wasServed(id):
		err = fmt.Errorf("schema %s was served before: %w", id, err)
	case errors.Is(err, registry.ErrNoSchema):
		return s.keep(answer{id: id, err: fmt.Errorf("%w: %w", formats.ErrUnknownSchema, err)}), nil
	default:
		since, probe := s.failsFor(id, err), s.probe(ctx)
		if probe != nil {
			s.recovered(id, err)
		} else if since >= s.Patience {
			s.logger.Error(
				"registry answers but does not serve the schema; setting its messages aside", zap.Stringer("schema", id), zap.Error(err),
			)
			return s.keep(answer{
				id:  id,
				err: fmt.Errorf("%w: schema %s, although the registry answers: %w", formats.ErrUnknownSchema, id, err),
			}), nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = err
	return answer{}, err
}

// answerOf converts a schema for a decoder.
func answerOf(id formats.SchemaID, found registry.Schema) answer {
	var references []formats.Reference
	for _, r := range found.References {
		references = append(references, formats.Reference(r))
	}
	schema := formats.NewSchema(formats.OfRegistry(found.Type), found.Text, references...)
	made := answer{id: id, hash: schema.Hash().String(), schema: schema}
	if !schema.Format.NeedsSchema() {
		schema.Text = "" // not needed for reading messages
	}
	if err := schema.Check(); err != nil {
		made.schema, made.err = nil, err
	}
	return made
}

// keep stores an answer.
func (s *Schemas) keep(a answer) answer {
	a.at = time.Now()
	bytes := int64(0)
	if a.schema != nil {
		bytes = a.schema.Bytes()
	}
	if a.err != nil {
		bytes += int64(len(a.err.Error()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = nil
	s.answers.Put(a.id, a, bytes)
	if a.hash == "" {
		return a
	}
	if len(s.served) >= maxServed {
		clear(s.served)
	}
	s.served[a.id] = true
	delete(s.failing, failure{id: a.id})
	return a
}

// wasServed reports whether this process or the newest plan has had a schema for the id.
func (s *Schemas) wasServed(id formats.SchemaID) bool {
	s.mu.Lock()
	served := s.served[id]
	s.mu.Unlock()
	if served || s.Planned == nil {
		return served
	}
	for _, seen := range s.Planned() {
		if idOf(seen) == id {
			return seen.Hash != ""
		}
	}
	return false
}

// probe returns nil if the registry answers: by serving a known schema, or with any answer if none
// is known.
func (s *Schemas) probe(ctx context.Context) error {
	if id, ok := s.anyServed(); ok {
		_, err := s.from.Fetch(ctx, registry.ID(id))
		return err
	}
	return s.from.Answers(ctx)
}

func (s *Schemas) anyServed() (formats.SchemaID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.served {
		return id, true
	}
	if s.Planned == nil {
		return formats.SchemaID{}, false
	}
	for _, seen := range s.Planned() {
		if seen.Hash != "" {
			return idOf(seen), true
		}
	}
	return formats.SchemaID{}, false
}

// failsFor returns how long an id has failed in this way.
func (s *Schemas) failsFor(id formats.SchemaID, err error) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	what := failureOf(id, err)
	since, known := s.failing[what]
	if !known {
		if len(s.failing) >= maxServed {
			clear(s.failing)
		}
		since = time.Now()
		s.failing[what] = since
	}
	return time.Since(since)
}

// recovered resets the failure times of the ids, because the registry is unavailable for all of
// them.
func (s *Schemas) recovered(id formats.SchemaID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.failing, failureOf(id, err))
}

// prepared is the answer for the message that a Reader is about to read. It keeps the answer,
// because other readers may evict it from the schemas of the process.
type prepared struct{ answer }

// Schema implements [formats.Registry] for the prepared id.
func (p *prepared) Schema(id formats.SchemaID) (*formats.Schema, error) {
	if p.id != id || p.schema == nil && p.err == nil {
		return nil, fmt.Errorf("%w: %s", formats.ErrUnknownSchema, id)
	}
	return p.schema, p.err
}

// Away returns why the registry did not answer the last request, or nil.
func (s *Schemas) Away() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away
}
