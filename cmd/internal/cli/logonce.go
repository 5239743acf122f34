package cli

import (
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/eerf-stream/eerf/pipeline"
)

// retriesOnce returns a logger that mentions retries only once for each operation. If the command gives up, its error says the rest.
func retriesOnce(logger *zap.Logger) *zap.Logger {
	return logger.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core { return &onceCore{core, new(sync.Map)} }))
}

// onceCore drops repeated entries about retries.
type onceCore struct {
	zapcore.Core
	seen *sync.Map // operations whose retries were logged
}

// With implements [zapcore.Core].
func (c *onceCore) With(fields []zapcore.Field) zapcore.Core {
	return &onceCore{c.Core.With(fields), c.seen}
}

// Check implements [zapcore.Core].
func (c *onceCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Message != pipeline.TryingAgain {
		return c.Core.Check(entry, checked)
	}
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write implements [zapcore.Core]; only entries about retries get here.
func (c *onceCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	operation := ""
	for _, field := range fields {
		if field.Key == pipeline.OperationKey {
			operation = field.String
		}
	}
	if _, again := c.seen.LoadOrStore(operation, true); again {
		return nil
	}
	return c.Core.Write(entry, fields)
}
