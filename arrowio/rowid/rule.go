package rowid

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// By is what identifies a row.
type By string

// The kinds of identities.
const (
	Content By = "content" // the values of all configured columns
	Place   By = "place"   // partition, offset and row
	Group   By = "group"   // the value of a column
)

// Rule says what identifies a row. It is part of a plan and of the lineage of a feature set.
type Rule struct {
	By By `json:"by"`
	// Group is the column that identifies a row; empty unless By is Group.
	Group string `json:"group,omitempty"`
	// Columns are the columns of the content, ascending; empty means all except Without.
	Columns []string `json:"columns,omitempty" bound:"list 65536"`
	// Without are columns that are not part of the content, ascending.
	Without []string `json:"without,omitempty" bound:"list 65536"`

	// HeldOutSeed and HeldOutFraction select the identities that no sample contains, so that models
	// can be judged by them, see [training.HeldOut]. The fraction is 0 if rows are told apart by
	// place, or if a split of a file has taken these rows away before.
	HeldOutSeed     uint64  `json:"held_out_seed,string"`
	HeldOutFraction float64 `json:"held_out_fraction,omitempty"`
}

// ContentOf returns the rule for the content of events with this configuration of columns.
func ContentOf(features, exclude, passthrough, label []string) Rule {
	r := Rule{By: Content}
	if len(features) > 0 {
		r.Columns = distinct(features, passthrough, label)
		return r
	}
	for _, name := range distinct(exclude) {
		if !slices.Contains(passthrough, name) && !slices.Contains(label, name) {
			r.Without = append(r.Without, name)
		}
	}
	return r
}

// distinct returns the names of the lists, ascending and once each.
func distinct(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Decide returns the rule for rows of which some, drawn in any way, have this many distinct
// contents. Rows are identified by their content if each of them occurs at most maxCopies times on
// average: rows of a few categories repeat without being copies. A group column overrules this.
func (r Rule) Decide(rows, contents int64, group string) Rule {
	switch {
	case group != "":
		return Rule{By: Group, Group: group}
	case rows > maxCopies*contents:
		return Rule{By: Place}
	}
	return r
}

// maxCopies is the greatest average number of rows per content at which equal rows count as copies.
const maxCopies = 4

// String names the identity, such as "content" or "column customer".
func (r Rule) String() string {
	if r.By == Group {
		return fmt.Sprintf("column %q", r.Group)
	}
	return string(r.By)
}

// IsZero reports whether the rule is absent from a document.
func (r Rule) IsZero() bool {
	return r.By == "" && r.Group == "" && len(r.Columns) == 0 && len(r.Without) == 0 &&
		r.HeldOutSeed == 0 && r.HeldOutFraction == 0
}

// ByPlace reports whether rows are identified by their place. The zero rule is by place.
func (r Rule) ByPlace() bool { return r.By == Place || r.By == "" }

// Validate returns all faults of a rule that was read from outside, joined.
func (r Rule) Validate() error {
	var faults []error
	switch r.By {
	case Content, Place, Group, "":
	default:
		faults = append(faults, fmt.Errorf("identity %q is not one of %s, %s, %s", r.By, Content, Place, Group))
	}
	if (r.By == Group) != (r.Group != "") {
		faults = append(faults, fmt.Errorf("identity by %s with the group column %q", r.By, r.Group))
	}
	if !(r.HeldOutFraction >= 0 && r.HeldOutFraction < 1) || r.HeldOutFraction > 0 && r.ByPlace() {
		faults = append(faults, fmt.Errorf("held-out fraction %v of identities by %s", r.HeldOutFraction, r.By))
	}
	return errors.Join(faults...)
}

// PlaceOf returns the identity of a place: XXH64 (seed 0) of 16 bytes, little-endian: offset,
// partition, row.
func PlaceOf(partition int32, offset int64, row int32) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(offset))
	binary.LittleEndian.PutUint32(b[8:], uint32(partition))
	binary.LittleEndian.PutUint32(b[12:], uint32(row))
	return xxhash.Sum64(b[:])
}
