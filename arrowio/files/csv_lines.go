package files

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eerf-stream/eerf/arrowio"
)

// csvLines splits a CSV file into rows of trimmed fields. Every row has as many fields as the
// first.
type csvLines struct {
	parser    *csv.Reader
	limit     *lineLimit
	delimiter rune
	verbatim  []bool // by column: its fields are not trimmed; nil = all are
	columns   int    // of the first row; 0 before that
	line      int64
	skipped   int64 // lines of the file that the parser has not seen
}

// headBytes bounds how much of the first line is searched for its delimiter.
const headBytes = 64 << 10

// newCSVLines reads text from its start, after a byte order mark, a line that names the delimiter,
// and the lines to be skipped.
func newCSVLines(text *bufio.Reader, o Options) (*csvLines, error) {
	delimiter := o.Delimiter
	if err := skipBOM(text); err != nil {
		return nil, err
	}
	skipped := o.SkipLines
	named := skipDelimiterLine(text, o)
	if named != 0 {
		delimiter = named
		skipped++
	}
	if err := skipLines(text, o.SkipLines); err != nil {
		return nil, err
	}
	peeked, _ := text.Peek(headBytes) // an error shows when the text is read
	if bytes.IndexByte(peeked, '\r') >= 0 && bytes.IndexByte(peeked, '\n') < 0 {
		text = bufio.NewReaderSize(bareReturns{text}, bufferBytes)
		peeked, _ = text.Peek(headBytes)
	}
	head, content := string(peeked), io.Reader(text)
	if linesAreQuoted(head, delimiter) {
		content = &unquoted{lines: text}
		plain, _ := io.ReadAll(&unquoted{lines: bytes.NewReader(peeked)}) // up to where it is cut off
		head = string(plain)
	}
	if o.delimiterIsDefault && named == 0 {
		if err := checkHead(head, delimiter); err != nil {
			return nil, &Error{Line: int64(skipped) + 1, Err: err}
		}
	}
	if delimiter < utf8.RuneSelf && !unicode.IsSpace(delimiter) && paddedQuote.MatchString(head) {
		content = &closedQuotes{lines: bufio.NewReaderSize(content, bufferBytes), delimiter: byte(delimiter)}
	}
	limit := &lineLimit{r: content}
	parser := csv.NewReader(bufio.NewReaderSize(limit, bufferBytes))
	parser.Comma = delimiter
	parser.FieldsPerRecord = -1 // counted here, to distinguish blank lines from short ones
	parser.ReuseRecord = true
	parser.LazyQuotes = o.BareQuotes
	// Spaces before an opening quote are skipped. If spaces delimit, only the space character
	// itself may repeat: empty tab-separated fields stay.
	parser.TrimLeadingSpace = delimiter == ' ' || !unicode.IsSpace(delimiter)
	return &csvLines{
		parser:    parser,
		limit:     limit,
		delimiter: delimiter,
		line:      int64(skipped),
		skipped:   int64(skipped),
	}, nil
}

// skipDelimiterLine skips a first line such as sep=; by which spreadsheets name the delimiter, and
// returns the delimiter. It returns 0 if there is no such line, or if the caller skips lines or has
// chosen another delimiter.
func skipDelimiterLine(text *bufio.Reader, o Options) rune {
	if o.SkipLines > 0 {
		return 0
	}
	head, _ := text.Peek(len("sep=\"\"") + utf8.UTFMax + len("\r\n"))
	line, _, whole := strings.Cut(string(head), "\n")
	line = strings.Trim(strings.TrimSuffix(line, "\r"), `"`)
	value, ok := strings.CutPrefix(strings.ToLower(line), "sep=")
	delimiter, size := utf8.DecodeRuneInString(value)
	if !whole || !ok || size == 0 || size != len(value) || !validDelimiter(delimiter) ||
		!o.delimiterIsDefault && delimiter != o.Delimiter {
		return 0
	}
	_ = skipLines(text, 1) // the line was peeked at
	return delimiter
}

// bareReturns reads text whose lines end with carriage returns alone.
type bareReturns struct{ r io.Reader }

func (b bareReturns) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	for i, c := range p[:n] {
		if c == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// errBinary marks a file that is not text.
var errBinary = fmt.Errorf("%w: the file is not text", arrowio.ErrUnsupported)

// checkHead returns an error if the first lines are not text, or if a default delimiter seems
// wrong: another one splits the first line into several fields, and this one gives a single field
// or a different number in the second line.
func checkHead(head string, delimiter rune) error {
	if strings.IndexByte(head, 0) >= 0 {
		return errBinary
	}
	first, rest := countOutsideQuotes(head)
	second, _ := countOutsideQuotes(rest)
	isWhole := len(head) < headBytes // otherwise the second line may be cut off
	for _, other := range []rune{';', '\t', '|', ','} {
		alike := isWhole && first[other] == second[other]
		one := first[delimiter] == 0 && (alike || other != '|') // a heading may begin with |
		if other != delimiter && first[other] > 0 && (one || alike && first[delimiter] != second[delimiter]) {
			return &DelimiterError{Delimiter: delimiter, By: first[delimiter] + 1, Other: other, Fields: first[other] + 1}
		}
	}
	return nil
}

// countOutsideQuotes counts the characters of the first line outside quotes. rest follows that
// line.
func countOutsideQuotes(head string) (found map[rune]int, rest string) {
	found = map[rune]int{}
	quoted := false
	for i, c := range head {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\n':
			return found, head[i+1:]
		default:
			found[c]++
		}
	}
	return found, ""
}

