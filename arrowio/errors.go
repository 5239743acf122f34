package arrowio

import (
	"errors"
	"fmt"
	"strconv"
)

// Faults of a message. Every error of [Decoder.Decode] wraps exactly one of them; errors of files
// use the same words.
var (
	// ErrTooLarge: a message, its rows or its columns exceed [Limits], or a file exceeds its limit.
	ErrTooLarge = errors.New("too large")
	// ErrNotArrow: the bytes do not start like an Arrow IPC stream.
	ErrNotArrow = errors.New("not an arrow stream")
	// ErrTruncated: a length in the framing goes past the end of the message.
	ErrTruncated = errors.New("truncated arrow stream")
	// ErrCorrupt: the bytes contradict themselves or their format.
	ErrCorrupt = errors.New("corrupt")
	// ErrBudget: decoding would take more memory than [Limits.BudgetBytes].
	ErrBudget = errors.New("over the memory budget")
	// ErrUnsupported: well-formed, but of a type or a kind that is not read.
	ErrUnsupported = errors.New("not supported")
)

// reasons gives each sentinel its stable word.
var reasons = []struct {
	err  error
	word string
}{
	{ErrTooLarge, "too_large"},
	{ErrNotArrow, "not_arrow"},
	{ErrTruncated, "truncated"},
	{ErrCorrupt, "corrupt"},
	{ErrBudget, "over_budget"},
	{ErrUnsupported, "unsupported_type"},
}

// Reason returns the short stable word for an error of [Decoder.Decode], fit
// for a dead letter or a metric label: "too_large", "not_arrow", "truncated",
// "corrupt", "over_budget" or "unsupported_type". It returns "" for nil and for
// errors that did not come from this package.
func Reason(err error) string {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.word
		}
	}
	return ""
}

// Reasons returns the words of [Reason], in a fixed order.
func Reasons() []string {
	words := make([]string, len(reasons))
	for i, r := range reasons {
		words[i] = r.word
	}
	return words
}

func tooLarge(format string, args ...any) error    { return Wrap(ErrTooLarge, format, args...) }
func notArrow(format string, args ...any) error    { return Wrap(ErrNotArrow, format, args...) }
func truncated(format string, args ...any) error   { return Wrap(ErrTruncated, format, args...) }
func corrupt(format string, args ...any) error     { return Wrap(ErrCorrupt, format, args...) }
func overBudget(format string, args ...any) error  { return Wrap(ErrBudget, format, args...) }
func unsupported(format string, args ...any) error { return Wrap(ErrUnsupported, format, args...) }

// Wrap returns an error that wraps a sentinel and adds details.
func Wrap(sentinel error, format string, args ...any) error {
	return fmt.Errorf("%w: %s", sentinel, fmt.Sprintf(format, args...))
}

// Quote formats a name for an error text. Names come from outside, so their length is limited.
func Quote[S ~string | ~[]byte](name S) string {
	const shown = 64
	if len(name) > shown {
		return strconv.Quote(string(name[:shown])) + "..."
	}
	return strconv.Quote(string(name))
}
