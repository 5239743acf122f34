package events

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/registry"
)

// Fetcher gets schemas from a registry, as [registry.Client] does.
type Fetcher interface {
	Fetch(ctx context.Context, id uint32) (registry.Schema, error)
}

// Schemas are the schemas of a registry that this process has seen. They are safe for concurrent use.
type Schemas struct {
	from   Fetcher
	logger *zap.Logger

	mu      sync.Mutex // guards the fields below
	answers map[uint32]answer
	away    error // error of the last request; nil if it was answered
}

const (
	maxSchemas = 1024
	// refusedFor is how long a refusal of the registry is remembered.
	refusedFor = 30 * time.Second
)

// NewSchemas returns the schemas of a registry, none of them fetched yet.
func NewSchemas(from Fetcher, logger *zap.Logger) *Schemas {
	return &Schemas{from: from, logger: logger, answers: map[uint32]answer{}}
}

// answer is what the registry says about an id: a schema, or why it has none.
type answer struct {
	id     uint32
	schema *formats.Schema
	err    error
	at     time.Time
}

// answered returns the registry's earlier answer; false means that it has not been fetched.
func (s *Schemas) answered(id uint32) (answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.answers[id]
	return found, ok && (found.err == nil || time.Since(found.at) < refusedFor)
}

// fetch gets the schema of an id unless it is known. It retries while the registry is away, until ctx ends, which is
// its only error: a schema that the registry refuses is an answer too.
func (s *Schemas) fetch(ctx context.Context, id uint32) (answer, error) {
	if known, ok := s.answered(id); ok {
		return known, nil
	}
	found, err := pipeline.Retry(ctx, s.logger, fmt.Sprintf("fetch schema %d from the registry", id), func() (registry.Schema, error) {
		found, err := s.from.Fetch(ctx, id)
		no := errors.Is(err, registry.ErrNoSchema)
		s.note(err, no)
		if no {
			err = pipeline.Permanent(err)
		}
		return found, err
	})
	if err != nil && !errors.Is(err, registry.ErrNoSchema) {
		return answer{}, fmt.Errorf("schema registry: %w", err)
	}
	made := answer{id: id, at: time.Now()}
	if err != nil {
		made.err = fmt.Errorf("%w: %w", formats.ErrUnknownSchema, err)
	} else {
		made.schema = asFormat(found)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) >= maxSchemas {
		clear(s.answers)
	}
	s.answers[id] = made
	return made, nil
}

// prepared is the answer for the message that a Reader is about to read. It keeps the answer, because other readers may
// push it out of the schemas of the process.
type prepared struct{ answer }

// Schema implements [formats.Registry] for the id that was prepared.
func (p *prepared) Schema(id uint32) (*formats.Schema, error) {
	if p.id != id || p.schema == nil && p.err == nil {
		return nil, fmt.Errorf("%w: %d", formats.ErrUnknownSchema, id)
	}
	return p.schema, p.err
}

// note records whether the registry answered.
func (s *Schemas) note(err error, answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if answered {
		err = nil
	}
	s.away = err
}

// Away returns why the registry did not answer the last request, or nil.
func (s *Schemas) Away() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away
}

// asFormat converts a schema for a decoder.
func asFormat(s registry.Schema) *formats.Schema {
	made := &formats.Schema{Format: formats.OfRegistry(s.Type), Text: s.Text}
	for _, r := range s.References {
		made.References = append(made.References, formats.Reference(r))
	}
	return made
}
