package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// someColumns has one column of each use.
func someColumns() []encoder.ColumnUse {
	return []encoder.ColumnUse{
		{Column: "id", Type: "int64", Use: encoder.UseLeftOut, Reason: "it looks like an identifier"},
		{Column: "age", Type: "int64", Use: encoder.UseFeature, Kind: encoder.Numeric, Dims: 2, Missing: 0.049},
		{Column: "sum", Type: "float64", Use: encoder.UseFeature, Kind: encoder.Numeric, Dims: 1, Missing: 0.0004},
		{Column: "city", Type: "utf8", Use: encoder.UseFeature, Kind: encoder.Category, Dims: 51, Missing: 0.25,
			Distinct: 300, Kept: 50, Other: 0.3, Reason: "the 50 commonest of 300 values"},
		{Column: "town", Type: "utf8", Use: encoder.UsePassthrough, Reason: "the 50 commonest of 300 values"},
		{Column: "day", Type: "date32", Use: encoder.UseFeature, Kind: encoder.Time, Dims: 5},
		{Column: "key", Type: "utf8", Use: encoder.UsePassthrough},
		{Column: "secret", Type: "utf8", Use: encoder.UseExcluded, Missing: 0.5},
		{Column: "y", Type: "bool", Use: encoder.UseLabel, Missing: 0.1},
	}
}

func TestColumnNotesAboveResult(t *testing.T) {
	var b bytes.Buffer
	WriteColumns(&b, someColumns(), "look there")
	want := `columns: 4 of 5 are features (2 numbers, 1 category, 1 date or time; 59 dimensions)
  left out: id: it looks like an identifier
  city, town: the 50 commonest of 300 values
`
	if b.String() != want {
		t.Errorf("written\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if WriteColumns(&b, nil, ""); b.Len() > 0 {
		t.Errorf("of no columns: %s", b.String())
	}

	var many []encoder.ColumnUse
	for i := range 30 {
		many = append(many, encoder.ColumnUse{Column: fmt.Sprint("c",
			i), Use: encoder.UseLeftOut, Reason: "text", Missing: 0.5})
		many = append(many, encoder.ColumnUse{Column: fmt.Sprint("d",
			i), Use: encoder.UseFeature, Kind: encoder.Bool, Dims: 1, Missing: 0.5})
	}
	WriteColumns(&b, many, "look there")
	if lines := strings.Split(b.String(), "\n"); len(lines) != mostColumnLines+3 ||
		lines[mostColumnLines+1] != "  and 18 more: look there" {
		t.Errorf("of many columns:\n%s", b.String())
	}
}
