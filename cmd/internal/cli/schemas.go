package cli

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline/registry"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/events"
)

// useSchemas gives a process the schemas of its events, from the configured file and the registry.
func useSchemas(loaded *config.Config, runtime *stages.Process) error {
	c := loaded.Stages.Events
	if c.Schema != "" {
		text, err := os.ReadFile(c.Schema)
		if err == nil {
			err = formats.CheckSchema(c.Format, string(text))
		}
		if err != nil {
			return fmt.Errorf("events.schema: %w", err)
		}
		runtime.Schema = string(text)
	}
	if len(loaded.Registry.URL) == 0 {
		return nil
	}
	client, err := registry.New(loaded.Registry)
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	runtime.Registry = events.NewSchemas(client, runtime.Logger)
	return nil
}

// CheckWritten refuses formats in which rows cannot be written, at all or with this configuration.
func CheckWritten(format string, c registry.Config) error {
	switch f := formats.Format(format); {
	case !slices.Contains(formats.Written(), f):
		return Usagef("--format %q: expected one of %s (the format of the file is --data-format)", format, formats.Join(formats.Written()))
	case f.NeedsSchema() && len(c.URL) == 0:
		return Usagef("--format %s: readers need the schema from a Schema Registry: give --registry or registry.url", f)
	}
	return nil
}

// Registrar registers the schemas of messages to a topic; nil = no registry.
func Registrar(c registry.Config, topic string) (events.Register, error) {
	if len(c.URL) == 0 {
		return nil, nil
	}
	client, err := registry.New(c)
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	return func(ctx context.Context, f formats.Format, text string) (int, error) {
		return client.Register(ctx, topic+"-value", registry.Schema{Type: f.Registered(), Text: text})
	}, nil
}
