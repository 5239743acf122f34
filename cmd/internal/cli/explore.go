package cli

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/selection"
)

// Explore runs the exploration that the configuration asks for over a file. hint is what the user should know about the task that was
// assumed, usually "".
func (r *RowFile) Explore(ctx context.Context, loaded *config.Config) (found *offline.Explored, hint string, err error) {
	if err := r.Complete(&loaded.Stages.Events); err != nil {
		return nil, "", err
	}
	if hint, err = r.Hint(loaded.Stages.Events); err != nil {
		return nil, "", err
	}
	loaded.Stages.Topics.Events = r.path // stands for the topic in the lineage
	found, err = offline.Explore(ctx, loaded.Stages.Plan(), r.Rows("exploring "+r.path), selection.Options{
		Progress: func(p selection.Progress) { r.bar.Show(Choosing(p.Round, p.Rounds, p.Last()), 0, 0) },
	})
	r.bar.Done()
	if err != nil {
		return nil, "", fmt.Errorf("explore %s: %w", r.path, err)
	}
	return found, hint, nil
}
