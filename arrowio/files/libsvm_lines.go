package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/eerf-stream/eerf/arrowio"
)

// libsvmLine is one row of a LIBSVM file: label [qid:n] index:value ... # comment.
type libsvmLine struct {
	label   float64
	index   []int32 // from 1, increasing
	value   []float32
	bytes   []byte // where a line longer than the reader's buffer is assembled
	lineNum int64
}

// next reads the next row into l; io.EOF after the last. Empty lines and
// comments are skipped. Errors carry the line.
func (l *libsvmLine) next(text *bufio.Reader) error {
	for {
		line, err := l.readLine(text)
		if err != nil {
			return err
		}
		if at := bytes.IndexByte(line, '#'); at >= 0 {
			line = line[:at]
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := l.parse(line); err != nil {
			return &Error{Line: l.lineNum, Err: err}
		}
		return nil
	}
}

// readLine returns the bytes of the next line, valid until the next call.
func (l *libsvmLine) readLine(text *bufio.Reader) ([]byte, error) {
	l.bytes = l.bytes[:0]
	for {
		part, err := text.ReadSlice('\n')
		if err == nil && len(l.bytes) == 0 {
			l.lineNum++
			return part, nil
		}
		if len(l.bytes)+len(part) > MaxLineBytes {
			return nil, &Error{Line: l.lineNum + 1, Err: fmt.Errorf("%w: a line of more than %d MiB", arrowio.ErrTooLarge, MaxLineBytes>>20)}
		}
		l.bytes = append(l.bytes, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(l.bytes) == 0:
			return nil, io.EOF
		case err == nil || errors.Is(err, io.EOF):
			l.lineNum++
			return l.bytes, nil
		default:
			return nil, &Error{Line: l.lineNum + 1, Err: err}
		}
	}
}

// parse reads a line that has content.
func (l *libsvmLine) parse(line []byte) error {
	word, rest := cutWord(line)
	label, ok := parseFloat(string(word), 64)
	if !ok {
		return fmt.Errorf("label: %w", notA(string(word), "a number"))
	}
	l.label, l.index, l.value = label, l.index[:0], l.value[:0]
	for len(rest) > 0 {
		word, rest = cutWord(rest)
		if bytes.HasPrefix(word, []byte("qid:")) {
			continue
		}
		if err := l.parseFeature(word); err != nil {
			return err
		}
	}
	return nil
}

// parseFeature reads index:value.
func (l *libsvmLine) parseFeature(word []byte) error {
	colon := bytes.IndexByte(word, ':')
	if colon < 0 {
		return fmt.Errorf("%s is not index:value", excerpt(string(word)))
	}
	index, err := parseIndex(word[:colon])
	if err != nil {
		return err
	}
	if n := len(l.index); n > 0 && index <= l.index[n-1] {
		return fmt.Errorf("index %d follows index %d: indexes must increase", index, l.index[n-1])
	}
	value, ok := parseFloat32(word[colon+1:])
	if !ok {
		return fmt.Errorf("index %d: %w", index, notA(string(word[colon+1:]), "a number"))
	}
	l.index = append(l.index, index)
	l.value = append(l.value, value)
	return nil
}

// parseIndex reads a feature's index, 1 to MaxDim.
func parseIndex(word []byte) (int32, error) {
	v, err := strconv.ParseInt(string(word), 10, 64)
	switch {
	case err != nil && !isRange(err):
		return 0, fmt.Errorf("index %s is not a whole number", excerpt(string(word)))
	case v == 0:
		return 0, fmt.Errorf("index 0: indexes start at 1 (the file seems to count from 0)")
	case v < 0:
		return 0, fmt.Errorf("index %d: indexes start at 1", v)
	case v > MaxDim:
		return 0, fmt.Errorf("%w: index %s, at most %d dimensions are read", arrowio.ErrTooLarge, excerpt(string(word)), MaxDim)
	}
	return int32(v), nil
}

// parseFloat32 has a shortcut for one-digit values, which make up most sparse files.
func parseFloat32(word []byte) (float32, bool) {
	if len(word) == 1 && '0' <= word[0] && word[0] <= '9' {
		return float32(word[0] - '0'), true
	}
	v, ok := parseFloat(string(word), 32)
	return float32(v), ok
}

// cutWord splits line, which starts with a word, after that word and the spaces that follow it.
func cutWord(line []byte) (word, rest []byte) {
	end := 0
	for end < len(line) && !isBlank(line[end]) {
		end++
	}
	start := end
	for start < len(line) && isBlank(line[start]) {
		start++
	}
	return line[:end], line[start:]
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }
