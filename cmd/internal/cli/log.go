package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/internal/printable"
)

// Of equal messages within a second the first sampledFirst are logged, then one in
// sampledThereafter. Otherwise one message for each record of a broken stream would bury the
// others.
const sampledFirst, sampledThereafter = 100, 100

// NewLogger returns the logger that a configuration describes, writing to w. Messages are
// constants, and fields are encoded as JSON, so that only the logger's own colours reach a
// terminal.
func NewLogger(c config.LogConfig, w io.Writer) (*zap.Logger, error) {
	w = printable.Raw(w)
	level, err := zap.ParseAtomicLevel(c.Level)
	if err != nil {
		return nil, fmt.Errorf("log level %q: %w", c.Level, err)
	}
	core := zapcore.NewCore(logEncoder(c.Format, w), zapcore.Lock(zapcore.AddSync(w)), level)
	sampled := zapcore.NewSamplerWithOptions(cutCore{core}, time.Second, sampledFirst, sampledThereafter)
	return zap.New(sampled), nil
}

// logEncoder returns the encoder of a format for lines written to w.
func logEncoder(format string, w io.Writer) zapcore.Encoder {
	terminal := isTerminal(w)
	c := zap.NewProductionEncoderConfig()
	c.TimeKey, c.EncodeTime = "time", zapcore.RFC3339NanoTimeEncoder
	c.EncodeDuration = zapcore.StringDurationEncoder
	if format != config.LogConsole && (format == config.LogJSON || !terminal) {
		return zapcore.NewJSONEncoder(c)
	}
	c.EncodeTime, c.ConsoleSeparator = zapcore.TimeEncoderOfLayout(time.TimeOnly), " "
	if terminal && os.Getenv("NO_COLOR") == "" {
		c.EncodeLevel = zapcore.LowercaseColorLevelEncoder
	}
	return zapcore.NewConsoleEncoder(c)
}