// linesAreQuoted reports whether the first two lines are in quotes as a whole, and have delimiters
// within.
func linesAreQuoted(head string, delimiter rune) bool {
	for range 2 {
		line, rest, _ := strings.Cut(head, "\n")
		line = strings.TrimSuffix(line, "\r")
		inner := strings.TrimSuffix(strings.TrimPrefix(line, `"`), `"`)
		if len(inner) != len(line)-2 || !strings.ContainsAny(inner, string([]rune{delimiter, ';', '\t', ','})) ||
			strings.Contains(strings.ReplaceAll(inner, `""`, ""), `"`) {
			return false
		}
		head = rest
	}
	return true
}

// unquoted reads lines that may be in quotes as a whole, without these.
type unquoted struct {
	lines   io.ByteReader
	inLine  bool // past the first byte of a line
	quoted  bool // in a line that begins with a quote
	pending bool // after a quote in it
}

var errHalfQuoted = errors.New("the line is in quotes only in part, the first lines as a whole")

func (u *unquoted) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c, err := u.lines.ReadByte()
		if err != nil {
			return n, err
		}
		first := !u.inLine
		u.inLine = c != '\n'
		switch {
		case first && c == '"':
			u.quoted = true
			continue
		case u.quoted && c == '"' && !u.pending:
			u.pending = true
			continue
		case u.pending && c != '"' && c != '\r' && c != '\n':
			return n, errHalfQuoted
		case c != '\r':
			u.pending = false
		}
		u.quoted = u.quoted && c != '\n'
		p[n] = c
		n++
	}
	return n, nil
}

// skipLines skips the first n lines, which may be of any length.
func skipLines(text *bufio.Reader, n int) error {
	for n > 0 {
		_, err := text.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull): // in the middle of a long line
		case errors.Is(err, io.EOF):
			return ErrEmpty
		case err != nil:
			return err
		default:
			n--
		}
	}
	return nil
}

// next returns the fields of the next row, valid until the next call; io.EOF
// after the last. Lines without content are skipped.
func (l *csvLines) next() ([]string, error) {
	for {
		l.limit.left = MaxLineBytes
		fields, err := l.parser.Read()
		if err != nil {
			return nil, l.explain(err)
		}
		line, _ := l.parser.FieldPos(0)
		l.line = l.skipped + int64(line)
		for i, f := range fields {
			if i >= len(l.verbatim) || !l.verbatim[i] {
				fields[i] = strings.TrimSpace(f)
			}
		}
		if l.delimiter == ' ' && len(fields) > 1 && fields[len(fields)-1] == "" {
			fields = fields[:len(fields)-1] // blanks at the end of the line
		}
		if len(fields) == 1 && fields[0] == "" && l.columns != 1 {
			continue
		}
		if len(fields) == l.columns+1 && l.columns > 0 && fields[l.columns] == "" {
			fields = fields[:l.columns] // a delimiter at the end of the line
		}
		return fields, l.check(fields)
	}
}

// check compares the number of fields with the first row's.
func (l *csvLines) check(fields []string) error {
	switch {
	case l.columns == 0 && len(fields) > MaxColumns:
		return &Error{
			Line: l.line,
			Err:  fmt.Errorf("%w: %d columns, at most %d are read", arrowio.ErrTooLarge, len(fields), MaxColumns),
		}
	case l.columns == 0:
		l.columns = len(fields)
	case l.columns == 1 && len(fields) > 1:
		return &TitleError{Lines: l.line - 1, Fields: len(fields)}
	case l.columns != len(fields):
		return &Error{
			Line: l.line,
			Err:  fmt.Errorf("the row has %d fields where the first row has %d", len(fields), l.columns),
		}
	}
	return nil
}

// explain turns the parser's error into one with a line number.
func (l *csvLines) explain(err error) error {
	if errors.Is(err, io.EOF) {
		return err
	}
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return &Error{Line: l.line + 1, Err: err}
	}
	if p.StartLine != p.Line {
		return &Error{
			Line: l.skipped + int64(p.Line),
			Err:  fmt.Errorf("%w (the row starts on line %d)", p.Err, l.skipped+int64(p.StartLine)),
		}
	}
	return &Error{Line: l.skipped + int64(p.Line), Err: p.Err}
}

// lineLimit stops a row that takes more than MaxLineBytes from the file. left is set before each
// row; bytes already in the parser's buffer do not count.
type lineLimit struct {
	r    io.Reader
	left int
}

var errLineTooLong = fmt.Errorf(
	"%w: a row of more than %d MiB (perhaps a quote that is never closed)",
	arrowio.ErrTooLarge, MaxLineBytes>>20,
)

func (l *lineLimit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLineTooLong
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// columnNames checks the header's fields and returns them as names. A column without a name (such
// as an index written by a data frame) is called f and its number from 0, like the columns of files
// without a header.
func columnNames(header []string) ([]string, error) {
	names := make([]string, len(header))
	seen := make(map[string]int, len(header))
	for i, name := range header {
		if name == "" {
			name = numberedName(i)
		}
		name = strings.Clone(name)
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("the name of column %d, %q, is not UTF-8 text", i+1, name)
		}
		if first, ok := seen[name]; ok {
			return nil, fmt.Errorf("columns %d and %d are both named %q", first+1, i+1, name)
		}
		seen[name] = i
		names[i] = name
	}
	return names, nil
}

// numberedNames returns f0, f1, ..., for n columns.
func numberedNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = numberedName(i)
	}
	return names
}

func numberedName(i int) string { return fmt.Sprintf("f%d", i) }
