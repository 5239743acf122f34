package offline

import (
	"context"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/subsample"
)

// Explored is the result of exploring a file.
type Explored struct {
	Set     *wire.FeatureSet
	Report  encoder.Report
	Warning string
	// Tallies are the uses of the values of the columns in the scored rows.
	Tallies []encoder.Tally
	Seconds map[meter.Stage]float64
}

// Explore runs one exploration over the rows of a file. It calls open twice, to plan the
// exploration and to score the rows. s.EventsTopic is the name of the file in the lineage.
func Explore(
	ctx context.Context,
	s calibrate.Settings,
	open func() (events.RowReader, error),
	o selection.Options,
) (*Explored, error) {
	began := time.Now()
	planned, err := calibrate.PlanRows(s, func(add func(arrow.Record) error) error {
		return events.EachBatch(ctx, open, func(_ int64, batch arrow.Record) error { return add(batch) })
	})
	if err != nil {
		return nil, err
	}
	calibrated := time.Now()
	spec := planned.Spec
	core, err := subsample.New(spec, scoring.NewBank(spec.Candidates), spec.Partitions[0], nil)
	if err != nil {
		return nil, err
	}
	err = events.EachBatch(ctx, open, func(offset int64, batch arrow.Record) error {
		return core.Add(offset, []arrow.Record{batch}, nil)
	})
	if err != nil {
		return nil, err
	}
	subsampled := time.Now()
	checkpoint := core.Checkpoint(subsampled)
	sums, lineage := selection.Merge(spec, map[int32]*wire.Checkpoint{0: checkpoint})
	var sample *scoring.Sample
	if rows := core.Samples(); rows != nil {
		sample = selection.NewSample(spec, rows)
	}
	o.Stop = ctx.Err
	set, err := selection.Select(spec, sums, lineage, sample, subsampled, o)
	if err != nil {
		return nil, err
	}
	return &Explored{
		Set: set, Report: planned.Report, Warning: planned.Warning, Tallies: core.Tallies(),
		Seconds: map[meter.Stage]float64{
			meter.StageCalibrate: calibrated.Sub(began).Seconds(),
			meter.StageSubsample: subsampled.Sub(calibrated).Seconds(),
			meter.StageSelection: time.Since(subsampled).Seconds(),
		},
	}, nil
}
