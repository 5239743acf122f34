package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"

	"github.com/eerf-stream/eerf/internal/bytesize"
	"github.com/eerf-stream/eerf/internal/duration"
)

// lineEncoder writes log entries as text: time of day, level, message, error, and the other fields as name=value.
type lineEncoder struct {
	*zapcore.MapObjectEncoder // fields of the logger
	coloured                  bool
}

func newLineEncoder(coloured bool) zapcore.Encoder {
	return &lineEncoder{zapcore.NewMapObjectEncoder(), coloured}
}

// lineBuffers are the buffers that lines are returned in.
var lineBuffers = buffer.NewPool()

// Clone implements [zapcore.Encoder].
func (e *lineEncoder) Clone() zapcore.Encoder {
	clone := zapcore.NewMapObjectEncoder()
	maps.Copy(clone.Fields, e.Fields)
	return &lineEncoder{clone, e.coloured}
}

// Keys that zap gives to an error and to its long form.
const errorKey, errorDetailKey = "error", "errorVerbose"

// EncodeEntry implements [zapcore.Encoder].
func (e *lineEncoder) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	line := lineBuffers.Get()
	line.AppendString(entry.Time.Format(time.TimeOnly))
	line.AppendByte(' ')
	line.AppendString(e.level(entry.Level))
	line.AppendByte(' ')
	line.AppendString(entry.Message)
	var rest strings.Builder
	add := func(values map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			switch name {
			case errorDetailKey:
			case errorKey:
				fmt.Fprintf(line, ": %v", values[name])
			default:
				if isEmpty(values[name]) {
					continue
				}
				fmt.Fprintf(&rest, "  %s=%s", name, fieldText(name, values[name]))
			}
		}
	}
	for _, field := range fields { // one by one: a map would lose their order
		one := zapcore.NewMapObjectEncoder()
		field.AddTo(one)
		add(one.Fields)
	}
	add(e.Fields)
	line.AppendString(rest.String())
	line.AppendByte('\n')
	return line, nil
}

// levelColours are the ANSI colours of levels on a terminal.
var levelColours = map[zapcore.Level]string{zapcore.DebugLevel: "2", zapcore.InfoLevel: "36", zapcore.WarnLevel: "33"}

// level is the name of a level, padded to a fixed width.
func (e *lineEncoder) level(l zapcore.Level) string {
	name := fmt.Sprintf("%-5s", l)
	if !e.coloured {
		return name
	}
	colour, known := levelColours[l]
	if !known {
		colour = "31"
	}
	return "\x1b[" + colour + "m" + name + "\x1b[0m"
}

// isEmpty reports whether to leave a value out.
func isEmpty(value any) bool {
	v := reflect.ValueOf(value)
	kind := v.Kind()
	hasLength := kind == reflect.String || kind == reflect.Slice || kind == reflect.Map
	return !v.IsValid() || hasLength && v.Len() == 0 || kind == reflect.Pointer && v.IsNil()
}

// bytesSuffix ends the names of fields with sizes.
const bytesSuffix = "_bytes"

// composite lists the kinds of values written as JSON.
var composite = []reflect.Kind{reflect.Struct, reflect.Pointer, reflect.Map, reflect.Slice}

// fieldText formats a value for people: sizes and durations with units, texts with blanks in quotes.
func fieldText(name string, value any) string {
	switch v := value.(type) {
	case int64:
		if strings.HasSuffix(name, bytesSuffix) {
			return strings.ReplaceAll(bytesize.Text(v), " ", "")
		}
	case time.Duration:
		return duration.Text(v.Round(time.Millisecond))
	case time.Time:
		return v.Format(time.RFC3339)
	case float64:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case string:
		return quotedText(v)
	}
	if slices.Contains(composite, reflect.ValueOf(value).Kind()) {
		if text, err := json.Marshal(value); err == nil {
			return shortened(string(text))
		}
	}
	return quotedText(shortened(fmt.Sprint(value)))
}

// longestValue is how many runes of a value a line shows; JSON logs have all of it.
const longestValue = 120

func shortened(s string) string {
	if runes := []rune(s); len(runes) > longestValue {
		return string(runes[:longestValue]) + "..."
	}
	return s
}

func quotedText(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r == '=' }) {
		return strconv.Quote(s)
	}
	return s
}
