package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/eerf-stream/eerf/pipeline"
)

// linesTo returns a logger that writes text lines to out.
func linesTo(out *bytes.Buffer, coloured bool) *zap.Logger {
	clock := zap.WithClock(fixedClock(time.Date(2026, 11, 23, 8, 30, 5, 0, time.UTC)))
	return zap.New(zapcore.NewCore(newLineEncoder(coloured), zapcore.AddSync(out), zap.DebugLevel), clock)
}

// fixedClock always tells the same time.
type fixedClock time.Time

func (c fixedClock) Now() time.Time                         { return time.Time(c) }
func (c fixedClock) NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

func TestLinesAreForPeople(t *testing.T) {
	for name, c := range map[string]struct {
		log  func(*zap.Logger)
		want string
	}{
		"plain": {func(l *zap.Logger) { l.Info("stage starts", zap.String("stage", "train")) }, "08:30:05 info  stage starts  stage=train\n"},
		"an error behind the message": {func(l *zap.Logger) {
			l.Warn("trying again", zap.String("operation", "look up topic a"), zap.Error(errors.New("no answer")), zap.Duration("wait", 119394406))
		}, "08:30:05 warn  trying again: no answer  operation=\"look up topic a\"  wait=119ms\n"},
		"sizes": {func(l *zap.Logger) { l.Info("memory", zap.Int64("limit_bytes", 1<<30), zap.Int("partitions", 2)) },
			"08:30:05 info  memory  limit_bytes=1GiB  partitions=2\n"},
		"nothing": {func(l *zap.Logger) {
			l.Info("planned", zap.String("warning", ""), zap.Strings("left_out", nil), zap.Any("none", nil), zap.Int("rows", 0))
		}, "08:30:05 info  planned  rows=0\n"},
		"of the logger": {func(l *zap.Logger) { l.With(zap.Int("partition", 3)).Error("lost", zap.Float64("share", 0.123456)) },
			"08:30:05 error lost  share=0.1235  partition=3\n"},
		"structs": {func(l *zap.Logger) { l.Info("stopped", zap.Any("totals", struct{ Rows int }{7})) }, "08:30:05 info  stopped  totals={\"Rows\":7}\n"},
		"long":    {func(l *zap.Logger) { l.Debug("x", zap.Strings("names", []string{strings.Repeat("ä", 300)})) }, "08:30:05 debug x  names=[\"" + strings.Repeat("ä", 118) + "...\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c.log(linesTo(&out, false))
			if out.String() != c.want {
				t.Errorf("%q, want %q", out.String(), c.want)
			}
		})
	}
}

func TestLevelsHaveColours(t *testing.T) {
	var out bytes.Buffer
	logger := linesTo(&out, true)
	logger.Warn("a")
	logger.Error("b")
	if want := "08:30:05 \x1b[33mwarn \x1b[0m a\n08:30:05 \x1b[31merror\x1b[0m b\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestRetriesAreSaidOnceForEachOperation(t *testing.T) {
	var out bytes.Buffer
	logger := retriesOnce(linesTo(&out, false)).With(zap.Int("partition", 1))
	for range 3 {
		for _, operation := range []string{"look up", "fetch"} {
			logger.Warn(pipeline.TryingAgain, zap.String(pipeline.OperationKey, operation), zap.Error(errors.New("away")))
		}
		logger.Warn("other")
	}
	if got := strings.Count(out.String(), pipeline.TryingAgain); got != 2 || strings.Count(out.String(), "other") != 3 {
		t.Errorf("%d retries in\n%s", got, out.String())
	}
}
