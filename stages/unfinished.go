package stages

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"go.uber.org/zap"
)

// ErrUnfinished says that a process was told to stop and could not finish in time what it had in hand. Nothing is lost: what
// is not saved is done again after the next start.
var ErrUnfinished = errors.New("work in hand was not finished within shutdown.drain_timeout and will be done again")

// unfinished gathers what a process that is to end leaves behind.
type unfinished struct {
	mu     sync.Mutex
	ending <-chan struct{} // closed when the process is told to stop; nil before it runs
	parts  []string
}

// leaves logs that a partition ended with work in hand. At the end of a process it will be part of its error; where a partition
// was taken away, its next owner goes on from what is saved.
func (u *unfinished) leaves(logger *zap.Logger, stage string, partition int, err error) {
	logger.Warn("work in hand is not saved and will be done again", zap.Error(err))
	u.mu.Lock()
	defer u.mu.Unlock()
	select {
	case <-u.ending:
		u.parts = append(u.parts, fmt.Sprintf("%s %d", stage, partition))
	default:
	}
}

// err is an ErrUnfinished that names the partitions, or nil.
func (u *unfinished) err() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.parts) == 0 {
		return nil
	}
	return fmt.Errorf("%w: partitions %s", ErrUnfinished, strings.Join(u.parts, ", "))
}
