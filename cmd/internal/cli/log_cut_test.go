package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/config"
)

// TestLogLinesAreShort logs fields as long as a message.
func TestLogLinesAreShort(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	for _, format := range []string{config.LogJSON, config.LogConsole} {
		var out bytes.Buffer
		logger, err := NewLogger(config.LogConfig{Level: "debug", Format: format}, &out)
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Split(strings.Repeat("name ", 1<<18), " ")
		for _, field := range []zap.Field{
			zap.String("f", long), zap.ByteString("f", []byte(long)), zap.Error(errors.New(long)), zap.Strings("f", list),
			zap.Any("f", map[string]string{"a": long}), zap.Errors("f", []error{errors.New(long)}), zap.Any("f", list),
		} {
			out.Reset()
			logger.With(field).Warn("message", field)
			if out.Len() == 0 || out.Len() > 3*maxLogText {
				t.Errorf("%s, %v: a line of %d bytes", format, field.Type, out.Len())
			}
			if format == config.LogJSON && !json.Valid(out.Bytes()) {
				t.Errorf("%v: not JSON: %.100s", field.Type, out.Bytes())
			}
		}
		out.Reset()
		logger.Info("short", zap.Error(errors.New("e")), zap.Strings("list", []string{"a"}), zap.Int("n", 1))
		if got := out.String(); !strings.Contains(got, `"list"`) ||
			!strings.Contains(got, `["a"]`) && !strings.Contains(got, `["a"`) {
			t.Errorf("%s: %s", format, got)
		}
	}
}

// Errors of libraries name the URLs that they request.
func TestLogLinesHideSecretsInURLs(t *testing.T) {
	const address = "https://eerf:hunter2@collector:4318/v1/traces?api-key=hunter2#hunter2"
	for _, format := range []string{config.LogJSON, config.LogConsole} {
		var out bytes.Buffer
		logger, err := NewLogger(config.LogConfig{Level: "debug", Format: format}, &out)
		if err != nil {
			t.Fatal(err)
		}
		failed := &url.Error{Op: "Post", URL: address, Err: errors.New("refused")}
		list := []string{address}
		logger.With(zap.String("a", address)).Warn("no answer of "+address, zap.Error(failed), zap.Strings("b", list))
		if got := out.String(); strings.Contains(got, "hunter2") || strings.Count(got, "collector:4318/v1/traces") != 4 {
			t.Errorf("%s: %s", format, got)
		}
	}
}
