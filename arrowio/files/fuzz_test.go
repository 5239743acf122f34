package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fuzzRead reads text twice, in records of one row and of many: both give the same rows or the same
// error, and the error names the file.
func fuzzRead(t *testing.T, name string, text []byte, o Options) {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	o.BatchRows = 1
	_, ones, _, oneErr := drain(path, o)
	o.BatchRows = 100
	_, many, _, manyErr := drain(path, o)
	if (oneErr == nil) != (manyErr == nil) || oneErr != nil && oneErr.Error() != manyErr.Error() {
		t.Fatalf("errors differ: %v and %v", oneErr, manyErr)
	}
	var e *Error
	if oneErr != nil {
		if !errors.As(oneErr, &e) || e.Path != path {
			t.Fatalf("error %v does not name the file", oneErr)
		}
		return
	}
	equalLines(t, ones, many)
}

func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,x\n2,y\n", "\ufeffa\tb\r\n1\t\"q\"\"\r\nq\"\r\n", "a\n\n \n\"\"\n", "a,b\n1\n", "\"a\n", ",,\n,,\n",
		"t,f\ntrue,1e400\nFALSE,nan\nNA,?\n", "1 2  3 \n 4 5 6\n", "x\n\xff\n", "\x1f\x8b\x08", "9223372036854775808\n1\n",
		"d,t\n2024-02-29,2024-02-29T10:30:00.25+01:00\n1960-01-01,0001-01-01 " +
			"00:00\n2023-02-29,-\n", "x\n" + strings.Repeat("1\n", 99) + "y\n",
	} {
		f.Add([]byte(text), false, byte(','))
		f.Add([]byte(text), true, byte('\t'))
		f.Add([]byte(text), true, byte(' '))
	}
	f.Fuzz(func(t *testing.T, text []byte, noHeader bool, delimiter byte) {
		fuzzRead(t, "f.csv", text, Options{NoHeader: noHeader, Delimiter: rune(delimiter)})
	})
}
