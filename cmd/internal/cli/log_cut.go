package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/eerf-stream/eerf/internal/printable"
)

// maxLogText limits the bytes of one field of a log line. Names, keys and errors come from messages
// and other servers, and may be as long as a message.
const maxLogText = 8 << 10

// cutCore cuts the fields of log lines.
type cutCore struct{ zapcore.Core }

// With implements [zapcore.Core].
func (c cutCore) With(fields []zapcore.Field) zapcore.Core {
	return cutCore{c.Core.With(cutFields(fields))}
}

// Check implements [zapcore.Core].
func (c cutCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

// Write implements [zapcore.Core].
func (c cutCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	entry.Message = printable.URLs(cutText(entry.Message))
	return c.Core.Write(entry, cutFields(fields))
}

func cutFields(fields []zapcore.Field) []zapcore.Field {
	cut := make([]zapcore.Field, len(fields))
	for i, f := range fields {
		cut[i] = cutField(f)
	}
	return cut
}

// cutField returns a field of limited length, whose URLs lose secrets: errors of libraries name
// them. A list or an object over the limit becomes the beginning of its JSON.
func cutField(f zapcore.Field) zapcore.Field {
	text := ""
	switch f.Type {
	case zapcore.StringType:
		text = f.String
	case zapcore.ErrorType, zapcore.StringerType, zapcore.ByteStringType, zapcore.BinaryType, zapcore.ReflectType,
		zapcore.ArrayMarshalerType, zapcore.ObjectMarshalerType, zapcore.InlineMarshalerType:
		encoded := zapcore.NewMapObjectEncoder()
		f.AddTo(encoded)
		value := encoded.Fields[f.Key]
		switch value := value.(type) {
		case string:
			text = value
		default:
			long, err := json.Marshal(value)
			if err != nil {
				return f
			}
			text = string(long)
		}
	default:
		return f
	}
	shown := printable.URLs(cutText(text))
	if shown == text {
		return f
	}
	return zap.String(f.Key, shown)
}

func cutText(text string) string {
	if len(text) <= maxLogText {
		return text
	}
	return strings.ToValidUTF8(text[:maxLogText], "") + fmt.Sprintf("… (%d bytes)", len(text))
}
