package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline"
)

func TestExitCodes(t *testing.T) {
	tests := []struct {
		err  error
		code int
		says string
	}{
		{nil, ExitOK, ""},
		{errors.New("no such file"), ExitFailure, "tool do: no such file"},
		{Usagef("--x is needed"), ExitUsage, "run `tool do --help`"},
		{fmt.Errorf("load: %w", config.Faults{{Key: "a.b", Bound: "want 1"}}), ExitUsage, "featurizer config explain"},
		{fmt.Errorf("features: %w", pipeline.ErrUnknownTopic), ExitFailure, "featurizer topics create"},
		{context.Canceled, ExitFailure, "context canceled"}, // without an interrupt
		{fmt.Errorf("dial: %w", syscall.ECONNREFUSED), ExitFailure, "check that Kafka is running"},
		{fmt.Errorf("dial: %w", syscall.ETIMEDOUT), ExitFailure, "check that Kafka is running"},
		{fmt.Errorf("listen: %w", syscall.EADDRINUSE), ExitFailure, "choose another port"},
	}
	for _, tt := range tests {
		code, text := execute(context.Background(), tt.err)
		if code != tt.code || !strings.Contains(text, tt.says) {
			t.Errorf("%v: exit code %d, %q", tt.err, code, text)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if code, text := execute(ended, fmt.Errorf("read: %w", context.Canceled)); code != ExitInterrupted ||
		text != "tool do: interrupted\n" {
		t.Errorf("exit code %d, %q", code, text)
	}
}

// execute runs a command that returns err and returns its exit code and error stream.
func execute(ctx context.Context, err error) (int, string) {
	root := &cobra.Command{Use: "tool"}
	root.AddCommand(&cobra.Command{Use: "do", RunE: func(*cobra.Command, []string) error { return err }})
	var errs bytes.Buffer
	root.SetErr(&errs)
	root.SetArgs([]string{"do"})
	return Execute(ctx, root), errs.String()
}

func TestTimeoutErrorNamesLimitAndCause(t *testing.T) {
	wait := func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("wait: %w", ctx.Err()) }
	err := WithTimeout(context.Background(), time.Millisecond, wait)
	if err == nil || !strings.Contains(err.Error(), "gave up after 1ms (--timeout): wait") {
		t.Error(err)
	}
	for _, tt := range []struct {
		err  error
		says string
	}{
		{context.DeadlineExceeded, "gave up after 1ms (--timeout): the brokers did not answer"},
		{fmt.Errorf("offsets of a: %w", context.DeadlineExceeded), "gave up after 1ms (--timeout): offsets of a"},
	} {
		err := WithTimeout(context.Background(), time.Millisecond,
			func(ctx context.Context) error { <-ctx.Done(); return tt.err })
		if err.Error() != tt.says || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want %s", err, tt.says)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := WithTimeout(ctx, time.Minute, wait); err == nil || strings.Contains(err.Error(), "gave up") {
		t.Error(err)
	}
	away := errors.New("connection refused") // the error while waiting
	for _, limit := range []time.Duration{0, time.Minute} {
		err := WithTimeout(ctx, limit, func(context.Context) error { return away })
		if code, text := execute(ctx, err); code != ExitInterrupted || !errors.Is(err, away) {
			t.Errorf("exit code %d, %q", code, text)
		}
	}
	if err := WithTimeout(context.Background(), 0, func(ctx context.Context) error {
		if _, bounded := ctx.Deadline(); bounded {
			t.Error("0 bounds")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestOnlyGivenSettingFlagsOverride(t *testing.T) {
	var s SettingFlags
	c := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}}
	s.AddExploration(c)
	s.AddTrain(c)
	if got := s.Overrides(); len(got) != 0 {
		t.Errorf("nothing given: %v", got)
	}
	if err := c.ParseFlags([]string{"--features=3", "--label=a,b", "--intercept=false"}); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"exploration.features": "3", "events.label": "a,b", "train.intercept": "false"}
	if got := s.Overrides(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if help := c.Flags().Lookup("features").Usage; !strings.Contains(help, "(default 1000)") {
		t.Errorf("help lacks the default of the key: %s", help)
	}
}

func TestSetOverridesCommandDefaults(t *testing.T) {
	f := ConfigFlags{Set: []string{"exploration.sample_rows=50", " exploration.features = 9"}}
	c, err := f.Load(map[string]any{"exploration.sample_rows": "70", "exploration.from": "earliest"},
		map[string]any{"exploration.features": "8"})
	if err != nil {
		t.Fatal(err)
	}
	if e := c.Stages.Exploration; e.SampleRows != 50 || e.From != wire.FromEarliest || e.Features != 8 {
		t.Errorf("%+v", e)
	}
	f.Set = []string{"exploration.features"}
	var usage *UsageError
	if _, err := f.Load(nil, nil); !errors.As(err, &usage) {
		t.Error(err)
	}
}

func TestLoggerWritesToGivenWriter(t *testing.T) {
	for format, want := range map[string]string{"json": `"msg":"hello"`, "auto": `"msg":"hello"`,
		"console": " warn hello "} {
		var out bytes.Buffer
		logger, err := NewLogger(config.LogConfig{Level: "warn", Format: format}, &out)
		if err != nil {
			t.Fatal(err)
		}
		logger.Info("quiet")
		logger.Warn("hello", zap.Duration("wait", time.Second))
		if got := out.String(); !strings.Contains(got, want) || strings.Contains(got, "quiet") ||
			!strings.Contains(got, "1s") {
			t.Errorf("%s: %s", format, got)
		}
	}
	if _, err := NewLogger(config.LogConfig{Level: "loud"}, nil); err == nil {
		t.Error("no error")
	}
}

// Progress stays on one line, which is empty after its removal.
func TestProgressCleansUp(t *testing.T) {
	var out bytes.Buffer
	bar := &Progress{out: &out}
	bar.Show("reading", 10, 100)
	bar.Show("reading", 100, 100)
	bar.Show("thinking", 0, 0)
	bar.Done()
	const want = emptyLine + "reading 10 %" + emptyLine + "reading 100 %" + emptyLine + "thinking" + emptyLine
	if text := out.String(); text != want {
		t.Errorf("%q", text)
	}
}
