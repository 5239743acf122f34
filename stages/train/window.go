package train

import (
	"context"
	"math"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// outgrown reports whether the sums hold twice the window. They are then rebuilt from the beginning
// of the window, because rows cannot be subtracted from sums without losing digits. Each row is
// therefore read twice.
func (r *Runner) outgrown() bool {
	rows := int64(0)
	for _, f := range r.features {
		rows += f.rows
	}
	return r.Config.Window > 0 && rows > 2*r.Config.Window
}

// starts finds the approximate beginning of the window by partition, nil if the window is
// unlimited. Each partition has a share of the window in proportion to its messages.
func (r *Runner) starts(ctx context.Context, setID string, partitions int) ([]int64, error) {
	if r.Config.Window == 0 {
		return nil, nil
	}
	end := make([]int64, partitions)
	first, err := r.eachStart(ctx, partitions, func(ctx context.Context, number int) (first int64, err error) {
		err = pipeline.Try(ctx, r.Env.Logger, "look up offsets of "+r.Env.Topics.Features, func() (err error) {
			first, end[number], err = r.Env.Broker.Offsets(ctx, r.Env.Topics.Features, number)
			return err
		})
		return first, err
	})
	if err != nil {
		return nil, err
	}
	messages := int64(0)
	for number := range partitions {
		messages += end[number] - max(first[number], 0)
	}
	return r.eachStart(ctx, partitions, func(ctx context.Context, number int) (int64, error) {
		if first[number] == pipeline.FirstOffset {
			return pipeline.FirstOffset, nil
		}
		share := float64(end[number]-first[number]) / float64(max(messages, 1))
		return r.startOf(ctx, setID, number, first[number], end[number], math.Ceil(share*float64(r.Config.Window)))
	})
}

// nearest is the number of messages at the end of a partition where the search for the window
// begins. Each stretch before that is four times as long.
const nearest = 64

// startOf goes back from the end of a partition to find enough rows of a set. It estimates the rows
// in a stretch from one fetch at its beginning, so that the window is not read twice.
func (r *Runner) startOf(ctx context.Context, setID string, number int, first, end int64, rows float64) (int64, error) {
	next := end
	for length := int64(nearest); next > first && rows > 0; length *= 4 {
		from := max(first, next-length)
		perOffset, err := r.density(ctx, setID, number, from, next)
		if err != nil {
			return 0, err
		}
		found := perOffset * float64(next-from)
		if found >= rows {
			return max(from, next-int64(math.Ceil(rows/perOffset))), nil
		}
		rows, next = rows-found, from
	}
	return next, nil
}

// density returns the number of rows of a set per offset in the first messages of a stretch.
func (r *Runner) density(ctx context.Context, setID string, number int, from, next int64) (float64, error) {
	reader := pipeline.NewReader(r.Env.Broker, r.Env.Logger, r.Env.Topics.Features, number,
		pipeline.ReadOptions{From: from, Until: next})
	defer reader.Close()
	rows := int64(0)
	for fetched, err := range reader.Fetches(ctx) {
		if err != nil {
			return 0, err
		}
		for _, rec := range fetched.Records {
			part, err := wire.ParseFeatureHeaders(rec.Headers)
			if err == nil && part.FeatureSetID == setID {
				rows += int64(part.RowCount)
			}
		}
		if len(fetched.Records) > 0 {
			break
		}
	}
	return float64(rows) / float64(max(reader.NextOffset()-from, 1)), nil
}

// eachStart calls find for every partition, a few at a time. A partition for which it fails, or
// that has no leader, begins with its first offset. The supervised read then deals with the
// failure.
func (r *Runner) eachStart(
	ctx context.Context,
	partitions int,
	find func(ctx context.Context, number int) (int64, error),
) ([]int64, error) {
	starts := make([]int64, partitions)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(Lanes)
	for number := range partitions {
		group.Go(func() (err error) {
			bounded, stop := r.leaders.During(ctx, func() bool { return r.leaders.IsGone(number) })
			defer stop()
			starts[number], err = find(bounded, number)
			if err == nil || ctx.Err() != nil || r.stage.EndsProcess(err) {
				return err
			}
			starts[number] = pipeline.FirstOffset
			r.Env.Logger.Warn("looking up the beginning of train.window failed; reading the partition from its first offset",
				zap.Int("partition", number), zap.Error(err))
			return nil
		})
	}
	return starts, group.Wait()
}
