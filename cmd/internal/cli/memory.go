package cli

import (
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/internal/memlimit"
)

// limitMemory sets the soft memory limit of the Go runtime from the configuration, the environment
// or the container.
func limitMemory(loaded *config.Config) error {
	limit, err := memlimit.Find(loaded.Memory.Limit)
	if err != nil {
		return err
	}
	limit.Apply()
	return nil
}

// logMemory logs the memory limit and the worst-case need of a service, and warns if the
// container's limit is smaller.
func logMemory(logger *zap.Logger, plan config.MemoryPlan) {
	logger.Info("memory", zap.Int64("limit_bytes", plan.Limit), zap.String("source", plan.Source),
		zap.Int64("soft_limit_bytes", plan.Soft),
		zap.Int64("worst_case_bytes", plan.Bytes),
		zap.Int("partitions", plan.Partitions))
	if over := plan.Over(); over != "" {
		logger.Warn("worst-case memory need exceeds the limit", zap.String("detail", over))
	}
}
