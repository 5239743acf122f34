package cli

import (
	"context"
	"fmt"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/internal/memlimit"
	"github.com/eerf-stream/eerf/stages/calibrate"
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
	settings.MaxMessageBytes = 0 // nothing becomes a message
	if err := ownMemory(&settings.Exploration, loaded.Memory.Limit); err != nil {
		return nil, err
	}
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

// memoryShare is the divisor of the process's memory that the sampled rows of a file, or the
// candidates, may take.
const memoryShare = 4

// ownMemory raises the default memory of an exploration to a share of the process's: unlike a
// service, a command on a file does nothing else.
func ownMemory(c *calibrate.Config, configured int64) error {
	usual := calibrate.Default()
	limit, err := memlimit.Find(configured)
	if err != nil {
		return err
	}
	bytes := limit.Bytes
	if bytes == 0 {
		bytes = memlimit.Installed()
	}
	if c.SampleMemory == usual.SampleMemory {
		c.SampleMemory = max(c.SampleMemory, bytes/memoryShare)
	}
	if c.CandidateMemory == usual.CandidateMemory {
		c.CandidateMemory = max(c.CandidateMemory, bytes/memoryShare)
	}
	return nil
}
