package stages

import "context"

// Committed returns the next offset of a partition of events that the group of a stage, subsample or featurize, has told
// the broker, -1 where there is none. Whichever process owns the partition told it, a moment ago: it is a courtesy and not
// where the stage would resume.
func (r *Runtime) Committed(ctx context.Context, stage string, partition int) (nextOffset int64, err error) {
	return r.Broker.Committed(ctx, r.group(stage), r.Settings.Topics.Events, partition)
}
