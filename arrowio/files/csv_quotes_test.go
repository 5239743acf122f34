package files

import (
	"io"
	"strings"
	"testing"
)

func TestBlanksAfterAQuotedFieldAreIgnored(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"blanks":           {"a,b\n\"1\" ,\"x\"  \n\"2\"\t,\"y\" \r\n", "1|x;2|y"},
		"at the end":       {"a,b\n\"1\" ,\"x\" ", "1|x"},
		"in the header":    {"\"a\" ,\"b\" \n1,x\n", "1|x"},
		"doubled quotes":   {"a,b\n\"q \"\" , r\" ,\"x\"\n", "q \" , r|x"},
		"quoted new lines": {"a,b\n\"q \n \" ,\"x \" \n", "q|x"},
		"before and after": {"a,b\n \"1\" , \"x\" \n", "1|x"},
	} {
		t.Run(name, func(t *testing.T) {
			_, rows := mustDrain(t, writeFile(t, "rows.csv", []byte(c.text)), Options{})
			if got := strings.Join(rows, ";"); got != c.want {
				t.Errorf("%q is read as %q, want %q", c.text, got, c.want)
			}
		})
	}
}

// Text without blanks after quotes passes unchanged, in reads of any length.
func FuzzClosedQuotesKeepOtherText(f *testing.F) {
	f.Add("a,\"b\",c\n\"x\"\"y\" ,2\n", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		read := func(size int) string {
			r := &closedQuotes{lines: strings.NewReader(text), delimiter: ','}
			var all strings.Builder
			if _, err := io.CopyBuffer(&all, struct{ io.Reader }{r}, make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			return all.String()
		}
		whole := read(4096)
		if got := read(1 + max(size, -size)%7); got != whole {
			t.Errorf("%q in short reads, %q in long ones", got, whole)
		}
		if !paddedQuote.MatchString(text) && !strings.HasSuffix(strings.TrimRight(text, " \t"), `"`) && whole != text {
			t.Errorf("%q became %q", text, whole)
		}
	})
}
