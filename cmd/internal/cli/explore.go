package cli

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/train"
)

// Explore runs the configured exploration over a file, without the rows that split holds out. split
// may be nil. The lineage of the set includes findings on the columns from reading the file.
func (r *RowFile) Explore(
	ctx context.Context,
	loaded *config.Config,
	split *train.FileSplit,
) (*offline.Explored, error) {
	if err := r.Complete(&loaded.Stages.Events); err != nil {
		return nil, err
	}
	loaded.Stages.Topics.Events = r.path // stands for the topic in the lineage
	rows, settings := r.Rows("exploring "+r.path), loaded.Stages.Plan()
	if split != nil {
		rows = offline.Without(split, rows)
		settings.Identity, settings.HeldOutFraction = split.Rule.Identity, 0
	}
	found, err := offline.Explore(ctx, settings, rows, selection.Options{
		Progress: func(p selection.Progress) { r.bar.Show(Choosing(p.Round, p.Rounds, p.Last()), 0, 0) },
	})
	r.bar.Done()
	if err != nil {
		return nil, fmt.Errorf("explore %s: %w", r.path, err)
	}
	if split != nil {
		found.Set.Lineage.Split, found.Set.Lineage.Copies = &split.Rule, split.Copies
	}
	found.Report.Warnings = append(r.ClassNotes(), found.Report.Warnings...)
	found.Set.Lineage.Columns = r.Columns(found.Set.Lineage.Columns)
	return found, nil
}
