package subsample

import "time"

// Config sets how often score sums are saved.
type Config struct {
	CheckpointRows     int64         `key:"checkpoint_rows" unit:"rows" range:"1,1000000000000" doc:"most rows read from a partition between two checkpoints"`
	CheckpointInterval time.Duration `key:"checkpoint_interval" unit:"duration" range:"1ms,8760h" doc:"longest time between two checkpoints of a partition"`
}

// Default returns the default configuration.
func Default() Config { return Config{CheckpointRows: 100_000, CheckpointInterval: 10 * time.Second} }
