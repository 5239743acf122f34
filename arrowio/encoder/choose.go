package encoder

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
)

// choose returns the feature columns that the options select in the first record, and those left
// out.
func choose(o *Options, schema *arrow.Schema) ([]*learned, []LeftOut, error) {
	columns := make([]*learned, 0, schema.NumFields())
	var leftOut []LeftOut
	if len(o.Features) > 0 {
		if err := checkFeatures(o, schema); err != nil {
			return nil, nil, err
		}
		for _, name := range o.Features {
			columns = append(columns, newLearned(o, name, true))
		}
	} else {
		for _, name := range offered(o, schema) {
			if reason := unreadable(schema, name); reason != "" {
				leftOut = append(leftOut, LeftOut{name, reason})
				continue
			}
			columns = append(columns, newLearned(o, name, slices.Contains(o.Include, name)))
		}
	}
	return columns, leftOut, nil
}

// checkFeatures checks the columns that the options name.
func checkFeatures(o *Options, schema *arrow.Schema) error {
	var missing, faults []string
	for _, name := range o.Features {
		if !schema.HasField(name) {
			missing = append(missing, fmt.Sprintf("%q", name))
		} else if reason := unreadable(schema, name); reason != "" {
			faults = append(faults, fmt.Sprintf("feature column %q: %s", name, reason))
		}
	}
	if len(missing) > 0 {
		faults = append(
			faults,
			fmt.Sprintf("no feature column %s; the columns are %s", listed(missing, ", "), columnNames(schema)),
		)
	}
	return schemaError(faults)
}

// offered returns the names of the columns that may be features, in the order of the schema.
func offered(o *Options, schema *arrow.Schema) []string {
	taken := make(map[string]bool)
	for _, list := range [][]string{o.Label, o.Passthrough, o.Exclude} {
		for _, name := range list {
			taken[name] = true
		}
	}
	var names []string
	for i := range schema.NumFields() {
		name := schema.Field(i).Name
		if !taken[name] {
			names = append(names, name)
			taken[name] = true
		}
	}
	return names
}

// unreadable returns why no values would make the column a feature, or "".
func unreadable(schema *arrow.Schema, name string) string {
	at := schema.FieldIndices(name)
	if len(at) > 1 {
		return fmt.Sprintf("%d columns have this name", len(at))
	}
	if !utf8.ValidString(name) {
		return "its name is not valid UTF-8"
	}
	if _, ok := typeOf(schema.Field(at[0]).Type); !ok {
		return fmt.Sprintf("its type %s is no number, boolean, string, time or vector of numbers", schema.Field(at[0]).Type)
	}
	return ""
}
