package scoring

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// The version of gonum that the arithmetic is named after is the one in go.mod. Where it changes,
// the golden hashes in adaptive/testdata say whether bits do.
func TestArithmeticNamesTheVersionOfGonum(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := "gonum.org/v1/gonum v0." + strings.TrimPrefix(linearAlgebra, "la") + "."; !bytes.Contains(mod,
		[]byte(want)) {
		t.Errorf("the arithmetic is %s, and go.mod does not require %s", Arithmetic(), want)
	}
}
