package cli

import (
	"fmt"
	"os"

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
	runtime.Env.Registry = events.NewSchemas(client, runtime.Env.Logger)
	return nil
}
