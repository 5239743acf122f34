package subsample

import "time"

// Config says when score sums are saved.
type Config struct {
	CheckpointRows     int64         `key:"checkpoint_rows" unit:"rows" doc:"rows read from a partition between two checkpoints, at most"`
	CheckpointInterval time.Duration `key:"checkpoint_interval" unit:"duration" doc:"time between two checkpoints of a partition, at most"`
}

// Default is what an empty configuration says.
func Default() Config { return Config{CheckpointRows: 100_000, CheckpointInterval: 10 * time.Second} }
