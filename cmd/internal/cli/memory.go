package cli

import (
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/internal/memlimit"
)

// limitMemory sets the soft limit of the Go runtime from the configuration, the environment or the container.
func limitMemory(loaded *config.Config) error {
	limit, err := memlimit.Find(loaded.Memory.Limit)
	if err != nil {
		return err
	}
	limit.Apply()
	return nil
}

// logMemory logs what a service may take and might need, and warns if the container gives less.
func logMemory(logger *zap.Logger, plan config.MemoryPlan) {
	logger.Info("memory", zap.Int64("limit_bytes", plan.Limit), zap.String("source", plan.Source),
		zap.Int64("soft_limit_bytes", plan.Soft), zap.Int64("worst_case_bytes", plan.Bytes), zap.Int("partitions", plan.Partitions))
	if over := plan.Over(); over != "" {
		logger.Warn("memory may not suffice in the worst case", zap.String("detail", over))
	}
}
