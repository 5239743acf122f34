package cli

import (
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/eerf-stream/eerf/config"
)

// Of equal messages within a second the first so many are logged, and then one in so many: a message for each record of
// a broken stream would bury the others.
const sampledFirst, sampledThereafter = 100, 100

// NewLogger returns the logger that a configuration describes, writing to w.
func NewLogger(c config.LogConfig, w io.Writer) (*zap.Logger, error) {
	level, err := zap.ParseAtomicLevel(c.Level)
	if err != nil {
		return nil, fmt.Errorf("log level %q: %w", c.Level, err)
	}
	encoder := zapcore.NewJSONEncoder(jsonLines())
	if c.Format == "console" {
		encoder = zapcore.NewConsoleEncoder(consoleLines())
	}
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), level)
	return zap.New(zapcore.NewSamplerWithOptions(core, time.Second, sampledFirst, sampledThereafter)), nil
}

func jsonLines() zapcore.EncoderConfig {
	c := zap.NewProductionEncoderConfig()
	c.TimeKey, c.EncodeTime = "time", zapcore.RFC3339NanoTimeEncoder
	c.EncodeDuration = zapcore.StringDurationEncoder
	return c
}

func consoleLines() zapcore.EncoderConfig {
	c := zap.NewDevelopmentEncoderConfig()
	c.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
	return c
}
