package cli

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/selection"
)

// Explore runs the configured exploration over a file. The lineage of the set includes what reading the file has shown of its columns.
func (r *RowFile) Explore(ctx context.Context, loaded *config.Config) (*offline.Explored, error) {
	if err := r.Complete(&loaded.Stages.Events); err != nil {
		return nil, err
	}
	loaded.Stages.Topics.Events = r.path // in place of the topic in the lineage
	found, err := offline.Explore(ctx, loaded.Stages.Plan(), r.Rows("exploring "+r.path), selection.Options{
		Progress: func(p selection.Progress) { r.bar.Show(Choosing(p.Round, p.Rounds, p.Last()), 0, 0) },
	})
	r.bar.Done()
	if err != nil {
		return nil, fmt.Errorf("explore %s: %w", r.path, err)
	}
	found.Set.Lineage.Columns = r.Columns(found.Set.Lineage.Columns)
	return found, nil
}
